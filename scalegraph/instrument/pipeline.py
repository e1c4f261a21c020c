"""The time of machine code on an out-of-order processor, from a machine's measured values.

The model executes a path of instructions, such as a loop's body, repeatedly. Instructions issue in order, up to the
machine's issue width per cycle, while there is room in the window (reorder buffer) and in the scheduler (instructions
waiting for operands). Each begins when its operands are ready and a unit of its class is free, and ends after the
latency of its class; a load waits for its address, and for the value of an earlier store to the same place. Fetching
takes extra time from one taken jump to the next, and from one code line to the next. Instructions retire in order, and
the time of an instruction is that from the retirement of the one before to its own, so that the times of a path add up.
Cache misses, branch mispredictions and synchronisation are not part of the model: the runtime charges them.

llvm-mca and OSACA use the same few rules, with vendors' tables of processor units; here units and latencies are per
operation class, as measured by `scalegraph machines calibrate`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from scalegraph.instrument.core.library import core_of, executed, packed
from scalegraph.instrument.effects import Place
from scalegraph.machine.model import Processor


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction of a path.

    *slots*: issue slots that it takes, 0 if it only serves the instrumentation or costs nothing; *work*: its operation
    classes, without loads and stores. *copies*, *selects*, *compares*: see `effects.Effects`. *clobbers*: registers
    with unknown content after it, because a call does not preserve them. *taken*: whether it is a taken jump; *far*:
    into a library; *status*: whether it reads the floating-point status; *line*: number of its code line; 0: unknown.
    *sites*: return addresses of the hooks that report its memory references.
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
        """The step in the form that the C model reads."""
        if not self._packed:
            object.__setattr__(self, "_packed", packed(self))
        return self._packed

    @property
    def is_vector(self) -> bool:
        """Whether it writes a vector register."""
        return any(register[0] == "v" for register in self.writes)


class Body(tuple[Step, ...]):  # noqa: SLOT001 (a dictionary keeps what is cached)
    """Steps that are executed as part of many paths."""

    @cached_property
    def words(self) -> bytes:
        """The steps in the form that the C model reads."""
        return b"".join([step.packed for step in self])

    @cached_property
    def live(self) -> int:
        """The number of steps that take slots."""
        return sum(step.slots > 0 for step in self)


Origins = dict[int, float]
"""Loads that a value depends on, by the sites of their hooks: cycles from the arrival of the data to the value."""


@dataclass(frozen=True)
class Round:
    """Result of executing a path round a loop repeatedly.

    *cycles*: of each body; *loads*: for each reference that a hook reports, what its address depends on, in cycles
    until the first cache level would have answered; *branches*: what the jump at the end of each body depends on;
    *early*: cycles from the result of each body's last instruction, its jump, to its retirement; *ahead*: cycles until
    the window behind an instruction is full; *recurs*: for a load whose value reaches itself in the next iteration
    through a store, the cycles of that chain.
    """

    cycles: list[float]
    loads: dict[int, Origins]
    branches: list[Origins]
    early: list[float]
    ahead: float
    recurs: dict[int, float] = field(default_factory=dict)


def ahead_of(ahead: float, cycles: float, recurs: float) -> float:
    """Return how many cycles of *ahead*, the content of its window, a loop can execute while it waits for a load.

    An iteration takes *cycles*, and the chain from the load to itself *recurs* of them: only the rest proceeds.
    """
    return ahead * max(0.0, 1 - recurs / cycles) if cycles > 0 else ahead


def times(bodies: Sequence[Sequence[Step]], processor: Processor, *, enters: bool = False) -> list[float]:
    """Return the cycles of each of *bodies*, from `execute`."""
    return execute(bodies, processor, enters=enters).cycles


def execute(bodies: Sequence[Sequence[Step]], processor: Processor, *, enters: bool = False) -> Round:
    """Execute the concatenation of *bodies* repeatedly.

    The first rounds only fill the window; times are means over as many more. *enters*: registers are new in each round,
    as in a function that is called again.

    Raises `BuildError` if the model does not compile on this computer.
    """
    known = [body if isinstance(body, Body) else Body(body) for body in bodies]
    live = sum(body.live for body in known)
    core = core_of(processor)
    if live == 0:
        return Round([0.0] * len(bodies), {}, [{} for _ in bodies], [0.0] * len(bodies), core.window * core.slot)
    rounds = max(2, min(40, -(-2 * core.window // live)))
    words = b"".join([body.words for body in known])
    numbers = executed(core, words, [len(body) for body in known], rounds, enters=enters)
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
