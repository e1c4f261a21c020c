"""The time of machine code on an out-of-order processor, from a machine's measured values.

The model executes a path of instructions: a loop's body again and again. Instructions are taken in order, as many in a
cycle as the machine issues, while there is room in the window (reorder buffer) and in the scheduler (those that wait
for operands). Each begins when its operands are there and a unit of its class is free, and ends after the latency of
its class; a load waits for its address, and for the value of a store to the same place before it. From one taken jump
to the next, and from one line of code to the next, the fetch needs a time of its own. Instructions retire in order, and
what one takes is the time from the retirement of the one before to its own, so that the times of a path add up. Misses
of caches, mispredicted branches and synchronisation are no part of it: the runtime charges them.

The same few rules, with tables of a processor's units from its vendor, are those of llvm-mca and OSACA; here units and
latencies are classes of operations that `scalegraph machines calibrate` measures.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from scalegraph.instrument.effects import Place
from scalegraph.machine.model import Processor
from scalegraph.machine.timing import Pipeline
from scalegraph.runtime.format import OP_CLASS_NAMES

_LATENCIES: Final = frozenset(Pipeline.model_fields) & frozenset(OP_CLASS_NAMES) - {"load"}
_DIVIDER: Final = frozenset(("fp_div", "fp_sqrt"))
_MIXED: Final = frozenset(("fp_add", "fp_mul", "fp_fma"))
_EPSILON: Final = 1e-9
_ORIGINS: Final = 4  # loads that a value is known to depend on, the latest ones

Key = tuple[int, int, int, int]
"""A place in memory as the model knows it: numbers of two unknown values, a scale and an offset."""


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction of a path.

    *slots*: places that it takes where instructions are issued, 0 for what only serves the instrumentation, or
    costs nothing; *work*: its classes of operations, without loads and stores. *copies*, *selects*, *compares*: see
    `effects.Effects`. *clobbers*: registers of which nothing is known after it, because a call does not keep them.
    *taken*: whether it is a jump behind which control goes on elsewhere; *line*: number of the line of code that it is
    in; 0: not known. *sites*: return addresses of the hooks that report its references to memory.
    """

    slots: float = 1.0
    work: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    place: Place | None = None
    loads: bool = False
    stores: bool = False
    copies: tuple[str, str, int] | None = None
    clobbers: tuple[str, ...] = ()
    selects: bool = False
    compares: bool = False
    taken: bool = False
    line: int = 0
    sites: tuple[int, ...] = ()

    @property
    def is_vector(self) -> bool:
        """Whether it writes a vector register."""
        return any(register[0] == "v" for register in self.writes)


Origins = dict[int, float]
"""Loads that a value depends on, by the sites of their hooks: cycles from the arrival of the loaded to the value."""


@dataclass(frozen=True)
class Round:
    """What executing a way round again and again has shown.

    *cycles*: of each of its bodies; *loads*: what the address of each reference that a hook reports depends on, as
    cycles until the first cache level would have answered; *branches*: what the jump at the end of each body depends
    on; *early*: cycles that the result of each body's last instruction, its jump, is known before that retires;
    *ahead*: cycles until the window behind an instruction is full; *recurs*: of a load whose value reaches itself in
    the next round through a store, cycles for that.
    """

    cycles: list[float]
    loads: dict[int, Origins]
    branches: list[Origins]
    early: list[float]
    ahead: float
    recurs: dict[int, float] = field(default_factory=dict)


def ahead_of(ahead: float, cycles: float, recurs: float) -> float:
    """Return the cycles that a loop goes on behind a load that it waits for, of the *ahead* that its window holds.

    A round takes *cycles*, of which the way from the load to itself takes *recurs*: only the rest goes on.
    """
    return ahead * max(0.0, 1 - recurs / cycles) if cycles > 0 else ahead


@dataclass
class _Unit:
    """A unit that takes up one cycle's work in a cycle, at any time that is left."""

    used: dict[int, float] = field(default_factory=dict)
    full: int = 0  # before this cycle nothing is left

    def take(self, ready: float, cost: float) -> float:
        """Return when work of *cost* cycles begins that can begin at *ready*."""
        cycle = max(int(ready), self.full)
        while self.used.get(cycle, 0.0) > 1 - _EPSILON:
            cycle += 1
        begin = max(ready, float(cycle))
        while cost > _EPSILON:
            free = 1 - self.used.get(cycle, 0.0)
            part = min(free, cost)
            self.used[cycle] = 1 - free + part
            cost -= part
            cycle += 1
        while self.used.get(self.full, 0.0) > 1 - _EPSILON:
            del self.used[self.full]
            self.full += 1
        return begin


class Core:
    """A processor while it executes a path."""

    def __init__(self, processor: Processor) -> None:
        pipeline = processor.pipeline
        costs = processor.operation_cycles
        self.slot = pipeline.issue or 1 / processor.issue_width
        self.window = pipeline.window
        self.scheduler = pipeline.scheduler or pipeline.window
        self.costs = {name: float(getattr(costs, name)) for name in OP_CLASS_NAMES}
        self.latencies = {name: float(getattr(pipeline, name)) for name in _LATENCIES}
        self.load, self.mixed = pipeline.load, pipeline.fp_mixed
        self.selecting, self.comparing = pipeline.select, pipeline.compare
        if self.selecting > 0:
            self.costs["branch"] = self.selecting
        self.taken = pipeline.taken
        self.forward, self.forward_fp = pipeline.forward, pipeline.forward_fp
        self.units = {name: _Unit() for name in OP_CLASS_NAMES}
        for name in _DIVIDER:
            self.units[name] = self.units["fp_div"]
        self.both = _Unit()
        self.ready: dict[str, float] = {}
        self.stored: dict[Key, float] = {}
        self.values: dict[str, tuple[int, int]] = {}  # register -> (number of an unknown value, added constant)
        self.arguments: dict[str, tuple[int, int]] = {}  # the same of registers when the function is entered
        self.written: set[str] = set()  # registers, since then
        self.follows_loads = False  # notes what depends on which load
        self.origins: dict[str, Origins] = {}  # of registers
        self.kept: dict[Key, Origins] = {}  # of what was stored
        self.loads: dict[int, Origins] = {}
        self.recurs: dict[int, float] = {}
        self.unknown = 0
        self.issued = 0.0
        self.group = 0.0  # when the first instruction behind the last taken jump, or of a line of code, was issued
        self.follows = 0.0  # before this, what is behind that group is not issued
        self.jumped = True  # it has ended
        self.line = 0  # of code
        self.retired = 0.0
        self.done = 0.0  # when the last instruction had its result
        self.under_way: deque[float] = deque()  # retirement of those in the window
        self.waiting: list[float] = []  # when those in the scheduler begin

    def execute(self, step: Step) -> float:
        """Execute *step*; return when it has retired."""
        if step.line != self.line:
            self._end_group()
            self.line = step.line
        if step.slots > 0:
            self._issue(step.slots)
        ready = max([self.issued, *(self.ready.get(register, 0.0) for register in step.reads)])
        place = None if step.place is None else self._key(step.place)
        begun = ready
        if step.place is not None and (step.loads or step.stores):
            at = max(self.issued, self.ready.get(step.place.base, 0.0), self.ready.get(step.place.index, 0.0))
            if step.loads:
                at = self.units["load"].take(at, self.costs["load"])
                begun = at
                at = max(at + self.load, self._forwarded(step, place))
            ready = max(ready, at)
        if step.selects and self.selecting > 0:
            ready = self.units["branch"].take(ready, self.selecting)
        if step.compares and self.comparing > 0:
            ready = self.units["branch"].take(ready, self.comparing)
        done = self._work(step.work, ready)
        self.done = done[1]
        if step.slots > 0 and not step.loads:
            begun = done[0]
        if step.stores and place is not None:
            self.units["store"].take(done[1], self.costs["store"])
            self.stored[place] = done[1]
        if self.follows_loads:
            self._follow(step, place)
        self._write(step, done[1])
        if step.slots > 0:
            heapq.heappush(self.waiting, begun)
            self.retired = max(self.retired, done[1])
            self.under_way.append(self.retired)
        if step.taken:
            self._end_group()
        return self.retired

    def _end_group(self) -> None:
        """End what is fetched together, unless nothing of it has been issued yet."""
        if not self.jumped:
            self.follows, self.jumped = self.group + self.taken, True

    def _forwarded(self, step: Step, place: Key | None) -> float:
        """Return when a load has the value that a store before it wrote to the same place; 0 if none has."""
        if place is None or place not in self.stored:
            return 0.0
        return self.stored[place] + (self.forward_fp if step.is_vector else self.forward)

    def merged(self, registers: Iterable[str], more: float = 0.0) -> Origins:
        """Return what the values of *registers* together depend on, *more* cycles later."""
        found: Origins = {}
        for register in registers:
            for site, cycles in self.origins.get(register, {}).items():
                found[site] = max(found.get(site, 0.0), cycles + more)
        return found

    def _follow(self, step: Step, place: Key | None) -> None:
        """Note which loads before it *step* depends on, and which then depend on it."""
        origins = self.merged(step.reads)
        if step.loads or step.stores:
            address = self.merged((step.place.base, step.place.index), self.load) if step.place is not None else {}
            self.loads |= dict.fromkeys(step.sites, address)
            if step.loads:
                loaded = self.kept.get(place, address) if place is not None else address
                for site in step.sites[:1]:
                    if place in self.kept and site in loaded:
                        self.recurs[site] = loaded[site] + (self.forward_fp if step.is_vector else self.forward)
                origins = loaded | origins | dict.fromkeys(step.sites[:1], 0.0)
        more = sum(self.latencies.get(name, 0.0) for name in step.work)
        nearest = heapq.nsmallest(_ORIGINS, origins.items(), key=itemgetter(1, 0))
        origins = {site: cycles + more for site, cycles in nearest}
        if step.stores and place is not None:
            self.kept[place] = origins
        for register in (*step.writes, *step.clobbers):
            self.origins[register] = origins if register in step.writes else {}

    def enter(self) -> None:
        """Enter a function: its arguments have been there for long, and are those that it was called with before.

        So what one call stores and the next one loads by the same pointer is known to be the same.
        """
        self.ready.clear()
        self.origins.clear()
        self.values.clear()
        self.written.clear()

    def _issue(self, slots: float) -> None:
        """Let the next instruction in: when it is its turn, and there is room for it."""
        self.issued = max(self.issued + slots * self.slot, self.follows)
        if len(self.under_way) >= self.window:
            self.issued = max(self.issued, self.under_way.popleft())
        while self.waiting and self.waiting[0] <= self.issued:
            heapq.heappop(self.waiting)
        if len(self.waiting) >= self.scheduler:
            self.issued = max(self.issued, heapq.heappop(self.waiting))
        if self.jumped:
            self.group, self.jumped = self.issued, False

    def _work(self, work: Sequence[str], ready: float) -> tuple[float, float]:
        """Carry out operations one after the other; return when the first begins and the last has its result."""
        begin = first = ready
        for number, name in enumerate(work):
            at = self.units[name].take(begin, self.costs[name])
            if self.mixed > 0 and name in _MIXED:
                at = max(at, self.both.take(at, self.mixed))
            if number == 0:
                first = at
            begin = at + self.latencies.get(name, 0.0)
        return first, begin

    def _write(self, step: Step, done: float) -> None:
        source = self._value(step.copies[1]) if step.copies else None
        self.written.update(step.writes, step.clobbers)
        for register in step.writes:
            self.ready[register] = done
            self.values.pop(register, None)
        if step.copies and source:
            self.values[step.copies[0]] = source[0], source[1] + step.copies[2]
        for register in step.clobbers:
            self.ready[register] = done
            self.values.pop(register, None)

    def _value(self, register: str) -> tuple[int, int]:
        """Return what is known of a register: which unknown value it holds, and a constant added to that."""
        if not register:
            return 0, 0
        if register not in self.values:
            known = {} if register in self.written else self.arguments
            if register not in known:
                self.unknown += 1
                known[register] = self.unknown, 0
            self.values[register] = known[register]
        return self.values[register]

    def _key(self, place: Place) -> Key:
        base, index = self._value(place.base), self._value(place.index)
        return base[0], index[0], place.scale if place.index else 0, base[1] + place.scale * index[1] + place.offset


def times(bodies: Sequence[Sequence[Step]], processor: Processor, *, enters: bool = False) -> list[float]:
    """Return the cycles that each of *bodies* takes, as `execute` finds them."""
    return execute(bodies, processor, enters=enters).cycles


def execute(bodies: Sequence[Sequence[Step]], processor: Processor, *, enters: bool = False) -> Round:
    """Execute the concatenation of *bodies* again and again.

    The first rounds only fill the window; times are means over as many rounds again. *enters*: between two rounds
    registers are new, as for a function that is called again.
    """
    live = sum(step.slots > 0 for body in bodies for step in body)
    core = Core(processor)
    if live == 0:
        return Round([0.0] * len(bodies), {}, [{} for _ in bodies], [0.0] * len(bodies), core.window * core.slot)
    rounds = max(2, min(40, -(-2 * core.window // live)))
    taken = [0.0] * len(bodies)
    early = [0.0] * len(bodies)
    branches: list[Origins] = [{} for _ in bodies]
    for number in range(2 * rounds):
        core.follows_loads = number >= 2 * rounds - 2  # enough for what one round hands on to the next
        if enters:
            core.enter()
        for position, body in enumerate(bodies):
            before = core.retired
            for step in body:
                core.execute(step)
            if body and core.follows_loads:
                branches[position] = core.merged(body[-1].reads)
                early[position] = core.retired - core.done
            if number >= rounds:
                taken[position] += core.retired - before
    cycles = [of_body / rounds for of_body in taken]
    ahead = core.window * sum(cycles) / live
    return Round(cycles, core.loads, branches, early, ahead, core.recurs)
