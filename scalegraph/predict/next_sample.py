"""The sample run that narrows the interval of a prediction most, by ruling out rival fits.

The interval of a predicted time contains the fits that the samples do not rule out. A run of another size rules some of
them out, since they differ there. The remaining interval is computed by fitting again with that sample, for each rival
as the truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

from scalegraph.base.units import assigned, si, significant
from scalegraph.predict.counts import CannotTellError
from scalegraph.predict.doubts import Doubt, Sides
from scalegraph.predict.predicting import Predicted
from scalegraph.predict.regions import Values

MOST: Final = 0.1  # share of the predicted time that a sample may take
_STEPS: Final = 8  # sizes between the samples and the prediction
_VISIBLE: Final = 0.02  # relative narrowing of the interval below which a sample is not suggested


class Doubtful(Protocol):
    """A predictor with fits."""

    @property
    def sampled(self) -> list[int]:
        """The N of the samples, ascending."""

    def used(self, processors: int) -> list[int]:
        """Return the N whose samples predict N = *processors*."""

    def at(self, values: Values, processors: int) -> Predicted:
        """Return the prediction at *values* on N = *processors*; may raise `CannotTellError`."""

    def doubts(self, values: Values, processors: int) -> Sequence[Sequence[Doubt]]:
        """Return the fits behind a predicted time on an N with samples.

        Within a group uncertainties add up; groups combine as the root of the sum of squares.
        """


@dataclass(frozen=True)
class NextSample:
    """A run that narrows the predicted time at *values* on N = *processors*.

    *sample*: its parameters, on the same N; *cost_s*: its predicted time; *now* and *then*: half of the interval before
    and (expected) after, relative to the predicted time; *part*: the region with most of the difference.
    """

    processors: int
    values: Values
    sample: Values
    cost_s: float
    now: float
    then: float
    part: str

    @property
    def sentence(self) -> str:
        """A sentence on what the run does."""
        where = assigned([("N", self.processors), *sorted(self.values.items())])
        run = assigned([("N", self.processors), *sorted(self.sample.items())])
        by = f", most of it in {self.part}" if self.part else ""
        return (
            f"next sample: {run} takes {si(self.cost_s, 's')} and narrows the prediction for {where} from "
            f"{_half(self.now)} to {_half(self.then)}{by}"
        )


def _half(width: float) -> str:
    return f"±{significant(100 * width, 2)} %"


@dataclass
class _Target:
    """A predicted point with its interval and the fits behind it."""

    predictor: Doubtful
    found: Predicted

    @cached_property
    def groups(self) -> Sequence[Sequence[Doubt]]:
        return self.predictor.doubts(self.found.values, self.found.processors)

    @cached_property
    def own(self) -> list[list[Sides]]:
        return [[doubt.sides(self.found.values, self.found.processors) for doubt in group] for group in self.groups]

    @property
    def width(self) -> float:
        return self.found.high_s - self.found.low_s

    def after(self, sample: Values) -> tuple[float, str]:
        """Return the interval in s after a run of the size *sample*, and the region that it narrows most."""
        place = self.found.values, self.found.processors
        left = [[doubt.expected(*place, sample) for doubt in group] for group in self.groups]
        narrowed: dict[str, float] = {}
        for group, before, then in zip(self.groups, self.own, left, strict=True):
            for doubt, old, new in zip(group, before, then, strict=True):
                narrowed[doubt.name] = narrowed.get(doubt.name, 0.0) + sum(old) - sum(new)
        fixed = self.width - _combined(self.own)  # not due to the fits, such as errors at samples left out
        return max(0.0, fixed) + _combined(left), max(narrowed, key=lambda name: narrowed[name], default="")


def _combined(groups: Iterable[Sequence[Sides]]) -> float:
    sides = [[sum(side) for side in zip(*group, strict=True)] for group in groups if group]
    return math.hypot(*(low for low, _ in sides)) + math.hypot(*(high for _, high in sides))


def sample_sizes(samples: Sequence[Values], target: Values, processors: int) -> list[Values]:
    """Return candidate sizes for a further sample: between the samples and *target*, not run yet.

    All differing parameters are scaled together from the smallest sample on, in geometric steps, and if there are
    several, each is also scaled alone. Values equal the target's modulo N, because counts of distributed work depend on
    the remainder.
    """
    names = sorted(name for name in target if len({values[name] for values in (*samples, target)}) > 1)
    if not names:
        return []
    least = min(samples, key=lambda values: math.prod(values[name] for name in names))
    largest = max(samples, key=lambda values: math.prod(values[name] for name in names))
    chosen: list[tuple[Values, Sequence[str]]] = [(least, names)]
    chosen += [(largest, [name]) for name in names if len(names) > 1]
    found: list[Values] = []
    for start, varied in chosen:
        for step in range(1, _STEPS + (len(varied) < len(names))):
            part = step / _STEPS
            size = {
                name: _with_remainder(start[name] * (target[name] / start[name]) ** part, target[name], processors)
                for name in varied
            }
            found.append({**start, **size})
    known = [dict(values) for values in (*samples, target)]
    return [values for i, values in enumerate(found) if values not in known and values not in found[:i]]


def _with_remainder(size: float, target: int, processors: int) -> int:
    """Return the number nearest to *size* that equals *target* modulo N, at least 1."""
    near = round((size - target) / processors) * processors + target
    return near if near > 0 else max(1, round(size))


def next_samples(
    predictor: Doubtful, samples: Sequence[Values], values: Values, processors: int, most: float = MOST
) -> list[NextSample]:
    """Return the runs that visibly narrow the prediction at *values*, the most effective first.

    *samples*: parameters of the existing ones; *most*: a run may take this share of the predicted time. Of runs within
    a tenth of each other, the cheaper one comes first. On an N without samples it is the largest sample there. Raises
    as `Doubtful.at`.
    """
    found = predictor.at(values, processors)
    if not found.time_s or found.high_s <= found.low_s:
        return []
    if processors not in predictor.sampled:
        return _on_own(predictor, samples, found)
    target = _Target(predictor, found)
    entries: list[NextSample] = []
    for sample in sample_sizes(samples, values, processors):
        try:
            cost = predictor.at(sample, processors).time_s
            then, part = target.after(sample)
        except CannotTellError:
            continue
        if cost <= most * found.time_s and target.width - then >= _VISIBLE * target.width:
            now, left = (0.5 * width / found.time_s for width in (target.width, then))
            entries.append(NextSample(processors, dict(values), sample, cost, now, left, part))
    best = max((entry.now - entry.then for entry in entries), default=0.0)
    alike = [entry for entry in entries if entry.now - entry.then >= 0.9 * best]
    first = min(alike, key=lambda entry: entry.cost_s, default=None)
    rest = sorted((entry for entry in entries if entry is not first), key=lambda entry: entry.then)
    return [first, *rest] if first is not None else []


def _on_own(predictor: Doubtful, samples: Sequence[Values], found: Predicted) -> list[NextSample]:
    """Return the largest sample on an N without samples: its interval would then be that of the nearest N."""
    values, processors = found.values, found.processors
    near = min(predictor.used(processors), key=lambda n: abs(math.log(n / processors)))
    there = predictor.at(values, near)
    sample = max(samples, key=lambda own: predictor.at(own, processors).time_s)
    now = 0.5 * (found.high_s - found.low_s) / found.time_s
    then = 0.5 * (there.high_s - there.low_s) / there.time_s
    if now - then < _VISIBLE * now:
        return []
    cost = predictor.at(sample, processors).time_s
    return [NextSample(processors, dict(values), dict(sample), cost, now, then, "")]


def widest(points: Iterable[Predicted]) -> Predicted | None:
    """Return the prediction with the widest interval, relative to its time."""
    known = [point for point in points if point.time_s > 0]
    return max(known, key=lambda point: (point.high_s - point.low_s) / point.time_s, default=None)


def document(found: NextSample | None) -> Mapping[str, object] | None:
    """Return *found* for JSON."""
    if found is None:
        return None
    return {
        "processors": found.processors,
        "parameters": dict(found.sample),
        "cost_s": found.cost_s,
        "target": {"processors": found.processors, "parameters": dict(found.values)},
        "half_width": found.now,
        "half_width_then": found.then,
        "part": found.part,
    }
