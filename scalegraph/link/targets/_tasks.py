"""Tasks of measured runs: their numbers, and who ended the waits for them.

The monitor numbers tasks per creating thread, and records which task created a new one. A wait that ended because a
task was created or ended has exactly the time of that event. A wait for children ends some time after the last one did,
on any thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from scalegraph.runtime.format import EVENT
from scalegraph.traces.kinds import TaskStep, Wait

if TYPE_CHECKING:
    from scalegraph.runtime.results import Records
    from scalegraph.traces.kinds import Array

ADDRESS_BITS: Final = 48  # addresses of a program and task numbers use these bits; above them is the process
_OWN: Final = np.uint64((1 << ADDRESS_BITS) - 1)


def find_parents(records: Records) -> None:
    """Set the holder of each wait for children: the location that ended the last child. *records*: in time order."""
    waits, created, ended = _waits(records)
    of_task = (records["second"][waits] & _OWN) != 0
    if not len(created) or not len(ended) or not of_task.any():
        return
    created = created[np.argsort(created["first"], kind="stable")]
    at = np.minimum(np.searchsorted(created["first"], ended["first"]), len(created) - 1)
    parent = np.where(created["first"][at] == ended["first"], created["second"][at], np.uint64(0))
    _find(records, waits[of_task], ended, parent, records["second"][waits[of_task]])


def find_others(records: Records) -> None:
    """Set the holder of other waits for tasks: the location that ended the last task of their process."""
    waits, _created, ended = _waits(records)
    if len(waits) and len(ended):
        process = np.uint64(ADDRESS_BITS)
        _find(records, waits, ended, ended["first"] >> process, records["second"][waits] >> process)


def _waits(records: Records) -> tuple[Array, Records, Records]:
    """Return which records are waits for tasks without a holder, and the records of tasks created and ended."""
    waits = np.flatnonzero((records["event"] == EVENT["wait"]) & (records["what"] == Wait.TASK))
    waits = waits[records["region"][waits + 1] == 0]
    steps = records[records["event"] == EVENT["task"]]
    return waits, steps[steps["what"] == TaskStep.CREATED], steps[steps["what"] == TaskStep.ENDED]


def _find(records: Records, waits: Array, ended: Records, theirs: Array, mine: Array) -> None:
    """Set the holders of *waits*: the location that ended the last task of the wait's group, if it is another one.

    *theirs*: the groups of the tasks in *ended*; *mine*: those of *waits*. Only tasks that ended within the wait count.
    """
    place = np.unique(np.concatenate([theirs, mine]), return_inverse=True)[1].reshape(-1)
    groups = place[: len(theirs)]
    order = np.lexsort((ended["time"], groups))
    # The last end of the same group that is not after the wait's end: where the wait would sort among the ends.
    both = np.concatenate([ended["time"], records["time"][waits]]).astype(np.int64)
    is_wait = np.repeat([False, True], [len(ended), len(waits)])
    merged = np.lexsort((is_wait, both, place))
    before = np.cumsum(~is_wait[merged]) - 1
    last = np.empty(len(waits), np.int64)
    last[merged[is_wait[merged]] - len(ended)] = before[is_wait[merged]]
    known = np.maximum(last, 0)
    found = order[known]
    good = (last >= 0) & (groups[found] == place[len(theirs) :])
    good &= ended["time"][found] >= records["first"][waits]
    good &= ended["processor"][found] != records["processor"][waits]
    waits, found = waits[good], found[good]
    records["region"][waits + 1] = ended["processor"][found].astype(np.uint32) + 1
    records["time"][waits + 1] = ended["time"][found]


def numbered(records: Records) -> Records:
    """Return *records* with tasks numbered from 1 in the order of their creation.

    Steps of tasks whose creation was not recorded are left out; a switch to one becomes a switch to none. *records*: in
    time order.
    """
    rows = np.flatnonzero(records["event"] == EVENT["task"])
    if not len(rows):
        return records
    steps = records[rows]
    created = steps["first"][steps["what"] == TaskStep.CREATED]
    order = np.argsort(created, kind="stable")
    at = np.searchsorted(created[order], steps["first"])
    known = at < len(created)
    known[known] = created[order][at[known]] == steps["first"][known]
    number = np.zeros(len(rows), np.uint64)
    number[known] = order[at[known]].astype(np.uint64) + np.uint64(1)
    records["first"][rows], records["second"][rows] = number, 0
    kept = np.ones(len(records), bool)
    kept[rows] = known | (steps["what"] == TaskStep.SWITCHED_TO)
    return records[kept]
