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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scalegraph.instrument.core.library import core_of, executed, packed
from scalegraph.instrument.effects import Place
from scalegraph.machine.model import Processor


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction of a path.

    *slots*: places that it takes where instructions are issued, 0 for what only serves the instrumentation, or
    costs nothing; *work*: its classes of operations, without loads and stores. *copies*, *selects*, *compares*: see
    `effects.Effects`. *clobbers*: registers of which nothing is known after it, because a call does not keep them.
    *taken*: whether it is a jump behind which control goes on elsewhere; *far*: into a library; *status*: whether it
    reads the status of floating-point operations; *line*: number of the line of code that it is in; 0: not known.
    *sites*: return addresses of the hooks that report its references to memory.
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
    far: bool = False
    status: bool = False
    line: int = 0
    sites: tuple[int, ...] = ()
    _packed: bytes = field(default=b"", init=False, repr=False, compare=False)

    @property
    def packed(self) -> bytes:
        """The step as the model in C reads it."""
        if not self._packed:
            object.__setattr__(self, "_packed", packed(self))
        return self._packed

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


def times(bodies: Sequence[Sequence[Step]], processor: Processor, *, enters: bool = False) -> list[float]:
    """Return the cycles that each of *bodies* takes, as `execute` finds them."""
    return execute(bodies, processor, enters=enters).cycles


def execute(bodies: Sequence[Sequence[Step]], processor: Processor, *, enters: bool = False) -> Round:
    """Execute the concatenation of *bodies* again and again.

    The first rounds only fill the window; times are means over as many rounds again. *enters*: between two rounds
    registers are new, as for a function that is called again.

    Raises `BuildError` where the model does not compile on this computer.
    """
    live = sum(step.slots > 0 for body in bodies for step in body)
    core = core_of(processor)
    if live == 0:
        return Round([0.0] * len(bodies), {}, [{} for _ in bodies], [0.0] * len(bodies), core.window * core.slot)
    rounds = max(2, min(40, -(-2 * core.window // live)))
    words = b"".join(step.packed for body in bodies for step in body)
    numbers = executed(core, words, [len(body) for body in bodies], rounds, enters=enters)
    cycles: list[float] = []
    early: list[float] = []
    branches: list[Origins] = []
    for _ in bodies:
        cycles.append(next(numbers) / rounds)
        early.append(next(numbers))
        branches.append(_origins(numbers))
    loads: dict[int, Origins] = {}
    recurs: dict[int, float] = {}
    for number in numbers:
        site, does_recur, after, has_address = int(number), next(numbers), next(numbers), next(numbers)
        address = _origins(numbers)
        if has_address:
            loads[site] = address
        if does_recur:
            recurs[site] = after
    ahead = core.window * sum(cycles) / live
    return Round(cycles, loads, branches, early, ahead, recurs)


def _origins(numbers: Iterator[float]) -> Origins:
    return {int(next(numbers)): next(numbers) for _ in range(int(next(numbers)))}
