"""What the samples leave open about a part of a predicted time, and what a further sample would leave of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scalegraph.predict.lower import SegmentTime
from scalegraph.predict.regions import Values

_SAME: Final = 1e-9
_EXACT: Final = 1e-6  # residual of a fit that has none
Sides = tuple[float, float]  # by how much less and more a time may be, in s


@dataclass(frozen=True)
class Doubt:
    """A fit that a predicted time consists of: *scale* seconds of it for each unit of the *fit*.

    *name*: region of the program.
    """

    name: str
    fit: SegmentTime
    scale: float = 1.0

    def sides(self, values: Values, processors: int) -> Sides:
        """Return by how much less and more this part may take, in s."""
        return _sides(self.fit, self.scale, values, processors)

    def expected(self, values: Values, processors: int, sample: Values) -> Sides:
        """Return the sides that a run of the size *sample* would leave, on average over the fits that may be true.

        The run is as far off from the true fit as the others are, to one side or the other.
        """
        place = sample, processors
        every = [
            _sides(self.fit.with_sample(place, time * (1 + error)), self.scale, values, processors)
            for time in self._truths(sample, processors)
            for error in ((self.fit.residual, -self.fit.residual) if self.fit.residual > _EXACT else (0.0,))
        ]
        return sum(low for low, _ in every) / len(every), sum(high for _, high in every) / len(every)

    def _truths(self, sample: Values, processors: int) -> list[float]:
        """Return the times there of the fit and of its rivals, each once."""
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
