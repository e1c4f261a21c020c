"""A simulated machine: the validated contents of a machine file."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from scalegraph.machine.balancing import Balancing
from scalegraph.machine.checks import Inconsistent, contradictions
from scalegraph.machine.disturbance import Disturbance
from scalegraph.machine.fields import (
    Given,
    On,
    Section,
    choice,
    declared,
    given,
    milli,
    named,
    quantity,
    same,
)
from scalegraph.machine.interconnects import Interconnect
from scalegraph.machine.memory import Memory, Prefetch
from scalegraph.machine.message import Messages, Nodes
from scalegraph.machine.networks import Network
from scalegraph.machine.power import Power, Price
from scalegraph.machine.text import write
from scalegraph.machine.timing import Branches, Pipeline, Translation

MOST_PROCESSORS: Final = 16_384
_CYCLES = "cycles"


def _switch(key: str) -> tuple[Given, ...]:
    return (Given(key, lambda value, _on: int(value), 0, 1),)


def _slice_cycles(slice_us: float, on: On) -> int:
    return max(1, round(slice_us * (on.clock_hz / 1e6)))


def _cost(description: str) -> Any:
    """Declare the cost of a class of operations, passed to the runtime in thousandths of a cycle."""
    return quantity(description, _CYCLES, 0, 100_000, runtime=(Given("", milli, 0, 100_000_000),))


class Operations(Section):
    """The minimum cost of an operation of each class in cycles: the inverse of its throughput."""

    int_alu: float = _cost("Integer add, logic, shift, compare, address arithmetic.")
    int_mul: float = _cost("Integer multiply.")
    int_div: float = _cost("Integer divide.")
    load: float = _cost("Issue of a load that hits the first cache level.")
    store: float = _cost("Issue of a store that hits the first cache level.")
    branch: float = _cost("Conditional or unconditional jump.")
    call: float = _cost("Call or return.")
    fp_add: float = _cost("Floating-point add, subtract, compare, minimum, maximum.")
    fp_mul: float = _cost("Floating-point multiply.")
    fp_fma: float = _cost("Fused multiply-add.")
    fp_div: float = _cost("Floating-point divide.")
    fp_sqrt: float = _cost("Floating-point square root.")
    fp_other: float = _cost("Floating-point conversion and other operations.")


class Processor(Section):
    """The processors, all identical."""

    count: int = quantity(
        "Processors in the whole machine.",
        "processors",
        1,
        MOST_PROCESSORS,
        runtime=(Given("max_processors", same, 1, MOST_PROCESSORS),),
    )
    clock_mhz: float = quantity(
        "Processor clock; all cycles in this file are cycles of this clock.",
        "MHz",
        0.001,
        1e6,
        runtime=(Given("clock_hz", lambda mhz, _on: mhz * 1e6, 1000, 10**12, real=True),),
    )
    issue_width: int = quantity("Maximum number of operations issued per cycle.", "operations", 1, 64)
    out_of_order: bool = choice(
        "Units work in parallel, the busiest one decides, and blocks overlap; otherwise the costs of operations add "
        "up and each block takes whole cycles.",
        default=False,
        runtime=None,
    )
    memory_parallelism: float = quantity(
        "Outstanding misses per processor: if n, each stalls it for 1/n of its latency.",
        "misses",
        1,
        1000,
        default=1.0,
        runtime=(Given("memory_parallelism", milli, 1000, 1_000_000),),
    )
    turbo_cores: tuple[int, ...] = choice(
        "If the clock depends on the number of active cores per socket: upper limits of that number, ascending ..",
        default=(),
        strict=False,
        runtime=(),
    )
    turbo_clock: tuple[float, ...] = choice(
        ".. and the fraction of clock_mhz, the highest clock, for each; beyond the last limit the last one applies. "
        "Empty: the clock is always clock_mhz.",
        default=(),
        strict=False,
        runtime=(),
    )
    threads_per_core: int = quantity(
        "Hardware threads per core. If more processors are active than there are cores, each is a thread with its "
        "share of a core: issue slots, units, window, outstanding misses and private caches.",
        "threads",
        1,
        2,
        default=1,
        runtime=(),
    )
    lockstep: bool = choice(
        "All processors execute one instruction stream (SIMD): between two communications, each line takes all of "
        "them as long as the processor that executes it most often.",
        default=False,
        runtime=None,
    )
    operation_cycles: Operations = Field(description="Cost of each class of operations.")
    pipeline: Pipeline = Field(default_factory=Pipeline, description="How operations overlap, if known.")


_SIZE = (Given("size_bytes", lambda kib, _on: kib * 1024, 64, 2**40),)


class Cache(Section):
    """One cache level."""

    name: str = choice("Name of the level.", min_length=1, max_length=40, pattern=r"^[A-Za-z0-9_-]+$")
    size_kib: int = quantity("Capacity of one instance.", "KiB", 1, 2**30, runtime=_SIZE)
    line_bytes: int = quantity("Line size: what a miss fetches; a power of two.", "bytes", 8, 65_536)
    ways: int = quantity("Associativity: places where a line can be.", "", 1, 256)
    hit_cycles: int = quantity(
        "Time to search this level after a miss in the previous one; 0 if operation_cycles include it.",
        _CYCLES,
        0,
        100_000,
    )
    shared_by: int = quantity("Processors that share one instance; 1: a private cache.", "processors", 1, 4096)
    replacement: Literal["lru", "tree_plru", "random", "fifo"] = choice(
        "Which line of a full set is evicted. lru: the least recently used; tree_plru: an approximation of it by a "
        "tree of bits; random: any, the same in every run; fifo: the oldest.",
        default="lru",
        runtime=named("replacement", "replacement", "REPLACE"),
    )
    remote_only: bool = choice(
        "A shared level keeps only lines of remote memory (network cache).", default=False, runtime=None
    )
    victim: bool = choice(
        "A shared level keeps the victims of the private ones, and hands over a line wanted by only one processor; "
        "otherwise it is inclusive: it has all their lines, and they lose what it evicts.",
        default=True,
        runtime=None,
    )


class Coherence(Section):
    """The coherence protocol of the caches."""

    kind: Literal["ring_snoop", "full_map", "limited_broadcast", "limited_no_broadcast", "linked_list", "snoop"] = (
        choice(
            "ring_snoop: attraction memory, requests pass all caches of a ring; full_map: directory at a line's home; "
            "limited_broadcast: a directory that tracks some holders and broadcasts if there are more; "
            "limited_no_broadcast: one that never allows more; linked_list: a directory in each hypernode and a list "
            "of hypernodes; snoop: all caches watch a bus.",
            runtime=named("kind", "coherence", "COH"),
        )
    )
    line_bytes: int = quantity("Unit of coherence and of transfer; a power of two.", "bytes", 8, 65_536)
    exclusive_state: bool = choice(
        "A sole reader gets the line writable (MESI), otherwise read-only (MSI).", runtime=_switch("exclusive")
    )
    owned_state: bool = choice(
        "A dirty line that others read stays with its owner and is not written back (MOESI).",
        default=False,
        runtime=_switch("owned"),
    )
    pointers: int = quantity("Holders of a line that a limited directory can track.", "processors", 1, 4096, default=4)


class Synchronisation(Section):
    """How synchronisation primitives are implemented; their memory references are simulated in addition."""

    barrier: Literal["central", "tree", "hardware", "simple", "library"] = choice(
        "simple: a counter under a test-and-set lock, watched by all waiting threads; central: one counter and one "
        "flag; tree: counters in a tree; hardware: a wire; library: as in the program's OpenMP library, which then "
        "also starts teams in its own way.",
        runtime=named("barrier", "barrier_kind", "BARRIER"),
    )
    barrier_radix: int = quantity("Arrivals per counter of a tree barrier.", "processors", 2, 4096)
    barrier_hardware_cycles: int = quantity(
        "Hardware barrier: from the last arrival to the release.", _CYCLES, 0, 1_000_000
    )
    lock: Literal["test_and_set", "ticket", "queue", "library"] = choice(
        "Kind of lock; library: as in the program's OpenMP library.",
        runtime=named("lock", "lock_kind", "LOCK"),
    )
    atomic_cycles: int = quantity("An atomic read-modify-write in the processor.", _CYCLES, 0, 1_000_000)
    fork_cycles: int = quantity("Instructions of the master to start a team.", _CYCLES, 0, 100_000_000)
    fork_per_processor_cycles: int = quantity("In addition, for each member of the team.", _CYCLES, 0, 100_000_000)
    create_cycles: int = quantity(
        "In addition, for each newly created thread of the team: a team keeps its threads for the next region.",
        _CYCLES,
        0,
        100_000_000,
        default=0,
    )
    alone_cycles: int = quantity(
        "Instructions of a thread to start and end a region without a team.", _CYCLES, 0, 100_000_000, default=0
    )
    schedule_cycles: int = quantity("Instructions to compute the next chunk of a loop.", _CYCLES, 0, 1_000_000)
    lock_cycles: int = quantity("Instructions per acquire or release.", _CYCLES, 0, 1_000_000)
    barrier_cycles: int = quantity("Instructions per arrival at a barrier.", _CYCLES, 0, 1_000_000)
    task_cycles: int = quantity("Instructions to create or dispatch a task.", _CYCLES, 0, 1_000_000)


class Threads(Section):
    """The operating system's threads: their cost, and how they share processors."""

    thread_cycles: int = quantity(
        "The system's work to create or end a thread.", _CYCLES, 0, 100_000_000, default=10_000
    )
    switch_cycles: int = quantity(
        "A context switch: the system's work when a processor runs a different thread than before.",
        _CYCLES,
        0,
        100_000_000,
        default=2_000,
    )
    call_cycles: int = quantity(
        "A system call that wakes nobody, as an OpenMP library makes at the end of a barrier and with a new task.",
        _CYCLES,
        0,
        100_000_000,
        default=0,
    )
    slice_us: float = quantity(
        "How long a thread keeps its processor while others wait for it.",
        "us",
        0.001,
        1e9,
        default=10_000.0,
        runtime=(Given("slice_cycles", _slice_cycles, 1, 10**12),),
    )


class Monitor(Section):
    """The cost of a monitor that observes the program at the begin and end of regions (scale-graph.txt 4.1).

    With ``none`` a probe costs nothing: the simulator records by itself.
    """

    kind: Literal["none", "software", "hardware"] = choice(
        "none: no monitoring; software: inserted instructions read the clock and keep records; hardware: processor "
        "counters count on their own and are read.",
        default="none",
        runtime=(Given("monitor_cycles", lambda _kind, on: on.section.cycles, 0, 1_000_000),),
    )
    probe_cycles: int = quantity(
        "Software monitoring: a probe at the start or end of a region.",
        _CYCLES,
        0,
        1_000_000,
        default=100,
        runtime=(),
    )
    counter_cycles: int = quantity(
        "Hardware monitoring: reading the counters at the start or end of a region.",
        _CYCLES,
        0,
        1_000_000,
        default=10,
        runtime=(),
    )

    @property
    def cycles(self) -> int:
        """Cycles that a probe takes from the observed processor."""
        return {"none": 0, "software": self.probe_cycles, "hardware": self.counter_cycles}[self.kind]


class Machine(Section):
    """A whole machine. Contains only physical quantities; none is fitted to match a program's result."""

    name: str = choice("Short name.", min_length=1, max_length=40, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: str = choice("Display name.", min_length=1, max_length=120)
    summary: str = choice("Description, including simplifications.", max_length=4000)
    processor: Processor
    cache: tuple[Cache, ...] = Field(
        min_length=1, max_length=4, strict=False, description="Cache levels, starting next to the processor."
    )
    coherence: Coherence
    network: Network
    memory: Memory
    synchronisation: Synchronisation
    branches: Branches = Field(default_factory=Branches, description="Branch prediction.")
    translation: Translation = Field(default_factory=Translation, description="Address translation.")
    balancing: Balancing = Field(
        default_factory=Balancing, description="How the operating system moves pages to the processors that use them."
    )
    threads: Threads = Field(default_factory=Threads, description="The operating system's threads.")
    prefetch: Prefetch = Field(default_factory=Prefetch, description="The prefetcher.")
    monitor: Monitor = Field(default_factory=Monitor, description="Monitoring of programs, and its cost.")
    disturbance: Disturbance = Field(
        default_factory=Disturbance, description="System noise: what interrupts the program, and how often."
    )
    nodes: Nodes = Field(default_factory=Nodes, description="The nodes of a machine with an interconnect.")
    interconnect: Interconnect | None = Field(
        default=None, description="The interconnect between nodes; without one the machine is a single node."
    )
    messages: Messages = Field(default_factory=Messages, description="Cost of messages between processes.")
    power: Power | None = Field(default=None, description="Power of the machine, if a source states it.")
    price: Price | None = Field(default=None, description="Price of the machine, if a source states it.")
    origin: dict[str, str] = Field(default_factory=dict, description="Origin of each value, by dotted key.")

    @model_validator(mode="after")
    def _consistent(self) -> Machine:
        found = contradictions(self)
        if found:
            raise Inconsistent(found)
        return self

    @property
    def max_processors(self) -> int:
        """Maximum number of processors of a run."""
        return self.processor.count

    @property
    def node_processors(self) -> int:
        """Processors that share memory: those of a node, or all if the machine is one node."""
        return self.nodes.processors or self.processor.count

    @property
    def capacity_bytes(self) -> float | None:
        """Bytes of memory per processor for the data of a problem; None if the file does not state it."""
        own, node = self.memory.capacity_kib * 2**10, self.nodes.memory_mib * 2**20
        return float(own) if own else node / self.node_processors if node else None

    def refusal(self, processors: int, processes: int = 1) -> str:
        """Return a sentence saying why *processes* with *processors* in all cannot run here; empty if they can.

        The threads of a process share the memory of one node.
        """
        if not 1 <= processors <= self.max_processors:
            return f"machine '{self.name}' has 1 to {self.max_processors} processors"
        threads = -(-processors // processes)
        if threads <= self.node_processors:
            if processors <= self.node_processors or self.node_processors % threads == 0:
                return ""
            return f"{threads} threads a process: no divisor of the {self.node_processors} processors of a node"
        each = "1 processor" if self.node_processors == 1 else f"{self.node_processors} processors"
        return (
            f"the threads of a process share one node, and a node of machine '{self.name}' has {each}; use an MPI "
            "program, or a machine with shared memory (scalegraph machines lists them)"
        )

    @property
    def clock_hz(self) -> float:
        """Clock rate in Hz."""
        return self.processor.clock_mhz * 1e6

    def to_toml(self) -> str:
        """Return the machine as a file that loads to an equal machine, with origins as comments."""
        return write(self, self.origin)

    def runtime_config(self) -> dict[str, str]:
        """Return the machine part of a run's configuration file, keys and values as text (see `sg_config.h`)."""
        config: dict[str, int | float | str] = {"levels": len(self.cache), "network.kind": self.network.kind}
        for path, prefix in SECTIONS.items():
            section = attrgetter(path)(self)
            if path in OPTIONAL and section == type(section)():
                continue  # same as the runtime's defaults, so that runs older than these tables keep their identity
            found = self._given(section)
            unchanged = [
                name
                for name in LATER.get(path, ())
                if getattr(section, name) == type(section).model_fields[name].default
            ]
            for name, one in declared(type(section)):
                if name in unchanged:
                    del found[one.key]
            config |= {f"{prefix}{key}": value for key, value in found.items()}
        for number, level in enumerate(self.cache):
            found = self._given(level)
            for name in LATER_OF_LEVELS:
                if getattr(level, name) == Cache.model_fields[name].default:
                    del found[name]
            config |= {f"level.{number}.{key}": value for key, value in found.items()}
        if self.interconnect is not None:
            given_to = self.interconnect.runtime(self.clock_hz)
            config |= {"interconnect.kind": self.interconnect.kind}
            config |= {f"interconnect.{key}": value for key, value in given_to.items()}
        if self.nodes.speeds:
            config["nodes.speeds"] = ",".join(str(round(1000 * speed)) for speed in self.nodes.speeds)
        return {f"machine.{key}": str(value) for key, value in config.items()}

    @property
    def times_blocks(self) -> bool:
        """Whether the runtime needs more than the operations of blocks: their times, or how they are entered."""
        return self.processor.pipeline.is_given or self.branches.penalty_cycles > 0

    def pipeline_config(self) -> dict[str, str]:
        """Return the values that determine block costs before a run starts; empty for a machine without a pipeline."""
        pipeline = self.processor.pipeline
        return {f"pipeline.{key}": str(value) for key, value in pipeline} if pipeline.is_given else {}

    def _given(self, section: Section) -> dict[str, Any]:
        return given(section, self.clock_hz, self.coherence.line_bytes)


# Sections of the machine, and the prefixes of their keys in the runtime's configuration; cache levels are numbered.
SECTIONS: Final = {
    "processor": "",
    "processor.operation_cycles": "op.",
    "processor.pipeline": "",
    "coherence": "coherence.",
    "network": "network.",
    "memory": "",
    "prefetch": "prefetch.",
    "synchronisation": "",
    "threads": "",
    "monitor": "",
    "disturbance": "",
    "branches": "",
    "translation": "",
    "balancing": "",
    "nodes": "",
    "messages": "",
}
# Fields added when studies already existed. Their defaults mean the old behaviour and equal the runtime's defaults;
# they are omitted, so that old runs keep their identity.
LATER: Final[Mapping[str, tuple[str, ...]]] = {
    "prefetch": ("under_way", "next_page"),
    "synchronisation": ("alone_cycles",),
    "threads": ("call_cycles",),
    "memory": ("core_read_gb_s", "core_write_gb_s", "write_allocate"),
    "messages": ("near_cycles", "near_eager_bytes", "near_lines", "near_single_bytes", "near_single_mb_s"),
}
LATER_OF_LEVELS: Final = ("victim",)
OPTIONAL: Final = (  # the runtime has defaults for them
    "processor.pipeline",
    "disturbance",
    "branches",
    "translation",
    "balancing",
    "nodes",
    "messages",
)
