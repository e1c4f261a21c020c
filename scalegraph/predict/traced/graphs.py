"""The thread graph of ranks: a class for each, with the segments, messages and loops of its pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from scalegraph.predict.counts import CannotTellError, Count, Sample, fit_count
from scalegraph.predict.derive import REST
from scalegraph.predict.forms import MOST_DEGREE, best_form
from scalegraph.predict.graph import Graph, Step, ThreadClass
from scalegraph.predict.lower import Estimate, Growth, SegmentTime, fit_times, ranges
from scalegraph.predict.regions import Values
from scalegraph.predict.traced.costs import FROM_ROOT, TO_ROOT, Line, TracedCosts
from scalegraph.predict.traced.fold import Leaf, Node
from scalegraph.predict.traced.operations import COLLECTIVE, KIND_WORDS, RECEIVE, SEND
from scalegraph.predict.traced.patterns import Pattern, Series, Work
from scalegraph.traces.kinds import Operation
from scalegraph.traces.model import Region

Places = Sequence[tuple[Values, int]]
_LEAST = 1e-12  # seconds that count as none
_BLOCK = 2  # passes by which a rank's block may differ from its share
_ROUNDED = 2  # up to this many samples, a rounding step looks like growth
_CONFIRMED = 2  # samples beyond the unknowns needed to confirm an inexact count


@dataclass(frozen=True, eq=False)
class LeafModel:
    """How an operation grows: its total passes and bytes, and useful seconds by region.

    *more*: by region, additional stalls per second of computation that a sample has on smaller caches.
    """

    series: Series
    passes: Count | Dealt
    bytes: Count | Dealt | SegmentTime | None
    work: Mapping[Work, SegmentTime]
    more: Mapping[Region, float] = field(default_factory=dict)

    def work_s(self, values: Values, processors: int) -> dict[Work, Estimate]:
        """Return useful seconds by region, busy and stalled, with their intervals."""
        found = {key: time.at(values, processors) for key, time in self.work.items()}
        for region, each in self.more.items():
            if (busy := found.get((region, False))) is not None:
                found[region, True] = found.get((region, True), Estimate(0.0, 0.0, 0.0)).plus(busy, each)
        return found


@dataclass(frozen=True, eq=False)
class RankModel:
    """How the work of the ranks *members* grows; *loops*: total passes, in program order."""

    members: tuple[int, ...]
    nodes: tuple[Node, ...]
    leaves: tuple[LeafModel, ...]
    loops: tuple[Count | Dealt, ...]

    def work_s(self, values: Values, processors: int) -> dict[Work, Estimate]:
        """Return useful seconds of a member by region, busy and stalled, with their intervals."""
        found: dict[Work, Estimate] = {}
        for leaf in self.leaves:
            for key, one in leaf.work_s(values, processors).items():
                found[key] = found.get(key, Estimate(0.0, 0.0, 0.0)).plus(one)
        return found

    def with_stalls(self, more: Mapping[Region, float]) -> RankModel:
        """Return the same with additional stalls by region, per second of computation."""
        return replace(self, leaves=tuple(replace(leaf, more=more) for leaf in self.leaves))

    @property
    def regions(self) -> set[Region]:
        """The regions with any time."""
        return {region for leaf in self.leaves for region, _ in leaf.work}


def rank_model(pattern: Pattern, places: Places, varied: tuple[str, ...]) -> RankModel:
    """Return how *pattern* grows with the parameters of the sample runs at *places*.

    Raises `CannotTellError` with a sentence if the samples do not determine how often an operation happens.
    """
    leaves = tuple(_leaf(series, places, varied) for series in pattern.leaves)
    loops = tuple(_count(passes, places, varied, "a pass of the loop around messages") for passes in pattern.loops)
    return RankModel(pattern.members, pattern.nodes, leaves, loops)


def _leaf(series: Series, places: Places, varied: tuple[str, ...]) -> LeafModel:
    what = f"'{KIND_WORDS[series.symbol[0]]}' in {series.region.name}"
    size: Count | Dealt | SegmentTime | None = None
    if any(series.bytes):
        try:
            size = _count(series.bytes, places, varied, what)
        except CannotTellError:
            size = _fitted(series.bytes, places, varied)
    work: dict[Work, SegmentTime] = {}
    for (region, stalled), times in series.work.items():
        busy = series.work.get((region, False), times)
        if max(times) > _LEAST:
            known = busy if any(busy) else times
            grown = best_form(places, known, varied, divided=len(places) > _ROUNDED).terms()
            work[region, stalled] = _stalls(grown, times, places) if stalled else fit_times(grown, places, times)
    return LeafModel(series, _count(series.passes, places, varied, what), size, work)


@dataclass(frozen=True, eq=False)
class Dealt:
    """A count of something distributed over the ranks in an unknown way.

    The bounds of a rank's block are rounded, and its own index may be skipped, so each of its loops may be off by 2
    passes from the fit in every sample run.
    """

    fit: SegmentTime

    def __call__(self, values: Values, processors: int) -> float:
        """Return the count before rounding."""
        return self.fit.at(values, processors).time_s


def _count(counts: Sequence[int], places: Places, varied: tuple[str, ...], what: str) -> Count | Dealt:
    known = [Sample(values, n, count) for (values, n), count in zip(places, counts, strict=True)]
    try:
        return fit_count(known)
    except CannotTellError as error:
        if (dealt := _dealt(counts, places, varied)) is not None:
            return dealt
        raise CannotTellError(f"how often there is {what}: {error}") from error


def _dealt(counts: Sequence[int], places: Places, varied: tuple[str, ...]) -> Dealt | None:
    """Return the form of lowest degree that is off by at most two passes per loop; None if there is none."""
    for degree in range(1, MOST_DEGREE + 1):
        room = [_BLOCK * degree * max(1, count) ** ((degree - 1) / degree) for count in counts]
        form = best_form(places, counts, varied, divided=True, least=degree, most=degree)
        fit = fit_times(form.terms(), places, counts)
        if len(places) - sum(map(bool, fit.coefficients)) < _CONFIRMED:
            return None
        off = [abs(fit.at(values, n).time_s - count) for (values, n), count in zip(places, counts, strict=True)]
        if all(one <= most for one, most in zip(off, room, strict=True)):
            return Dealt(fit)
    return None


def _stalls(grown: Sequence[Growth], times: Sequence[float], places: Places) -> SegmentTime:
    """Return how stalls grow: like the busy time (*grown*), fitted to runs in the memory level of the largest one.

    If that is a single run, stalls are proportional to the work (2.3).
    """
    last = ranges(times, [grown[0].at(values, n) for values, n in places])[-1]
    return fit_times(grown, [places[i] for i in last], [times[i] for i in last])


def _fitted(times: Sequence[float], places: Places, varied: tuple[str, ...]) -> SegmentTime:
    return fit_times(best_form(places, times, varied, divided=True).terms(), places, times)


@dataclass(frozen=True, eq=False)
class Setting:
    """Common to all ranks of a graph: *members*: locations by communicator, *names* of all locations."""

    values: Values
    processors: int
    costs: TracedCosts
    members: Mapping[int, Sequence[int]]
    names: Sequence[str]

    def whole(self, count: Count | Dealt) -> int:
        """Return a count; raise `CannotTellError` if it is not determined."""
        return round(count(self.values, self.processors))


def graph_of(models: Sequence[RankModel], setting: Setting, rest_s: float = 0.0) -> Graph:
    """Return the graph with times in seconds as numbers; *rest_s*: unaccounted time of all ranks.

    Raises `CannotTellError` if a count is not determined.
    """
    rest = [Step(segment=REST, time=repr(rest_s))] if rest_s > 0 else []
    classes = {
        number: ThreadClass(
            name=setting.names[number],
            steps=(*rest, *_Writing(model, setting, number).steps(model.nodes, 1)),
        )
        for model in models
        for number in model.members
    }
    return Graph.model_validate({"class": tuple(classes[number] for number in sorted(classes))})


class _Writing:
    """The steps of the rank at location *number*."""

    def __init__(self, model: RankModel, setting: Setting, number: int) -> None:
        self.model = model
        self.setting = setting
        self.number = number
        self.leaf = self.loop = 0

    def steps(self, nodes: Sequence[Node], around: int) -> list[Step]:
        """Return the steps of *nodes*, whose enclosing loop has *around* passes in all."""
        found: list[Step] = []
        for node in nodes:
            if isinstance(node, Leaf):
                own = self.model.leaves[self.leaf]
                self.leaf += 1
                passes = self.setting.whole(own.passes)
                inside = self._leaf(own, passes) if passes else []
            else:
                passes = self.setting.whole(self.model.loops[self.loop])
                self.loop += 1
                inside = self.steps(node.body, passes)
            times = round(passes / around) if around else 0
            if times == 1:
                found += inside
            elif times:
                name = f"loop {self.loop}" if inside[1:] else inside[0].name
                found.append(Step(loop=name, iterations=str(times), steps=tuple(inside)))
        return found

    def _leaf(self, own: LeafModel, passes: int) -> list[Step]:
        """Return an operation and the segments before it, for one of its *passes*."""
        setting = self.setting
        found = []
        by_region: dict[Region, float] = {}
        for (region, _), time in own.work_s(setting.values, setting.processors).items():
            by_region[region] = by_region.get(region, 0.0) + time.time_s
        for region, total in by_region.items():
            found.append(Step(segment=region.name, time=repr(total / passes), place=_said(region)))
        kind, partner, operation, group, _ = own.series.symbol
        size, place = self._bytes(own) / passes, _said(own.series.region)
        if kind == COLLECTIVE:
            return found + self._collective(operation, group, partner, size, place)
        other = (self.number + partner) % len(setting.names)
        costs = setting.costs
        if kind == SEND:
            found.append(self._send("", other, costs.send.at(size), costs.transit.at(size), place))
        elif kind == RECEIVE:
            found.append(self._receive("", other, costs.receive.at(size), place))
        return found

    def _bytes(self, own: LeafModel) -> float:
        setting = self.setting
        if isinstance(own.bytes, SegmentTime):
            return own.bytes.at(setting.values, setting.processors).time_s
        return float(own.bytes(setting.values, setting.processors)) if own.bytes is not None else 0.0

    def _send(self, what: str, to: int, cost: float, transit: float, place: str) -> Step:
        channel = f"{what}{self.setting.names[self.number]} to {self.setting.names[to]}"
        return Step(send=channel, to="0", cost=repr(cost), transit=repr(transit), place=place)

    def _receive(self, what: str, source: int, cost: float, place: str) -> Step:
        channel = f"{what}{self.setting.names[source]} to {self.setting.names[self.number]}"
        return Step(receive=channel, cost=repr(cost), place=place)

    def _collective(self, operation: int, group: int, root: int, size: float, place: str) -> list[Step]:
        """Return a collective operation: a barrier, or messages to or from its root."""
        costs = self.setting.costs
        name = f"{Operation(operation).name.lower().replace('_', ' ')} {group}: "
        whole = costs.collective.get((operation, group), Line()).at(size)
        alone = costs.own.get((operation, group), Line()).at(size)
        others = [one for one in self.setting.members[group] if one != root]
        if operation not in (*FROM_ROOT, *TO_ROOT) or root < 0:
            return [Step(barrier=name.removesuffix(": "), cost=repr(whole), place=place)]
        if operation in FROM_ROOT:
            if self.number != root:
                return [self._receive(name, root, 0.0, place)]
            shares = [alone, *(0.0 for _ in others)]
            return [self._send(name, to, shares[i], whole, place) for i, to in enumerate(others)]
        if self.number != root:
            return [self._send(name, root, alone, 0.0, place)]
        shares = [*(0.0 for _ in others[1:]), whole]
        return [self._receive(name, source, shares[i], place) for i, source in enumerate(others)]


def _said(region: Region) -> str:
    return f"{region.file}:{region.line}" if region.line else ""
