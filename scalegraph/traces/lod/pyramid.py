"""Everything computed once for a trace and kept: streams, tiles, totals; built, and converted to arrays and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from scalegraph.traces.kinds import Array
from scalegraph.traces.lod import counters, rows, streams
from scalegraph.traces.lod.bin_cache import CachedBins
from scalegraph.traces.lod.bins import Rows, Window, raw
from scalegraph.traces.lod.counters import Series
from scalegraph.traces.lod.layers import layers_of, sources
from scalegraph.traces.lod.rows import SAMPLED, Sorted
from scalegraph.traces.lod.scratch import Scratch, forget
from scalegraph.traces.lod.shapes import Layer
from scalegraph.traces.lod.streams import Step, Stream
from scalegraph.traces.lod.tiles import Maker, Shape, Tiles
from scalegraph.traces.model import Note, Trace

_MAKERS = {"calls": streams.of_calls, "states": streams.of_states, "shares": streams.of_shares}
_TOTALS = 1 << 21  # numbers in the totals of a layer
FEW = 1 << 17  # up to this many segments of all locations are read every time
_TOTAL_BINS, _TOTAL_PIECES = 1 << 17, 1 << 24


@dataclass
class Pyramid:
    """The data behind a timeline. *totals* [bins, codes] by layer: ticks of all locations per bin of 2**level (f4)."""

    shape: Shape
    streams: dict[str, Stream] = field(default_factory=dict)
    tiles: dict[str, Tiles] = field(default_factory=dict)
    totals: dict[str, tuple[int, Array]] = field(default_factory=dict)
    rows: dict[str, Sorted] = field(default_factory=dict)
    counters: Series | None = None
    notes: list[Note] = field(default_factory=list)
    cached: CachedBins = field(default_factory=CachedBins)  # for streams without tiles


def shape_of(trace: Trace) -> Shape:
    """Return how *trace* is tiled."""
    meta = trace.meta
    events = sum(trace.counts().values())
    return Shape.of(meta.begin, max(meta.end, meta.begin + 1), len(trace.definitions.locations), events)


def build(trace: Trace, scratch: Scratch, step: Step) -> Pyramid:
    """Make the pyramid of *trace*; *step* is called with the share done (0 to 1) and may raise to stop it.

    Memory holds some parts of a million events, not the trace; results go to *scratch*.
    """
    made = Pyramid(shape_of(trace))
    layers = layers_of(trace)
    notes: Counter[str] = Counter()
    found = sources(trace)
    total = sum(trace.count(kind) for kind in (*found, *SAMPLED, "counters")) or 1
    done, most = 0, 0.0

    def told(share: float) -> None:
        nonlocal most
        most = max(most, share)
        step(most)

    for source in found:
        share = trace.count(source) / total

        def part(first: float, length: float, base: float = done / total, share: float = share) -> Step:
            return lambda now: told(base + share * (first + length * min(now, 1.0)))

        stream = made.streams[source] = _MAKERS[source](trace, scratch, notes, part(0.0, 0.5))
        mine = [layer for layer in layers.values() if layer.source == source]
        made.tiles[source] = Maker(stream, mine, made.shape, scratch, part(0.5, 0.4)).make()
        for layer in mine if len(stream.begin) > FEW else ():
            made.totals[layer.name] = _totals(stream, layer, made.shape, part(0.9, 0.1))
        done += trace.count(source)
    for kind in SAMPLED:
        made.rows[kind] = rows.gather(trace, kind, scratch, lambda now, at=done: told((at + now) / total))  # type: ignore[misc]
        done += trace.count(kind)
    run = (made.shape.begin, made.shape.end)
    made.counters = counters.gather(trace, scratch, run, notes, lambda _share: told(done / total))
    step(1.0)
    made.notes = _notes(notes)
    return made


def lasting(base: Pyramid, trace: Trace, least: int, scratch: Scratch, step: Step) -> Pyramid:
    """Return the pyramid of *trace*: the events of *base*'s trace that last *least* ticks or more.

    It is short-lived, so it must be quick to make: parts that cannot differ are shared with *base*, and bins of the
    others (calls, states) are computed on demand.
    """
    made = Pyramid(shape_of(trace), counters=base.counters)
    notes = Counter({note.what: note.count for note in base.notes if note.what.startswith(("shares", "counters"))})
    found = sources(trace)
    again = [source for source in found if source != "shares"]
    for number, source in enumerate(again):

        def told(now: float, number: int = number) -> None:
            step((number + min(now, 1.0)) / len(again))

        made.streams[source] = _MAKERS[source](trace, scratch, notes, told)
    if "shares" in found:
        made.streams["shares"], made.tiles["shares"] = base.streams["shares"], base.tiles["shares"]
        made.totals = {name: base.totals[name] for name in ("activity", "state") if name in base.totals}
    made.rows = {kind: one.lasting(kind, least) for kind, one in base.rows.items()}
    step(1.0)
    made.notes = _notes(notes)
    return made


def _notes(notes: Counter[str]) -> list[Note]:
    return [Note(what, count) for what, count in sorted(notes.items()) if count]


def _totals(stream: Stream, layer: Layer, shape: Shape, step: Step) -> tuple[int, Array]:
    """Return the level, and the ticks in each code of all locations together."""
    codes = _width(layer)
    bins = min(_TOTAL_BINS, _TOTALS // codes, _TOTAL_PIECES // max(shape.locations, 1))
    level = max((shape.end - shape.begin - 1).bit_length() - max(bins, 256).bit_length() + 1, 0)
    count = ((shape.end - shape.begin - 1) >> level) + 1
    sums = np.zeros(count * codes)
    for location in range(shape.locations):
        low, high = stream.bounds(location)
        step(low / max(len(stream.begin), 1))
        for start in range(low, high, streams.PIECE):
            stop = min(start + streams.PIECE, high)
            first = (int(stream.begin[start]) - shape.begin) >> level
            final = int(stream.ends(np.array([stop - 1]))[0])
            window = Window.at((shape.begin, shape.end), int(stream.begin[start]), final, level)
            first, last = window.first, window.last
            found = raw(stream, layer, window, Rows(np.array([[0, first, last]]), np.array([start]), np.array([stop])))
            base, size = first * codes, (last - first) * codes
            ticks = found.share / window.scales(found.place + first)
            sums[base : base + size] += np.bincount(found.place * codes + found.code, ticks, size)
        forget(stream.begin, stream.code, stream.end, stream.ticks)
    return level, sums.reshape(count, codes).astype(np.float32)


def arrays(pyramid: Pyramid) -> dict[str, Array]:
    """Return all arrays by name."""
    named: dict[str, Array | None] = {}
    for source, stream in pyramid.streams.items():
        for name in ("first", "begin", "code", "end", "ticks"):
            named[f"{source}.{name}"] = getattr(stream, name)
    for source, tiles in pyramid.tiles.items():
        for name in ("start", "key", "at"):
            named[f"{source}.{name}"] = getattr(tiles, name)
        for name in ("shares", "codes", "covered"):
            named |= {f"{layer}.{name}": array for layer, array in getattr(tiles, name).items()}
    named |= {f"{layer}.total": total for layer, (_, total) in pyramid.totals.items()}
    for kind, found in pyramid.rows.items():
        named |= rows.arrays(kind, found)
    if pyramid.counters is not None:
        named |= counters.arrays(pyramid.counters)
    return {name: array for name, array in named.items() if array is not None}


def restored(trace: Trace, named: Mapping[str, Array], levels: Mapping[str, int], notes: list[Note]) -> Pyramid:
    """Return the pyramid of *trace* from its `arrays`. Raises `KeyError` or `ValueError` if they do not fit."""
    made = Pyramid(shape_of(trace), notes=notes)
    layers = layers_of(trace)
    for source in sources(trace):
        mine = [layer for layer in layers.values() if layer.source == source]
        stream = Stream(source, *(named[f"{source}.{name}"] for name in ("first", "begin", "code")))
        if source == "shares":
            stream.end, stream.ticks = named["shares.end"], named["shares.ticks"]
        _check_stream(stream, made.shape, max(len(layer.table) for layer in mine))
        tiles = Tiles(named[f"{source}.start"], named[f"{source}.key"], named[f"{source}.at"], {}, {}, {})
        for layer in mine:
            tiles.shares[layer.name] = named[f"{layer.name}.shares"]
            if not layer.whole:
                tiles.codes[layer.name] = named[f"{layer.name}.codes"]
                tiles.covered[layer.name] = named[f"{layer.name}.covered"]
            if layer.name in levels:
                made.totals[layer.name] = int(levels[layer.name]), named[f"{layer.name}.total"]
        _check_tiles(tiles, made.shape, mine)
        made.streams[source], made.tiles[source] = stream, tiles
    for name, (level, total) in made.totals.items():
        count = ((made.shape.end - made.shape.begin - 1) >> level) + 1
        _ask(total.shape == (count, _width(layers[name])), f"{name}.total")
    for kind in SAMPLED:
        made.rows[kind] = rows.restored(kind, trace.count(kind), named)
    made.counters = counters.restored(named)
    return made


def _width(layer: Layer) -> int:
    """Return the number of codes in totals: for a whole layer, those that occur."""
    return layer.kept if layer.whole else len(layer.codes)


def _ask(right: bool, what: str) -> None:
    if not right:
        raise ValueError(what)


def _check_stream(stream: Stream, shape: Shape, codes: int) -> None:
    count = len(stream.begin)
    _ask(len(stream.first) == shape.locations + 1, "first")
    _ask(
        int(stream.first[0]) == 0 and int(stream.first[-1]) == count and bool(np.all(np.diff(stream.first) >= 0)),
        "first",
    )
    for column in (stream.code, stream.end, stream.ticks):
        _ask(column is None or len(column) == count, "rows")
    _ask(not count or stream.code.dtype == streams.code_type(codes - 1), "code")


def _check_tiles(tiles: Tiles, shape: Shape, layers: list[Layer]) -> None:
    count = len(tiles.key)
    _ask(len(tiles.start) == shape.top + 2 and int(tiles.start[-1]) == count and len(tiles.at) == count, "tiles")
    _ask(not count or (int(tiles.at.min()) >= 0 and int(tiles.at.max()) < count), "at")
    for layer in layers:
        _ask(tiles.shares[layer.name].shape == (count, 256, layer.kept), "shares")
        if not layer.whole:
            _ask(tiles.codes[layer.name].shape == (count, 256, layer.kept), "codes")
            _ask(tiles.covered[layer.name].shape == (count, 256), "covered")
