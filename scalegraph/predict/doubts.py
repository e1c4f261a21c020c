"""The uncertainty that the samples leave in a part of a predicted time, and what would remain after another sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scalegraph.predict.lower import SegmentTime
from scalegraph.predict.regions import Values

_SAME: Final = 1e-9
_EXACT: Final = 1e-6  # residual below which a fit is exact
Sides = tuple[float, float]  # how much less and how much more a time may be, in s


@dataclass(frozen=True)
class Doubt:
    """A fit that is part of a predicted time: *scale* seconds for each unit of *fit*.

    *name*: region of the program.
    """

    name: str
    fit: SegmentTime
    scale: float = 1.0

    def sides(self, values: Values, processors: int) -> Sides:
        """Return how much less and more this part may take, in s."""
        return _sides(self.fit, self.scale, values, processors)

    def expected(self, values: Values, processors: int, sample: Values) -> Sides:
        """Return the sides expected after a run of the size *sample*, averaged over the fits that may be true.

        The new run is assumed to be as far off the true fit as the others are, on either side.
        """
        place = sample, processors
        every = [
            _sides(self.fit.with_sample(place, time * (1 + error)), self.scale, values, processors)
            for time in self._truths(sample, processors)
            for error in ((self.fit.residual, -self.fit.residual) if self.fit.residual > _EXACT else (0.0,))
        ]
        return sum(low for low, _ in every) / len(every), sum(high for _, high in every) / len(every)

    def _truths(self, sample: Values, processors: int) -> list[float]:
        """Return the distinct times at *sample* by the fit and its rivals."""
        row = [term.at(sample, processors) for term in self.fit.terms]
        found: list[float] = []
        for known in (self.fit.coefficients, *self.fit.rivals):
            time = sum(c * own for c, own in zip(known, row, strict=True))
            if all(abs(time - other) > _SAME * abs(other) for other in found):
                found.append(time)
        return found


def _sides(fit: SegmentTime, scale: float, values: Values, processors: int) -> Sides:
    found = fit.at(values, processors)
    return scale * (found.time_s - found.low_s), scale * (found.high_s - found.time_s)
