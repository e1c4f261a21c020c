"""Perfect balance, computed from a run: how long it would take if the work between barriers were evenly divided.

Between two barriers a processor that arrives early waits for the others. With the same work evenly divided all would
arrive at the mean time, so T_para falls by the mean waiting time; over all phases that is the mean over processors of
their waiting at barriers and for tasks. This is exact where all processors meet at the barriers; where smaller teams
do, their waiting is spread over all processors, which saves less than evenly divided teams would. Waiting for locks,
for one's turn and for serial parts stays. The result is computed, not simulated: a program that divides its work
differently would be another program.
"""

from __future__ import annotations

from scalegraph.base.run import RegionCost, RunRecord
from scalegraph.runtime.format import CATEGORY_GROUPS, CATEGORY_NAMES

WAITS = ("idle_barrier", "idle_task")


def balanced(record: RunRecord) -> RunRecord:
    """Return *record* with its work perfectly balanced; a run without a time or categories stays as it is.

    Every processor gets the same share of each category; a remainder of less than one cycle a processor stays in
    ``idle_barrier``, so the accounting identity holds. Costs of lines are dropped, as their idle time mixes all kinds.
    So are the causes of waiting, since a region has one number for what it causes at barriers and elsewhere.
    """
    if not record.ok or record.time_cycles is None or not record.categories or not record.clock_hz:
        return record
    n = record.point.processors
    total = n * record.time_cycles - sum(record.categories.get(category, 0) for category in WAITS)
    time = -(-total // n)
    categories = {name: 0 if name in WAITS else cycles for name, cycles in record.categories.items()}
    categories["idle_barrier"] = n * time - total
    clock = record.clock_hz
    idle = sum(cycles for name, cycles in categories.items() if CATEGORY_GROUPS[name] == "idle")
    return record.model_copy(
        update={
            "time_cycles": time,
            "time_s": time / clock,
            "idle_s": idle / clock,
            "categories": categories,
            "processor_categories": _evenly(categories, n),
            "regions": tuple(_region(cost, n, categories["idle_barrier"]) for cost in record.regions),
            "lines": (),
            "blame": {},
            "delays": (),
        }
    )


def _evenly(categories: dict[str, int], n: int) -> dict[str, list[int]]:
    """Divide every category into *n* shares; remainders are dealt round robin, so all processors get equal sums."""
    shares: dict[str, list[int]] = {}
    turn = 0
    for name in CATEGORY_NAMES:
        cycles = categories.get(name, 0)
        if cycles == 0:
            continue
        share, rest = divmod(cycles, n)
        shares[name] = [share] * n
        for _ in range(rest):
            shares[name][turn] += 1
            turn = (turn + 1) % n
    return shares


def _region(cost: RegionCost, n: int, rest: int) -> RegionCost:
    categories = {name: cycles for name, cycles in cost.categories.items() if name not in WAITS}
    if cost.region == 0 and rest:
        categories["idle_barrier"] = rest
    sums = {
        group: sum(cycles for name, cycles in categories.items() if CATEGORY_GROUPS[name] == group)
        for group in ("busy", "memory_stall")
    }
    most = {"busy_max": -(-sums["busy"] // n), "useful_max": -(-sum(sums.values()) // n)}
    return cost.model_copy(update={"categories": categories, "waited": {}, "caused": {}, **most})
