"""The models of many series: arrays over series, and each model as a `Fit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy

from scalegraph.analyze.fits import doubting, select, spread, terms
from scalegraph.analyze.fits.averaging import Averaged, averaged
from scalegraph.analyze.fits.curve import Curve
from scalegraph.analyze.fits.fit import Coefficient, Fit
from scalegraph.analyze.fits.linear import Solution
from scalegraph.analyze.fits.mixture import mixture_band
from scalegraph.analyze.fits.noise import RESOLUTION, Flags, Floats, Indices, Sample
from scalegraph.analyze.fits.terms import Hypothesis

RIVALS = 8  # hypotheses kept for each series, the chosen one first
_COLUMNS = 4
# Degrees of freedom used by choosing the exponents of a term among many (found by simulation, see docs/MODELS.md).
SEARCHED = 0.5


@dataclass(frozen=True)
class Models:
    """Models of *series*: arrays indexed by series, then rivals (the chosen one first), then columns.

    *space* lists the hypotheses used, *which* gives positions in it (-1: none). *theta*, *inverse* ((X'WX)^-1), *sigma*
    and *freedom* are as in `Curve`; *low* and *high* are intervals of the chosen model's coefficients (series,
    columns), *weight* the share of the evidence among the rivals. *cv_error* is relative, *adjusted_r2* that of the
    weighted fit. *rows* numbers the series, *memo* caches results by that number.
    """

    parameters: tuple[str, ...]
    points: Floats
    sample: Sample
    space: list[Hypothesis]
    which: Indices
    scores: Floats
    pooled: Flags
    weight: Floats
    theta: Floats
    inverse: Floats
    sigma: Floats
    freedom: Floats
    noise: Floats
    low: Floats
    high: Floats
    cv_error: Floats
    adjusted_r2: Floats
    aicc: Floats
    confidence: float
    rows: Indices
    memo: dict[tuple[str, int], Averaged | str | None] = field(default_factory=dict, repr=False)

    @classmethod
    def empty(
        cls,
        parameters: tuple[str, ...],
        points: Floats,
        sample: Sample,
        space: list[Hypothesis],
        which: Indices,
        scores: Floats,
        pooled: Flags,
        confidence: float,
    ) -> Models:
        """Return models whose numbers are filled in later.

        Shape: (series, ..) of its arrays. Unit: that of the values fitted. Source: ScaleGraph.
        """
        series, kept = which.shape

        def blank(*shape: int) -> Floats:
            return np.zeros((series, *shape))

        finite = np.where(which >= 0, scores, np.inf)
        return cls(
            parameters,
            points,
            sample,
            space,
            which,
            finite,
            pooled,
            select.evidence(finite),
            blank(kept, _COLUMNS),
            blank(kept, _COLUMNS, _COLUMNS),
            blank(kept),
            blank(kept),
            blank(kept),
            blank(_COLUMNS),
            blank(_COLUMNS),
            blank(),
            blank(),
            blank(),
            confidence,
            np.arange(series),
        )

    def take(self, rows: Indices, ranks: Indices, found: Solution, scale: spread.Scale, part: Sample) -> None:
        """Store solutions of one hypothesis for *ranks* of *rows*.

        Shape: (rows, columns) of each array. Unit: that of the values fitted. Source: ScaleGraph.
        """
        size = found.theta.shape[-1]
        self.theta[rows, ranks, :size] = found.theta
        self.inverse[rows, ranks, :size, :size] = found.inverse
        self.sigma[rows, ranks] = scale.sigma
        self.freedom[rows, ranks] = scale.freedom
        self.noise[rows, ranks] = spread.noise(part, scale)

    def judge(self, rows: Indices, found: Solution, cv_error: Floats, part: Sample) -> None:
        """Store the error and Student's t intervals of the chosen models of *rows*.

        Shape: (rows,) of each array. Unit: *cv_error* none (relative). Source: Student's t.
        """
        size = found.theta.shape[-1]
        self.cv_error[rows] = cv_error
        self.adjusted_r2[rows] = select.adjusted_r2(part, found.squares, size) if size > 1 else 0.0
        self.aicc[rows] = select.akaike(part, found.squares, np.array(float(size)), self.pooled[rows])
        freedom = self.freedom[rows, 0]
        tail = 1 - (1 - self.confidence) / 2
        reach = np.where(freedom > 0, scipy.special.stdtrit(np.maximum(freedom, 1.0), tail), np.inf)
        error = self.sigma[rows, 0, None] * np.sqrt(np.diagonal(found.inverse, axis1=1, axis2=2))
        edge = np.maximum(reach[:, None] * error, RESOLUTION * np.abs(found.theta))
        self.low[rows, :size] = found.theta - edge
        self.high[rows, :size] = found.theta + edge

    def draw(self, rows: Indices, design: Floats, found: Solution, part: Sample, seed: int) -> None:
        """Store bootstrapped intervals of the chosen models of *rows*, where the bootstrap applies.

        Shape: *design* (points, columns). Unit: that of the values fitted. Source: `spread.pivots`.
        """
        size = found.theta.shape[-1]
        scale = spread.scale(part, found.squares, size + (size - 1) * SEARCHED)
        drawn = spread.pivots(design, part, found, scale, seed=seed)
        if drawn is None:
            return
        good = np.flatnonzero(np.isfinite(drawn[:, 0, 0]))
        tail = (1 - self.confidence) / 2
        reach = np.quantile(drawn[good], (tail, 1 - tail), axis=1) * scale.sigma[good, None]
        exact = RESOLUTION * np.abs(found.theta[good])
        self.low[rows[good], :size] = found.theta[good] - np.maximum(reach[1], exact)
        self.high[rows[good], :size] = found.theta[good] - np.minimum(reach[0], -exact)

    def __len__(self) -> int:
        return len(self.which)

    def __iter__(self) -> Iterator[Fit]:
        return (self[index] for index in range(len(self)))

    def predict(self, x: Sequence[float] | Floats) -> Floats:
        """Return the chosen models at *x* (points,) or (points, parameters), shape (series, points).

        Unit: that of the values fitted. Source: Calotoiu and others 2013.
        """
        rows = _rows(x, len(self.parameters))
        result = np.empty((len(self), len(rows)))
        for number in np.unique(self.which[:, 0]):
            part = np.flatnonzero(self.which[:, 0] == number)
            columns = terms.columns_at(self.space[number], rows)
            result[part] = self.theta[part, 0, : columns.shape[1]] @ columns.T
        return result

    def band(self, x: Sequence[float] | Floats, repetitions: float | None = None) -> tuple[Floats, Floats]:
        """Return intervals of the models at *x*, each (series, points), as `Fit.band` does for each series.

        They include the doubt about the exponents: for one parameter by `together`; for several, every plausible rival
        counts with its share of the evidence. With *repetitions* they are for the mean of that many new measurements.

        Unit: that of the values fitted. Source: `averaging.averaged`, `mixture.mixture_band`.
        """
        rows = _rows(x, len(self.parameters))
        middle, error = self._all(rows, repetitions)
        low, high = mixture_band(middle, error, self.freedom, self.plausible, self.confidence)
        for series in range(len(self)):
            together = self.together(series)
            if together is not None:
                ends = together.band(rows[:, 0], self.confidence, repetitions)
                low[series] = np.minimum(ends[0], middle[series, 0])
                high[series] = np.maximum(ends[1], middle[series, 0])
        # values that are never negative get a non-negative interval
        floor = np.where(np.all(self.sample.mean >= 0, axis=1), 0.0, -np.inf)[:, None]
        return np.maximum(low, np.minimum(floor, middle[:, 0])), high

    def together(self, series: int) -> Averaged | None:
        """Return the average over all hypotheses for a series with one parameter; ``None`` with several, or if unknown.

        Source: `averaging.averaged`.
        """
        if len(self.parameters) > 1:
            return None
        key = ("together", int(self.rows[series]))
        if key not in self.memo:
            self.memo[key] = averaged(self.points[:, 0], self.sample.only(slice(series, series + 1)))
        found = self.memo[key]
        return found if isinstance(found, Averaged) else None

    @property
    def plausible(self) -> Floats:
        """Share of each rival in bands, 0 for those that the points contradict, (series, rivals).

        Shape: (series, rivals). Unit: none (share). Source: Akaike weights (Burnham and Anderson 2002).
        """
        columns = np.array([len(hypothesis) + 1.0 for hypothesis in self.space])[self.which[:, 0]]
        reach = select.plausible(self.sample, columns, self.pooled)[:, None]
        with np.errstate(invalid="ignore"):
            near = (self.scores - self.scores[:, :1] < reach) & (self.which >= 0)
        near[:, 0] = True
        # the evidence is itself uncertain, so in bands rivals count for more than their share of it
        share = np.where(near, np.sqrt(np.maximum(self.weight, 1e-12)), 0.0)
        return np.asarray(share / share.sum(axis=1, keepdims=True))

    def _all(self, rows: Floats, repetitions: float | None) -> tuple[Floats, Floats]:
        """Return value and standard error of every rival at *rows*, (series, rivals, points)."""
        middle = np.zeros((*self.which.shape, len(rows)))
        error = np.zeros_like(middle)
        for number in np.unique(self.which[self.which >= 0]):
            one, rank = np.nonzero(self.which == number)
            columns = terms.columns_at(self.space[number], rows)
            size = columns.shape[1]
            middle[one, rank] = self.theta[one, rank, :size] @ columns.T
            square = np.einsum("pc,scd,pd->sp", columns, self.inverse[one, rank][:, :size, :size], columns)
            error[one, rank] = self.sigma[one, rank, None] * np.sqrt(np.maximum(square, 0.0))
        if repetitions is not None:
            error = np.hypot(error, self.noise[:, :, None] * np.abs(middle) / np.sqrt(repetitions))
        return middle, np.maximum(error, RESOLUTION * np.abs(middle))

    @property
    def far(self) -> Floats:
        """The point up to which rivals are compared: four times the largest value of every parameter.

        Shape: (parameters,). Unit: that of each parameter. Source: ScaleGraph.
        """
        return np.asarray(select.HORIZON * self.points.max(axis=0))

    def apart(self) -> Floats:
        """Return the relative distance of each plausible rival from the chosen model at `far`, (series, rivals).

        0 for the chosen model and for implausible rivals.

        Unit: none (relative). Source: ScaleGraph.
        """
        return np.asarray(np.where(self.plausible > 0, self.unlike(), 0.0))

    def unlike(self) -> Floats:
        """Return how far each rival, even an implausible one, is from the chosen model at `far`, (series, rivals).

        Unit: none (relative). Source: ScaleGraph.
        """
        middle, _ = self._all(self.far[None], None)
        return np.where(self.which >= 0, select.differ(middle[:, :1, 0], middle[:, :, 0]), 0.0)

    @property
    def decided(self) -> Flags:
        """Which models the points decide up to `far`: those without a `doubt`.

        Shape: (series,). Unit: none. Source: ScaleGraph.
        """
        return np.array([not self.doubt(series) for series in range(len(self))], dtype=bool)

    def growth(self, series: int) -> str:
        """Return the order of growth of a model: ``N log2(N)``; ``1`` if it stays constant or falls to a constant.

        Source: ScaleGraph.
        """
        return terms.growth(self.hypothesis(series), self.theta[series, 0].tolist(), self.parameters, self.far)

    def formula(self, series: int) -> str:
        """Return a model as a formula with its numbers: ``0.1 + 2.3 N log2(N)``.

        Source: ScaleGraph.
        """
        return terms.formula(self.hypothesis(series), self.theta[series, 0].tolist(), self.parameters)

    def hypothesis(self, series: int, rank: int = 0) -> Hypothesis:
        """Return a hypothesis of a series: the chosen one, or a rival.

        Source: ScaleGraph.
        """
        return self.space[int(self.which[series, rank])]

    def term_text(self, series: int, rank: int = 0) -> str:
        """Return the terms of a hypothesis, without numbers: ``N log2(N)``; ``constant``.

        Source: ScaleGraph.
        """
        hypothesis = self.hypothesis(series, rank)
        return " + ".join(terms.product_text(product, self.parameters) for product in hypothesis) or "constant"

    def __getitem__(self, series: int) -> Fit:
        """Return the model of one series."""
        hypothesis = self.hypothesis(series)
        size = len(hypothesis) + 1
        doubt = self.doubt(series)
        names = ["c0", *(f"c{i}" for i in range(1, size))]
        meanings = ["constant", *(f"of {terms.product_text(product, self.parameters)}" for product in hypothesis)]
        coefficients = tuple(
            Coefficient(*entry)
            for entry in zip(
                names,
                self.theta[series, 0, :size].tolist(),
                self.low[series, :size].tolist(),
                self.high[series, :size].tolist(),
                meanings,
                strict=True,
            )
        )
        rivals = tuple(self.term_text(series, int(rank)) for rank in np.flatnonzero(self.plausible[series]) if rank)
        return Fit(
            "pmnf",
            self.term_text(series),
            self.formula(series),
            coefficients,
            self.curve(series),
            float(self.cv_error[series]),
            float(self.adjusted_r2[series]),
            float(self.aicc[series]),
            int(self.sample.points[series]),
            self.growth(series),
            float(self.weight[series, 0]),
            not doubt,
            doubt,
            "" if doubt else "The points decide it.",
            rivals,
        )

    def one(self, series: int) -> Models:
        """Return the models restricted to one series.

        Shape: (1, ..) of its arrays. Unit: as here. Source: ScaleGraph.
        """
        row = slice(series, series + 1)
        arrays = (
            "which",
            "scores",
            "pooled",
            "weight",
            "theta",
            "inverse",
            "sigma",
            "freedom",
            "noise",
            "low",
            "high",
            "cv_error",
            "adjusted_r2",
            "aicc",
            "rows",
        )
        return Models(
            parameters=self.parameters,
            points=self.points,
            sample=self.sample.only(row),
            space=self.space,
            confidence=self.confidence,
            memo=self.memo,
            **{name: getattr(self, name)[row] for name in arrays},
        )

    def curve(self, series: int) -> Curve:
        """Return the chosen model of one series as a curve whose band includes its rivals.

        Unit: that of the values fitted. Source: ScaleGraph.
        """
        hypothesis = self.hypothesis(series)
        size = len(hypothesis) + 1
        theta = self.theta[series, 0, :size]
        return ModelCurve(
            lambda x: terms.columns_at(hypothesis, x),
            theta,
            theta,
            self.inverse[series, 0, :size, :size],
            float(self.sigma[series, 0]),
            float(self.freedom[series, 0]),
            float(self.noise[series, 0]),
            self.confidence,
            models=self.one(series),
        )

    def doubt(self, series: int) -> str:
        """Return what the points leave open about a series; empty if nothing.

        Source: ScaleGraph.
        """
        key = ("doubt", int(self.rows[series]))
        if key not in self.memo:
            self.memo[key] = doubting.doubt(self, series)
        return str(self.memo[key])


@dataclass(frozen=True)
class ModelCurve(Curve):
    """A chosen model whose band includes its plausible rivals."""

    models: Models | None = None

    def band(self, x: Floats, repetitions: float | None = None) -> tuple[Floats, Floats]:
        """Return the interval at *x*; see `Models.band`.

        Shape: two arrays (points,). Unit: that of the values fitted. Source: `Models.band`.
        """
        if self.models is None:
            return super().band(x, repetitions)
        low, high = self.models.band(x, repetitions)
        return low[0], high[0]


def _rows(x: Sequence[float] | Floats, parameters: int) -> Floats:
    array = np.asarray(x, dtype=np.float64)
    return array.reshape(-1, parameters) if array.ndim < 2 else array
