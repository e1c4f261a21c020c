"""The accounts of a simulated run: a category for every cycle, and counts of events. A part of `runtime.format`."""

from __future__ import annotations

from typing import Final

# Categories of the accounting identity: every cycle of every processor falls into exactly one. (name, group, meaning).
# Groups are the four quantities of the run table.
CATEGORIES: Final[tuple[tuple[str, str, str], ...]] = (
    ("busy_int", "busy", "integer, address and logical operations"),
    ("busy_fp", "busy", "floating-point operations"),
    ("busy_mem", "busy", "issue of loads and stores that hit the first cache level"),
    ("busy_control", "busy", "branches, calls and returns"),
    ("stall_local", "memory_stall", "first-level miss served by a cache or memory of the processor's own node"),
    ("stall_remote_read", "memory_stall", "read served over the network"),
    ("stall_remote_write", "memory_stall", "write served over the network"),
    ("stall_upgrade", "memory_stall", "ownership of a line already held: other copies invalidated"),
    (
        "stall_page",
        "memory_stall",
        "page miss: first touch of a page; hint faults and moves of pages between memory nodes",
    ),
    ("stall_contention", "memory_stall", "waiting for a ring slot, link, directory or memory module"),
    ("idle_not_started", "idle", "before the processor's first parallel region"),
    ("idle_finished", "idle", "after the processor's last work until the program ends"),
    ("idle_serial", "idle", "no thread to run: between parallel regions, after a thread's end"),
    ("idle_barrier", "idle", "waiting at a barrier for the others"),
    ("idle_lock", "idle", "waiting for a lock or critical section held by another"),
    ("idle_order", "idle", "waiting for its turn: ordered, single copyprivate, sections"),
    ("idle_task", "idle", "waiting for tasks"),
    ("idle_message", "idle", "waiting for a message"),
    ("prim_fork_join", "primitive", "starting and ending a parallel region"),
    ("prim_barrier", "primitive", "executing the barrier itself"),
    ("prim_lock", "primitive", "acquiring and releasing a lock or critical section"),
    ("prim_atomic", "primitive", "atomic operations"),
    ("prim_schedule", "primitive", "obtaining loop chunks, sections and single"),
    ("prim_task", "primitive", "creating and dispatching tasks"),
    ("prim_message", "primitive", "sending and receiving messages"),
    ("prim_thread", "primitive", "creating, ending and switching threads"),
    ("idle_wait", "idle", "waiting for a signal: condition variable, semaphore, futex, join, sleep"),
    ("prim_monitor", "primitive", "monitoring: the cost of probes at the beginning and end of regions"),
    ("prim_send", "primitive", "sending a message: the sender's own software overhead"),
    ("prim_receive", "primitive", "receiving a message: matching it and the receiver's own software overhead"),
    ("prim_pack", "primitive", "packing and unpacking noncontiguous data, and reduction operations"),
    ("idle_late_sender", "idle", "waiting for a message that has not been sent yet"),
    ("idle_late_receiver", "idle", "waiting to send until the receiver takes the message"),
    ("idle_transfer", "idle", "waiting for a message under way: latency and bandwidth"),
    ("idle_network", "idle", "waiting for a message held up by others: interfaces, links and routers in use"),
    ("idle_collective", "idle", "waiting in a collective operation for members that have not arrived yet"),
    ("idle_masked", "idle", "masked off: the other elements of a SIMD machine execute something else"),
    ("prim_disturbance", "primitive", "disturbance by the machine: clock tick handlers"),
)

# Categories that only measured runs have; the C runtime does not know them.
MEASURED: Final[tuple[tuple[str, str, str], ...]] = (
    ("busy_compute", "busy", "executing the program's own code; operations and memory stalls together"),
    ("idle_preempted", "idle", "ready to execute, but the system gave the processor to something else"),
    ("prim_collective", "primitive", "executing a collective operation once all required members have arrived"),
    ("unattributed", "idle", "blocked in the system, unobserved; and the rest of N x T"),
    ("prim_start", "primitive", "starting and ending MPI: MPI_Init, MPI_Init_thread, MPI_Finalize"),
)
# Names that the monitor reuses for another category, as it does not need them otherwise.
BORROWED: Final = {"prim_disturbance": "prim_start"}

# Event counts, kept like the categories for every processor and region. References include those of the program (one
# per access, one per 8-byte word of a bulk operation of the C library, one more for each further line that an access
# spans; a read-modify-write is a read and a write) and those that the simulated runtime makes for the program's
# barriers, locks, forks and loop chunks, which can miss like any other. So misses <= reads + writes in every account,
# and references = reads + writes.
COUNTERS: Final[tuple[tuple[str, str], ...]] = (
    ("ops", "executed operations of the program (W of the papers)"),
    ("flops", "floating-point operations; each lane of a vector operation counts"),
    ("reads", "read references, including the simulated runtime's own"),
    ("writes", "write references, including the simulated runtime's own"),
    ("l1_misses", "references that miss the first cache level"),
    ("misses", "references that leave the private caches (coherent misses and upgrades)"),
    ("remote_reads", "reads served over the network"),
    ("remote_writes", "writes served over the network"),
    ("upgrades", "writes to a line held without ownership"),
    ("invalidations", "copies in other caches invalidated"),
    ("writebacks", "dirty lines written back"),
    ("page_misses", "first touches of a page"),
    ("atomics", "atomic operations"),
    ("barriers", "barriers passed"),
    ("locks", "locks acquired"),
    ("chunks", "loop chunks obtained"),
    ("visits", "times the region was entered"),
    ("prefetches", "lines fetched by prefetchers"),
    ("tasks", "explicit tasks created and deferred"),
    ("steals", "tasks taken from the queue of another member of the team"),
    ("mispredictions", "mispredicted branches"),
    ("translation_misses", "references whose page translation was not in the TLB"),
    ("serial_ops", "operations executed by one processor while all others waited; not counted with virtual speedups"),
    ("memory_lines", "lines fetched from memory, including by prefetchers"),
    ("hint_faults", "first references of pages that the system had marked (automatic NUMA balancing)"),
    ("page_migrations", "pages that the system moved to the memory node of the processor that used them"),
)
