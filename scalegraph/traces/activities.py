"""The activity of a state or region: one of six, whatever its name in the source tool."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from scalegraph.traces.kinds import Array
from scalegraph.traces.model import Meta, Region, State

ACTIVITIES: Final = ("busy", "memory_stall", "primitive", "communication", "idle", "other")
TITLES: Final = ("busy", "memory stall", "primitives", "communication", "idle", "other")
BUSY, MEMORY_STALL, PRIMITIVE, COMMUNICATION, IDLE, OTHER = range(6)

# categories of the simulator's accounting are named after their group
_CATEGORY = re.compile(r"(busy|stall|idle|prim)_[a-z_]+")
_GROUPS = {"busy": BUSY, "stall": MEMORY_STALL, "idle": IDLE, "prim": PRIMITIVE}

# Paraver's states by number (its documentation, "Trace file format"): 0 idle, 1 running, 2 not created, 3 waiting a
# message, 4 blocking send, 5 synchronization, 6 test, 7 fork and join, 8 wait all, 9 blocked, 10 and 11 immediate send
# and receive, 12 I/O, 13 group communication, 14 tracing disabled, 15 others, 16 send receive, 17 memory transfer,
# 18 profiling, 19 on-line analysis, 20 remote memory access, 21 atomic and 22 ordering memory operations, 23
# distributed locking, 24 overhead, 25 one-sided operation, 26 startup latency, 27 waiting links, 28 data copy,
# 29 round trip time, 30 and 31 allocating and freeing memory
_PARAVER: Final = {
    0: IDLE, 1: BUSY, 2: IDLE, 3: COMMUNICATION, 4: COMMUNICATION, 5: IDLE, 6: COMMUNICATION, 7: PRIMITIVE,
    8: COMMUNICATION, 9: IDLE, 10: COMMUNICATION, 11: COMMUNICATION, 12: OTHER, 13: COMMUNICATION, 14: OTHER, 15: OTHER,
    16: COMMUNICATION, 17: COMMUNICATION, 18: PRIMITIVE, 19: PRIMITIVE, 20: COMMUNICATION, 21: PRIMITIVE, 22: PRIMITIVE,
    23: IDLE, 24: PRIMITIVE, 25: COMMUNICATION, 26: COMMUNICATION, 27: COMMUNICATION, 28: COMMUNICATION,
    29: COMMUNICATION, 30: PRIMITIVE, 31: PRIMITIVE,
}  # fmt: skip

# the first match in a name, or in the kind of a region, decides
_NAMES: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), activity)
    for pattern, activity in (
        (
            r"^P?MPI_(Init|Finalize|Initialized|Finalized|Comm_|Group_|Type_|Wtime|Get_|Abort|Info_|Cart_|Op_|Error)",
            PRIMITIVE,
        ),
        (r"^P?MPI_(Register|File_)|^MPI[ _-]?IO", OTHER),
        (r"^P?MPI_\w*barrier", IDLE),
        (r"^P?MPI_|^mpi_|^P?g?a?spi_|^shmem_|^nccl|^gasnet|^upc_|^SHMEM", COMMUNICATION),
        (
            r"barrier|taskwait|task_wait|thread_wait|futex|nanosleep|^u?sleep\b|cond(ition)?_?(timed)?_?wait|sem_(timed)?wait",
            IDLE,
        ),
        (
            r"mutex_lock|rwlock_..lock|spin_lock|set_(nest_)?lock|lock_wait|critical\s*(wait|sync)|pthread_join|\bwait(ing)?\b",
            IDLE,
        ),
        (r"^idle\b|not.?created|blocked|synchroni[sz]ation|\bsleep", IDLE),
        (
            r"^(send|recv|receive|broadcast|reduce|all_?reduce|gather|scatter)$|communicat|message|point2point|^coll_|^rma",
            COMMUNICATION,
        ),
        (r"cache.?miss|memory.?stall|\bstall", MEMORY_STALL),
        (
            r"mutex_|unlock|pthread_create|thread_create|fork|join|schedul|overhead|task_create|taskyield|flush|omp_lock",
            PRIMITIVE,
        ),
        (r"file_io|^i/?o$|\bI/O\b|tracing disabled", OTHER),
    )
)

_ANY: Final = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _NAMES), re.IGNORECASE)

# kinds of regions that say more than a name does: OTF2's roles
_KINDS: Final = {
    "barrier": IDLE,
    "implicit_barrier": IDLE,
    "task_wait": IDLE,
    "thread_wait": IDLE,
    "thread_create": PRIMITIVE,
    "task_create": PRIMITIVE,
    "flush": PRIMITIVE,
    "allocate": PRIMITIVE,
    "deallocate": PRIMITIVE,
    "file_io": OTHER,
    "coll_one2all": COMMUNICATION,
    "coll_all2one": COMMUNICATION,
    "coll_all2all": COMMUNICATION,
    "coll_other": COMMUNICATION,
    "point2point": COMMUNICATION,
    "rma": COMMUNICATION,
    "data_transfer": COMMUNICATION,
}


@lru_cache(1 << 16)
def _by_name(name: str) -> int:
    if not _ANY.search(name):
        return BUSY
    return next(activity for pattern, activity in _NAMES if pattern.search(name))


def activity_of_state(state: State, format_name: str = "") -> int:
    """Return the index in `ACTIVITIES` of *state*; *format_name* is the trace's `Meta.format`."""
    category = _CATEGORY.fullmatch(state.key)
    if category is not None:
        return _GROUPS[category[1]]
    if format_name == "paraver" and state.key.isdecimal():
        return _PARAVER.get(int(state.key), OTHER)
    return _by_name(state.name)


def activity_of_region(region: Region) -> int:
    """Return the index in `ACTIVITIES` of the time spent in *region* itself."""
    by_kind = _KINDS.get(region.kind.lower())
    if by_kind is None:
        return _by_name(region.name)
    # OTF2's role does not distinguish a collective barrier from other collective operations
    return IDLE if by_kind == COMMUNICATION and "barrier" in region.name.lower() else by_kind


def of_states(states: Sequence[State], meta: Meta) -> Array:
    """Return the activity of every state (i4, index in `ACTIVITIES`)."""
    return np.array([activity_of_state(state, meta.format) for state in states], np.int32)


def of_regions(regions: Sequence[Region]) -> Array:
    """Return the activity of every region (i4, index in `ACTIVITIES`)."""
    return np.array([activity_of_region(region) for region in regions], np.int32)
