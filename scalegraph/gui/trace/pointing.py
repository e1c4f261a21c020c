"""What a location does at a moment, exact to the tick; looked up in the level of detail in another thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scalegraph.base.measures import exact
from scalegraph.base.units import si
from scalegraph.figures.timelines import time_text

if TYPE_CHECKING:
    from scalegraph.subjects.trace import TraceData

_BINS: Final = 64
_PURE: Final = 0.9999  # share of one code from which a bin counts as pure
_MOST_STEPS: Final = 64
_MOST_PARTS: Final = 5


@dataclass(frozen=True)
class Pointed:
    """One moment of a location: its *region* (-1: none) and the stretch (ticks) during which *code* holds.

    *shares* are (name, share) of the layers' codes within the pixel.
    """

    location: int
    begin: int
    end: int
    region: int
    state: str
    shares: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]

    def words(self, data: TraceData, begin: int, end: int) -> str:
        """Return it as text; the pixel spans *begin* to *end* (ticks)."""
        tick = 1 / data.trace.meta.ticks_per_second
        lines = [data.location_name(self.location)]
        if self.region >= 0:
            region = data.trace.definitions.regions[self.region]
            place = f"  {region.file.rpartition('/')[2]}:{region.line}" if region.file else ""
            lines.append(f"in {data.region_name(self.region)}{place}")
        if self.state:
            lines.append(self.state)
        if self.end > self.begin:
            span = f"{time_text(data.seconds(self.begin), tick)} to {time_text(data.seconds(self.end), tick)}"
            lines.append(f"{span}: {si((self.end - self.begin) * tick, 's', 4)}, {self.end - self.begin} ticks")
        for layer, parts in self.shares:
            if len(parts) > 1:
                reported = ", ".join(f"{name} {exact(100 * share, '%')}" for name, share in parts[:_MOST_PARTS])
                lines.append(f"this pixel ({si((end - begin) * tick, 's')}) by {layer}: {reported}")
        return "\n".join(lines)


def point(data: TraceData, location: int, begin: int, end: int) -> Pointed:
    """Return what *location* does between *begin* and *end* (ticks), one pixel of the screen."""
    end = max(end, begin + 1)
    shares: list[tuple[str, tuple[tuple[str, float], ...]]] = []
    best: dict[str, Any] = {}
    for name in ("activity", "region"):
        layer = data.timeline.layers.get(name)
        if layer is None:
            continue
        parts = _parts(data.timeline, name, location, begin, end)
        shares.append((name, tuple((layer.codes[code].name, share) for code, share, _ in parts)))
        if parts:
            best[name] = (parts[0][0], layer.codes[parts[0][0]], parts[0][2])
    region = int(best["region"][1].number) if "region" in best else -1
    state = str(best["activity"][1].name) if "activity" in best else ""
    layer_name = "activity" if "activity" in best else "region"
    first, last = begin, begin
    if layer_name in best:
        code, _named, inside = best[layer_name]
        first, last = stretch(data, layer_name, location, inside, code, end - begin)
    return Pointed(location, first, last, region, state, tuple(shares))


def _parts(timeline: Any, layer: str, location: int, begin: int, end: int) -> list[tuple[int, float, int]]:
    """Return the codes of one pixel, largest share first, each with its share and the tick where it is purest."""
    lanes = timeline.lanes(layer, begin, end, _BINS, (location,))
    found: dict[int, float] = {}
    where: dict[int, tuple[float, int]] = {}
    for column, (first, last) in enumerate(zip(lanes.edges[:-1].tolist(), lanes.edges[1:].tolist(), strict=True)):
        low, high = max(first, begin), min(last, end)  # bins may extend beyond begin and end
        for code, share in zip(lanes.codes[0, column].tolist(), lanes.shares[0, column].tolist(), strict=True):
            if code >= 0 and share > 0 and high > low:
                found[code] = found.get(code, 0.0) + share * (high - low) / (end - begin)
                where[code] = max(where.get(code, (0.0, low)), (share, (low + high) // 2))
    return [(code, share, where[code][1]) for code, share in sorted(found.items(), key=lambda item: -item[1])]


def stretch(data: TraceData, layer: str, location: int, tick: int, code: int, width: int) -> tuple[int, int]:
    """Return first and last tick of the stretch around *tick* in which *location* has *code* and no other.

    The ends are found in ever finer bins. If even one tick's bin is shared with other codes, that tick is returned.
    """
    meta = data.trace.meta
    left = _edge(data, layer, location, tick, code, width, meta.begin)
    right = _edge(data, layer, location, tick, code, width, meta.end)
    return left, max(left, right)


def _edge(data: TraceData, layer: str, location: int, tick: int, code: int, width: int, limit: int) -> int:
    """Return how far the stretch extends from *tick* towards *limit*: growing strides, then finer bins."""
    back = limit < tick
    known, span, finer = tick, max(1, width), False
    for _step in range(_MOST_STEPS):
        far = max(limit, known - span) if back else min(limit, known + span)
        if far == known:
            return known
        until, wide = _pure_until(data, layer, location, (min(known, far), max(known, far)), code, back=back)
        known = until
        if until != far and wide <= 1:
            return known
        finer = finer or until != far
        span = 2 * wide if finer else 8 * span
    return known


def _pure_until(
    data: TraceData, layer: str, location: int, between: tuple[int, int], code: int, *, back: bool
) -> tuple[int, int]:
    """Return how far every bin is purely *code*, from the near end of *between*, and the width of a bin."""
    lanes = data.timeline.lanes(layer, *between, _BINS, (location,))
    edges = [min(max(int(edge), between[0]), between[1]) for edge in lanes.edges]
    share = ((lanes.codes[0] == code) * lanes.shares[0]).sum(axis=1)
    columns = range(len(share) - 1, -1, -1) if back else range(len(share))
    at = between[1] if back else between[0]
    for column in columns:
        if edges[column + 1] <= edges[column]:
            continue
        if share[column] < _PURE:
            break
        at = edges[column] if back else edges[column + 1]
    return at, int(lanes.edges[1] - lanes.edges[0])
