"""A thread graph flattened for given parameters and N: arrays of events, shared by all threads that do the same.

Event i of a thread has a kind, an argument (a loop, barrier, lock, class or channel), a cost and the time of the
segments until event i + 1. Only times that depend on the pass of a loop are computed during the traversal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from scalegraph.base import expression
from scalegraph.base.errors import InputError
from scalegraph.base.units import plain
from scalegraph.predict.graph import Graph, Step, ThreadClass

# Kinds of events; those up to EXIT affect no other thread.
START: Final = 0
ENTRY: Final = 1
EXIT: Final = 2
BARRIER: Final = 3
ACQUIRE: Final = 4
RELEASE: Final = 5
FORK: Final = 6
JOIN: Final = 7
SEND: Final = 8
RECEIVE: Final = 9
END: Final = 10
KIND_NAMES: Final = (
    "start",
    "loop entry",
    "loop exit",
    "barrier",
    "acquire",
    "release",
    "fork",
    "join",
    "send",
    "receive",
    "end",
)

MOST_THREADS: Final = 1_000_000
Passes = Sequence[float]  # completed passes of each loop
Later = Callable[[Passes], float]  # a value that depends on them


@dataclass(frozen=True)
class Segment:
    """A segment of a class: its position in the code, and its share of that event's time."""

    name: str
    place: str
    event: int
    time_s: float | Later


@dataclass
class Code:
    """Events of threads that do the same, and the time after each. *loops*: (first event, iterations) of each loop."""

    name: str
    kinds: list[int] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)  # s until the next event, if constant
    later: list[tuple[Later, ...]] = field(default_factory=list)  # additional time that depends on the pass
    values: list[tuple[float | Later, float]] = field(default_factory=list)  # of a message: receiver, transit in s
    loops: list[tuple[int, int, float | Later]] = field(default_factory=list)  # first and last event, iterations
    segments: list[Segment] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Cluster:
    """Threads of a class: the code of each, and how many threads each stands for."""

    name: str
    codes: tuple[Code, ...]
    weights: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of threads, including those that others stand for."""
        return sum(self.weights)


@dataclass(frozen=True)
class Barrier:
    """A barrier with its number of members; *shared*: among threads of several classes rather than one team."""

    name: str
    members: int
    shared: bool


@dataclass(frozen=True)
class Instance:
    """A fully instantiated graph. *first*: the clusters whose threads start at time 0."""

    clusters: tuple[Cluster, ...]
    first: tuple[int, ...]
    barriers: tuple[Barrier, ...]
    locks: tuple[str, ...]
    channels: tuple[str, ...]


def instantiate(graph: Graph, values: Mapping[str, float], processors: int) -> Instance:
    """Return *graph* with *values* of its parameters on N = *processors*.

    Raises `InputError` if a parameter is missing, or a count or time is negative or not a number.
    """
    missing = [name for name in graph.parameters if name not in values]
    if missing:
        raise InputError(f"the thread graph needs a value of '{missing[0]}'")
    known = {name: float(values[name]) for name in graph.parameters} | {"N": float(processors)}
    try:
        return _Building(graph, known).build()
    except ValueError as error:
        raise InputError(f"thread graph: {error}") from error


class _Building:
    """Instantiation of one graph."""

    def __init__(self, graph: Graph, values: Mapping[str, float]) -> None:
        self.graph = graph
        self.values = dict(values)
        self.sizes = {one.name: self._whole(one.count, f"threads of '{one.name}'") for one in graph.classes}
        if sum(self.sizes.values()) > MOST_THREADS:
            raise ValueError(f"at most {MOST_THREADS} threads were expected, got {plain(sum(self.sizes.values()))}")
        users: dict[str, list[str]] = {}
        self.locks: dict[str, int] = {}
        self.channels: dict[str, int] = {}
        for one in graph.classes:
            for step in graph.walk(one.steps):
                if step.kind == "barrier" and one.name not in users.setdefault(step.name, []):
                    users[step.name].append(one.name)
                if step.kind in ("critical", "acquire", "release"):
                    self.locks.setdefault(step.name, len(self.locks))
                if step.kind in ("send", "receive"):
                    self.channels.setdefault(step.name, len(self.channels))
        self.barriers = [
            Barrier(name, sum(self.sizes[user] for user in found), len(found) > 1) for name, found in users.items()
        ]
        self.barrier_numbers = {barrier.name: number for number, barrier in enumerate(self.barriers)}
        self.class_numbers = {one.name: number for number, one in enumerate(graph.classes)}

    def build(self) -> Instance:
        clusters = tuple(self._cluster(one) for one in self.graph.classes)
        forked = self.graph.forked
        first = tuple(number for name, number in self.class_numbers.items() if name not in forked)
        return Instance(clusters, first, tuple(self.barriers), tuple(self.locks), tuple(self.channels))

    def _whole(self, formula: str, what: str) -> int:
        found = expression.parse(formula, frozenset(self.values))(self.values)
        if found < 0 or not float(found).is_integer():
            raise ValueError(f"{what}: '{formula}' is {plain(found)}; a whole number was expected")
        return int(found)

    def _cluster(self, one: ThreadClass) -> Cluster:
        size = self.sizes[one.name]
        steps = list(self.graph.walk(one.steps))
        if one.alike and size:
            return Cluster(one.name, (_Writing(self, one, 0, size).code,), (size,))
        numbered = any("thread" in text for step in steps for text in step.formulas)
        if not numbered and size:
            return Cluster(one.name, (_Writing(self, one, 0, 1).code,) * size, (1,) * size)
        return Cluster(one.name, tuple(_Writing(self, one, i, 1).code for i in range(size)), (1,) * size)


class _Writing:
    """The code of one thread. *weight*: the number of threads it stands for, whose critical sections add up."""

    def __init__(self, whole: _Building, one: ThreadClass, number: int, weight: int) -> None:
        self.whole = whole
        self.size = whole.sizes[one.name]
        self.values = whole.values | {"thread": float(number)}
        self.weight = weight
        self.code = Code(one.name)
        self.inner: dict[str, int] = {}  # enclosing loops, by name
        self._event(START, 0, "start")
        self._steps(one.steps, 1.0, 1)
        self._event(END, 0, "end")

    def _event(self, kind: int, argument: int, label: str, cost: float = 0.0) -> None:
        code = self.code
        code.kinds.append(kind)
        code.arguments.append(argument)
        code.costs.append(cost)
        code.gaps.append(0.0)
        code.later.append(())
        code.values.append((0.0, 0.0))
        code.labels.append(label)

    def _value(self, formula: str, extra: Mapping[str, float] | None = None) -> float | Later:
        """Return the value of *formula*, or a function of the enclosing loops' passes if it depends on them."""
        known = self.values | dict(extra or {})
        found = expression.parse(formula, frozenset(known) | frozenset(self.inner))
        loops = {name: slot for name, slot in self.inner.items() if name in found.names}
        if not loops:
            return found(known)
        return lambda passes: found(known | {name: passes[slot] for name, slot in loops.items()})

    def _now(self, formula: str, what: str) -> float:
        found = self._value(formula)
        if callable(found):
            raise ValueError(f"{what}: '{formula}' may not depend on the pass of a loop")  # noqa: TRY004
        return found

    def _cost(self, step: Step, name: str, members: int) -> float:
        if own := step.transit if name == "transit" else step.cost:
            return _not_negative(self._now(own, f"cost of '{step.name}'"), own)
        formula = self.whole.graph.costs.get(name, "0")
        known = self.whole.values | {"k": float(members), "bytes": 0.0}
        if step.bytes:
            known["bytes"] = self._now(step.bytes, f"bytes of '{step.name}'")
        return _not_negative(expression.parse(formula, frozenset(known))(known), formula)

    def _steps(self, steps: Sequence[Step], share: float, turns: int) -> None:
        for step in steps:
            if step.when and self._now(step.when, f"condition of '{step.name}'") == 0:
                continue
            match step.kind:
                case "segment":
                    self._segment(step, share * turns)
                case "loop":
                    self._loop(step, share, turns)
                case "branch":
                    self._steps(step.steps, share * self._now(step.share, f"share of '{step.name}'"), turns)
                case "part":
                    self._steps(self.whole.graph.inside(step), share, turns)
                case "critical":
                    lock = self.whole.locks[step.name]
                    self._event(ACQUIRE, lock, step.name, self._cost(step, "lock", self.size) * self.weight)
                    self._steps(step.steps, share, self.weight)
                    self._event(RELEASE, lock, step.name)
                case _:
                    self._communication(step)

    def _segment(self, step: Step, factor: float) -> None:
        code, found = self.code, self._value(step.time)
        last = len(code.gaps) - 1
        time: float | Later
        if callable(found):
            time = _scaled(found, factor, step.time)
            code.later[last] += (time,)
        else:
            time = factor * _not_negative(found, step.time)
            code.gaps[last] += time
        code.segments.append(Segment(step.name, step.place, last, time))

    def _loop(self, step: Step, share: float, turns: int) -> None:
        iterations = self._value(step.iterations)
        if not callable(iterations) and round(_not_negative(iterations, step.iterations)) == 0:
            return
        code, slot = self.code, len(self.code.loops)
        code.loops.append((len(code.kinds), 0, iterations))
        self._event(ENTRY, slot, step.name)
        outer = self.inner.get(step.name)
        self.inner[step.name] = slot
        self._steps(step.steps, share, turns)
        del self.inner[step.name]
        if outer is not None:
            self.inner[step.name] = outer
        code.loops[slot] = (code.loops[slot][0], len(code.kinds), iterations)
        self._event(EXIT, slot, step.name)

    def _communication(self, step: Step) -> None:
        whole = self.whole
        if step.kind in ("fork", "join", "cluster"):
            number, members = whole.class_numbers[step.name], whole.sizes[step.name]
            if step.kind != "join":
                self._event(FORK, number, step.name, self._cost(step, "fork", members))
            if step.kind != "fork":
                self._event(JOIN, number, step.name, self._cost(step, "join", members))
        elif step.kind == "barrier":
            number = whole.barrier_numbers[step.name]
            self._event(BARRIER, number, step.name, self._cost(step, "barrier", whole.barriers[number].members))
        elif step.kind in ("acquire", "release"):
            kind = ACQUIRE if step.kind == "acquire" else RELEASE
            self._event(
                kind, whole.locks[step.name], step.name, self._cost(step, "lock", self.size) * (kind == ACQUIRE)
            )
        elif step.kind == "send":
            self._event(SEND, whole.channels[step.name], step.name, self._cost(step, "send", self.size))
            self.code.values[-1] = (self._value(step.to), self._cost(step, "transit", self.size))
        else:
            self._event(RECEIVE, whole.channels[step.name], step.name, self._cost(step, "receive", self.size))


def _not_negative(value: float, formula: str) -> float:
    if value < 0:
        raise ValueError(f"'{formula}' is {plain(value)}; at least 0 was expected")
    return value


def _scaled(found: Later, factor: float, formula: str) -> Later:
    return lambda passes: factor * _not_negative(found(passes), formula)
