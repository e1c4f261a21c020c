"""Synthetic runs with an exact accounting identity, from a small model of a parallel program.

W operations of one cycle each; a barrier per step whose cost grows with N; a serial part; remote misses that grow with
N. Every category is a whole number of cycles per processor, and they add up to N x T_para exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scalegraph.base.resource_costs import ResourceCost, ResourceCosts
from scalegraph.base.run import (
    LineCost,
    LinePart,
    LineUser,
    Region,
    RegionCost,
    RunPoint,
    RunRecord,
    SharedLine,
    VariableCost,
)
from scalegraph.runtime.format import CATEGORY_GROUPS, CATEGORY_NAMES, GROUPS

CLOCK = 20e6
REGIONS = (
    Region(id=0, kind="program", name="program"),
    Region(id=1, kind="function", name="main", file="model.c", line=3, end_line=30, parent=0),
    Region(id=2, kind="parallel", name="parallel", file="model.c", line=10, end_line=25, parent=1),
    Region(id=3, kind="for", name="sweep", file="model.c", line=12, end_line=20, parent=2),
    Region(id=4, kind="barrier", name="barrier", file="model.c", line=22, end_line=22, parent=2),
)
SOURCE = "\n".join(f"int line_{number}; /* {'x' * (number % 7)} */" for number in range(1, 31)) + "\n"


def run(
    processors: int,
    balls: int = 1024,
    steps: int = 40,
    *,
    repetition: int = 0,
    serial: int = 200,
    barrier: int = 60,
    miss: int = 30,
    jitter: int = 0,
    program: str = "model",
    machine: str = "ksr1",
) -> RunRecord:
    """Return a run of *steps* sweeps over *balls* items on *processors* processors."""
    n = processors
    per = [balls // n + (1 if p < balls % n else 0) for p in range(n)]
    categories = {name: [0] * n for name in CATEGORY_NAMES}
    parallel = 0
    for p in range(n):
        categories["busy_int"][p] = 20 * steps * per[p]
        categories["busy_mem"][p] = 10 * steps * per[p]
        categories["stall_local"][p] = 3 * steps * per[p]
        remote = steps * miss * (n - 1) if n > 1 else 0
        categories["stall_remote_read"][p] = remote
        categories["prim_barrier"][p] = barrier * n * steps if n > 1 else 0
        categories["prim_fork_join"][p] = 500 if n > 1 else 0
        parallel = max(parallel, sum(categories[name][p] for name in CATEGORY_NAMES))
    for p in range(n):
        used = sum(categories[name][p] for name in CATEGORY_NAMES)
        categories["idle_barrier"][p] = parallel - used + jitter
    serial_cycles = serial * steps
    categories["busy_control"][0] += serial_cycles
    for p in range(1, n):
        categories["idle_serial"][p] = serial_cycles
    time = parallel + jitter + serial_cycles
    sums = {name: sum(values) for name, values in categories.items()}
    assert sum(sums.values()) == n * time
    group = {g: sum(v for name, v in sums.items() if CATEGORY_GROUPS[name] == g) / CLOCK for g in GROUPS}
    return RunRecord(
        source="simulated",
        program=program,
        machine=machine,
        point=RunPoint(processors=n, parameters={"balls": balls, "steps": steps}, repetition=repetition),
        exit_code=0,
        time_s=time / CLOCK,
        time_cycles=time,
        clock_hz=CLOCK,
        work_ops=30 * steps * balls + serial_cycles,
        work_flops=8 * steps * balls,
        busy_s=group["busy"],
        memory_stall_s=group["memory_stall"],
        idle_s=group["idle"],
        primitive_s=group["primitive"],
        references=12 * steps * balls,
        misses=steps * balls // 16 + steps * n,
        invalidations=steps * n,
        host_s=0.1,
        categories=sums,
        counters={"ops": 30 * steps * balls, "l1_misses": steps * balls // 8},
        processor_categories=categories,
        regions=_regions(categories, steps),
        lines=(
            LineCost(file="model.c", line=5, executions=steps, busy=serial_cycles),
            LineCost(
                file="model.c",
                line=14,
                executions=steps * balls,
                references=12 * steps * balls,
                misses=steps * balls // 16,
                remote=steps * (n - 1),
                causes={"computation": steps * balls // 16},
                classes={"cold": balls // 16, "false_sharing": steps * balls // 16 - balls // 16},
                busy=30 * steps * balls,
                memory_stall=sums["stall_local"] + sums["stall_remote_read"],
            ),
            LineCost(file="model.c", line=22, idle=sums["idle_barrier"], primitive=sums["prim_barrier"]),
        ),
        **caused(n, balls, steps),
    )


def caused(n: int, balls: int, steps: int) -> dict[str, Any]:
    """Return counts by cause: n - 1 barrier misses per step, each invalidating all n - 1 copies of a counter."""
    far = steps * (n - 1)
    cold = balls // 16
    causes = {
        "computation": {"reads": 10 * steps * balls, "writes": 2 * steps * balls - 4 * far, "misses": cold + far},
        "barrier": {"reads": 2 * far, "writes": 2 * far, "misses": far},
    }
    causes["computation"] |= {"remote_reads": far, "stall_remote_read": 30 * far, "l1_misses": cold + 2 * far}
    causes["barrier"] |= {"remote_writes": far, "stall_remote_write": 50 * far, "invalidations": far}
    if n == 1:
        return {"causes": {"computation": causes["computation"]}}
    classes = {"cold": cold, "true_sharing": far // 2, "false_sharing": far - far // 2}
    return {
        "causes": causes,
        "widths": {"barrier": {1: steps, n - 1: steps} if n > 2 else {1: steps}},
        "collected": ("classes",),
        "classes": {"computation": classes, "barrier": {"true_sharing": far}},
        "variables": (
            VariableCost(kind="runtime", name="barrier variables", misses=far, stall=50 * far),
            VariableCost(
                kind="heap",
                name="ball",
                file="model.c",
                line=8,
                function="main",
                bytes=56 * balls,
                blocks=1,
                references=12 * steps * balls,
                misses=cold + far,
                stall=30 * far,
                classes=classes,
            ),
        ),
        "shared_lines": (
            SharedLine(
                address=4096,
                bytes=64,
                classes={"false_sharing": far - far // 2},
                parts=(
                    LinePart(at=0, bytes=64, variable="hits", kind="global", file="model.c", line=2, element="[0]"),
                ),
                users=tuple(
                    LineUser(
                        processor=p,
                        wrote=(f"hits[{p}]",),
                        read=((4 * p, 4),),
                        written=((4 * p, 4),),
                        reader="model.c:14",
                        writer="model.c:14",
                    )
                    for p in range(min(n, 16))
                ),
            ),
        ),
        "resources": ResourceCosts.of(
            [
                ResourceCost(kind="link", name="ring 0", units=34, busy=170 * far, transactions=2 * far, waiting=far),
                ResourceCost(kind="module", name="memory 0", busy=10 * far, transactions=far),
            ]
        ),
    }


def _regions(categories: dict[str, list[int]], steps: int) -> tuple[RegionCost, ...]:
    at = {
        1: ("busy_control", "idle_serial"),
        2: ("prim_fork_join",),
        3: ("busy_int", "busy_mem", "stall_local", "stall_remote_read"),
        4: ("idle_barrier", "prim_barrier"),
    }
    costs = []
    for region, names in at.items():
        busy = [
            sum(categories[name][p] for name in names if CATEGORY_GROUPS[name] == "busy")
            for p in range(len(categories["busy_int"]))
        ]
        useful = [
            sum(categories[name][p] for name in names if CATEGORY_GROUPS[name] in ("busy", "memory_stall"))
            for p in range(len(categories["busy_int"]))
        ]
        costs.append(
            RegionCost(
                region=region,
                categories={name: sum(categories[name]) for name in names if sum(categories[name])},
                counters={"visits": steps},
                busy_max=max(busy),
                useful_max=max(useful),
                classes={"cold": steps, "true_sharing": 2 * steps} if region == 3 else {},
            )
        )
    return tuple(costs)


def fixed(counts: Iterable[int] = (1, 2, 4, 8, 16, 32, 64), **more: int) -> list[RunRecord]:
    """Return one problem on several processor counts; slower beyond a finite N."""
    return [run(n, **more) for n in counts]


def grid(
    counts: Iterable[int] = (1, 2, 4, 8, 16, 32),
    sizes: Sequence[int] = (64, 128, 256, 512, 1024, 2048, 4096, 8192),
    **more: int,
) -> list[RunRecord]:
    """Return every size on every count: efficiency increases with the size."""
    return [run(n, size, **more) for n in counts for size in sizes]


def failed(processors: int, status: str = "deadlock", message: str = "every processor waits for another") -> RunRecord:
    """Return a failed run."""
    return RunRecord.model_validate(
        {
            "source": "simulated",
            "program": "model",
            "machine": "ksr1",
            "point": {"processors": processors, "parameters": {"balls": 1024, "steps": 40}},
            "status": status,
            "message": message,
        }
    )
