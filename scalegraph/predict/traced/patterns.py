"""What ranks do in runs of several sizes: a common pattern with the counts, bytes and useful time of each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from scalegraph.base.units import assigned
from scalegraph.predict.counts import CannotTellError
from scalegraph.predict.regions import Values
from scalegraph.predict.traced.fold import Folded, Leaf, Loop, Node, fold
from scalegraph.predict.traced.operations import COLLECTIVE, KIND_WORDS, Operations, Read, Symbol
from scalegraph.traces.kinds import Array, Operation
from scalegraph.traces.model import Region

_ALIKE = 0.02  # relative difference of useful time allowed within a class of ranks
_SMALL = 0.002  # share of a rank's useful time; a region with less is merged into a neighbour
Work: TypeAlias = tuple[Region, bool]
NO_REGION = Region("outside of regions")


@dataclass(frozen=True)
class SampleTrace:
    """A sample run: its parameters and the contents of its trace."""

    values: Values
    read: Read


@dataclass(frozen=True, eq=False)
class Series:
    """The data of one operation of the pattern in each run: *passes* and *bytes* in all, *work*: seconds.

    The work before it is divided by region and by busy or stalled. *region*: where the operation is.
    """

    symbol: Symbol
    passes: tuple[int, ...]
    bytes: tuple[int, ...]
    work: Mapping[Work, tuple[float, ...]]
    region: Region


@dataclass(frozen=True, eq=False)
class Pattern:
    """The identical pattern of the ranks *members*: the *nodes* of the largest run.

    `leaves`: by operation of the nodes, in order; *loops*: passes of each loop in each run, in order. Times are those
    of the member that computes longest (semi-empirical paper, 2.5).
    """

    members: tuple[int, ...]
    nodes: tuple[Node, ...]
    leaves: tuple[Series, ...]
    loops: tuple[tuple[int, ...], ...]

    @property
    def useful_s(self) -> tuple[float, ...]:
        """Useful seconds of a member in each run."""
        every = [times for leaf in self.leaves for times in leaf.work.values()]
        return tuple(float(total) for total in np.sum(every, axis=0)) if every else ()


@dataclass(frozen=True, eq=False)
class _Own:
    """A location's folded operations, with sums by operation."""

    operations: Operations
    folded: Folded
    leaves: tuple[Leaf, ...]
    leaf_of: Array
    symbols: Sequence[Symbol]


def patterns(runs: Sequence[SampleTrace]) -> tuple[list[Pattern], list[SampleTrace]]:
    """Return the patterns of all ranks, and the runs that follow them; all are on one N, and *runs[0]* must fit.

    Raises `CannotTellError` with a sentence if a run does something else than the first.
    """
    ranks = len(runs[0].read.locations)
    folded = [_folded(run, ranks) for run in runs]
    shapes = [[one.folded.shape() for one in every] for every in folded]
    for run, own, every in zip(runs[1:], shapes[1:], folded[1:], strict=True):
        if own != shapes[0]:
            raise CannotTellError(_difference(runs[0], run, folded[0], every))
    found: dict[tuple[object, ...], list[Pattern]] = {}
    for number in range(ranks):
        pattern = _pattern(runs, [every[number] for every in folded])
        alike = found.setdefault((shapes[0][number], *(one.passes for one in pattern.leaves)), [])
        same = next((at for at, other in enumerate(alike) if _alike(other, pattern)), None)
        if same is None:
            alike.append(pattern)
            continue
        longest = max(alike[same], pattern, key=lambda one: one.useful_s[-1:])
        members = (*alike[same].members, *pattern.members)
        alike[same] = Pattern(members, longest.nodes, longest.leaves, longest.loops)
    return [one for alike in found.values() for one in alike], list(runs)


def fitting_runs(runs: Sequence[SampleTrace]) -> list[SampleTrace]:
    """Return the runs that do the same as the first, including it."""
    ranks = len(runs[0].read.locations)
    first = [one.folded.shape() for one in _folded(runs[0], ranks)]
    return [runs[0], *(run for run in runs[1:] if [one.folded.shape() for one in _folded(run, ranks)] == first)]


def _folded(run: SampleTrace, ranks: int) -> list[_Own]:
    known: dict[tuple[Symbol, ...], Folded] = {}
    found = []
    for one in run.read.locations:
        symbols = tuple(one.symbols(ranks, run.read.trace.definitions.regions))
        folded = known.get(symbols) or known.setdefault(symbols, fold(symbols))
        found.append(_Own(one, folded, tuple(folded.leaves()), np.asarray(folded.leaf_of), symbols))
    return found


def _difference(first: SampleTrace, other: SampleTrace, own: Sequence[_Own], others: Sequence[_Own]) -> str:
    """Return a sentence that says where two runs differ."""
    places = [assigned(sorted(run.values.items())) for run in (first, other)]
    if len(own) != len(others):
        return f"{len(own)} ranks send messages with {places[0]}, {len(others)} with {places[1]}"
    for one, two in zip(own, others, strict=True):
        if one.folded.shape() == two.folded.shape():
            continue
        pairs = zip((leaf.symbol for leaf in one.leaves), (leaf.symbol for leaf in two.leaves), strict=False)
        at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one.leaves), len(two.leaves)) - 1)
        said = [_word(part, min(at, len(part.leaves) - 1), run) for part, run in ((one, first), (two, other))]
        name = first.read.trace.definitions.locations[one.operations.location].name
        changes = "the pattern of messages changes with the parameters"
        if said[0] == said[1]:
            return f"{changes}: {name} repeats '{said[0]}' differently with {places[0]} than with {places[1]}"
        return f"{changes}: {name} has '{said[0]}' with {places[0]} where it has '{said[1]}' with {places[1]}"
    return f"the patterns of messages with {places[0]} and {places[1]} differ"


def _word(own: _Own, leaf: int, run: SampleTrace) -> str:
    """Return an operation in words: ``send to rank 3 in exchange``."""
    row = int(np.flatnonzero(own.leaf_of == leaf)[0])
    one, defined = own.operations, run.read.trace.definitions
    kind, partner, region = int(one.kind[row]), int(one.partner[row]), int(one.region[row])
    text = KIND_WORDS[kind]
    if kind == COLLECTIVE:
        text = Operation(int(one.operation[row])).name.lower().replace("_", " ")
    elif partner >= 0:
        text = f"{text} {defined.locations[partner].name or partner}"
    return f"{text} in {defined.regions[region].name}" if region >= 0 else text


def _alike(first: Pattern, second: Pattern) -> bool:
    pairs = zip(first.useful_s, second.useful_s, strict=True)
    return all(abs(a - b) <= _ALIKE * max(a, b) for a, b in pairs) and [one.bytes for one in first.leaves] == [
        one.bytes for one in second.leaves
    ]


def _pattern(runs: Sequence[SampleTrace], own: Sequence[_Own]) -> Pattern:
    """Return the pattern of one location over all runs."""
    leaves = own[0].leaves
    work = [_work(one, run) for one, run in zip(own, runs, strict=True)]
    least = _SMALL * sum(work[-1].values())
    series = []
    for number in range(len(leaves)):
        sizes = [np.bincount(one.leaf_of, one.operations.size, len(leaves)) for one in own]
        row = int(np.flatnonzero(own[0].leaf_of == number)[0])
        series.append(
            Series(
                own[0].symbols[row],
                tuple(one.leaves[number].passes for one in own),
                tuple(round(float(size[number])) for size in sizes),
                _by_region(work, number, least),
                _region(runs[0], int(own[0].operations.region[row])),
            )
        )
    loops = zip(*(_passes(one.folded.nodes) for one in own), strict=True)
    return Pattern((own[0].operations.location,), tuple(own[-1].folded.nodes), tuple(series), tuple(loops))


def _passes(nodes: Sequence[Node]) -> list[int]:
    """Return the passes of every loop, outer ones first."""
    return [count for node in nodes if isinstance(node, Loop) for count in (node.passes, *_passes(node.body))]


def _region(run: SampleTrace, number: int) -> Region:
    return run.read.trace.definitions.regions[number] if number >= 0 else NO_REGION


def _by_region(
    work: Sequence[Mapping[tuple[int, Work], float]], leaf: int, least: float
) -> dict[Work, tuple[float, ...]]:
    """Return seconds by region in each run; regions with less than *least* in the last are merged into its largest."""
    every = {key[1][0] for part in work for key in part if key[0] == leaf}

    def time_s(part: Mapping[tuple[int, Work], float], region: Region) -> float:
        return part.get((leaf, (region, False)), 0.0) + part.get((leaf, (region, True)), 0.0)

    last = {region: time_s(work[-1], region) for region in sorted(every, key=lambda one: (one.name, one.line))}
    if not last:
        return {}
    largest = max(last, key=lambda region: last[region])
    found: dict[Work, list[float]] = {}
    for region, time in last.items():
        for stalled in (False, True):
            times = found.setdefault((region if time >= least else largest, stalled), [0.0] * len(work))
            for i, part in enumerate(work):
                times[i] += part.get((leaf, (region, stalled)), 0.0)
    return {key: tuple(times) for key, times in found.items()}


def _work(own: _Own, run: SampleTrace) -> dict[tuple[int, Work], float]:
    """Return useful seconds by operation, region and whether stalled."""
    rows, region, stalled, ticks = own.operations.work
    size = len(run.read.trace.definitions.regions) + 1
    cell = (own.leaf_of[rows] * size + np.where(region >= 0, region, size - 1)) * 2 + stalled
    sums = np.bincount(cell, ticks, len(own.leaves) * size * 2) / run.read.second
    found: dict[tuple[int, Work], float] = {}
    for at in np.flatnonzero(sums).tolist():
        leaf, number = divmod(at // 2, size)
        found[leaf, (_region(run, number if number < size - 1 else -1), at % 2 == 1)] = float(sums[at])
    return found
