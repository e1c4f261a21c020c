"""Metrics of a run relative to its one-processor run: speedup, efficiency, average latency and rates.

Symbols: N processors, W work (operations of the one-processor run), T_para elapsed time, T_seq elapsed time of the
one-processor run of the same problem, L(W, N) average latency.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from scalegraph.analyze import estimates, reference, workload
from scalegraph.analyze.table import Floats, category_cycles, numbers, problems
from scalegraph.runtime.format import CATEGORY_GROUPS


def scaling(table: pd.DataFrame, work: str = "") -> pd.DataFrame:
    """Return one row per problem and processor count with all metrics derived from the run and its one-processor run.

    *table* is the run table (`base.run.RunRecord.row`), left unchanged; *work* says what W is: ``flops``, a formula of
    the parameters, or what was counted (`workload`). Rows are sorted by problem and N. All columns of the table are
    kept; added are (in seconds unless stated; NaN if a needed run or column is missing):

    ``reference`` the processor count T_seq comes from: 1, or for measurements without it the fewest
    (`reference.compared`); ``t_seq_s`` T_seq(W), ``work`` W in ``work_unit`` (operations where they are known);
    ``speedup`` T_seq/T_para and ``efficiency`` T_seq/(N T_para), with ``_low`` and ``_high`` from the extremes of
    repetitions (latency-metric.txt 2.1, 6.1) or the intervals of estimated runs (`estimates.intervals`, which adds
    those of other metrics);
    ``ml_s`` stall(N) - stall(1), of measured runs, whose stalls are part of their busy time, busy(N) - busy(1);
    ``it_s`` N T_para - sum T_i = idle time, ``pt_s`` primitive time
    (scale-graph.txt eq. 5-7, sums over processors); ``latency_s`` (ML + IT + PT)/N (eq. 5);
    ``latency_method1_s`` T_para - T_seq/N (latency-metric.txt 6.1, method 1); ``latency_difference_s`` method 1 minus
    accounting, which is the extra busy time of the parallel run less what the one-processor run itself spends on
    idling and primitives, over N; ``extra_busy_s`` busy(N) - busy(1), sum over processors;
    ``efficiency_accounting`` 1 - L/T_para; ``accounting_gap_s`` N T_para minus the four groups (0 when exact);
    ``unit_speed`` W/(N T_para) (operations/s per processor; isospeed.txt eq. 2);
    and the rates of `rates`.

    Shape: one row for each problem and processor count. Unit: as listed. Source: as named for each column.

    Raises:
        InputError: the table lacks ``processors`` or ``time_s``, or *work* is not a formula of its parameters.

    """
    runs = problems(table)
    runs = _with(runs, estimates.costs(runs))
    runs = _with(runs, reference.compared(runs)).copy()  # defragmented
    count = numbers(runs, "processors")
    time = numbers(runs, "time_s")
    t_seq = numbers(runs, "t_seq_s")
    runs["work"], runs["work_unit"] = _work(runs, work)
    with np.errstate(all="ignore"):
        runs["speedup"] = t_seq / time
        runs["speedup_low"] = numbers(runs, "t_seq_min_s") / numbers(runs, "time_max_s")
        runs["speedup_high"] = numbers(runs, "t_seq_max_s") / numbers(runs, "time_min_s")
        runs["efficiency"] = t_seq / (count * time)
        runs["ml_s"] = _memory_latency(runs)
        runs["it_s"] = numbers(runs, "idle_s")
        runs["pt_s"] = numbers(runs, "primitive_s")
        runs["latency_s"] = (numbers(runs, "ml_s") + numbers(runs, "it_s") + numbers(runs, "pt_s")) / count
        runs["latency_method1_s"] = time - t_seq / count
        runs["latency_difference_s"] = numbers(runs, "latency_method1_s") - numbers(runs, "latency_s")
        runs["extra_busy_s"] = numbers(runs, "busy_s") - numbers(runs, "busy_one_s")
        runs["efficiency_accounting"] = 1 - numbers(runs, "latency_s") / time
        groups = [numbers(runs, f"{group}_s") for group in ("busy", "memory_stall", "idle", "primitive")]
        runs["accounting_gap_s"] = count * time - sum(groups)
        runs["unit_speed"] = numbers(runs, "work") / (count * time)
        runs = _with(runs, estimates.intervals(runs))
        ends = {f"efficiency_{end}": numbers(runs, f"speedup_{end}") / count for end in ("low", "high")}
    return pd.concat([_with(runs, ends), rates(runs)], axis=1)


def _with(runs: pd.DataFrame, columns: Mapping[str, Floats] | pd.DataFrame) -> pd.DataFrame:
    """Return *runs* with *columns* added all at once, in place of those of the same names."""
    more = pd.DataFrame(columns, index=runs.index)
    return pd.concat([runs.drop(columns=list(more.columns), errors="ignore"), more], axis=1)


def _memory_latency(runs: pd.DataFrame) -> Floats:
    """Return ML; for a measured run that does not separate stalls from busy time, the growth of both together."""
    stalls = numbers(runs, "memory_stall_s") - numbers(runs, "stall_one_s")
    if "source" not in runs.columns:
        return stalls
    together = (runs["source"] == "measured").to_numpy() & np.isnan(numbers(runs, "memory_stall_s"))
    return np.where(together, numbers(runs, "busy_s") - numbers(runs, "busy_one_s"), stalls)


def _work(runs: pd.DataFrame, wanted: str) -> tuple[Floats, list[str]]:
    """Return W of every row and its unit: op, flop, or s of the one-processor run.

    *wanted* selects W as described in `workload`. Otherwise simulated runs have the operations of the one-processor
    run. For other runs, the quantity known for most rows is used: operations or floating-point operations, of the
    one-processor run or else of the run itself; if nothing was counted, T_seq in seconds, since W t_c = T_seq with a
    constant t_c (latency-metric.txt Definition 3; t_c = 1).
    """
    if wanted not in workload.NAMES:
        return workload.by_formula(runs, wanted), ["op"] * len(runs)
    if wanted == workload.FLOPS:
        return _first(numbers(runs, "work_fp"), numbers(runs, "work_flops")), ["flop"] * len(runs)
    counted = numbers(runs, "work")
    own = ["simulated", "predicted"]
    others = ~runs["source"].isin(own).to_numpy() if "source" in runs.columns else np.zeros(len(runs), dtype=bool)
    if not others.any():
        return counted, ["op"] * len(runs)
    ways = {
        "op": _first(counted, numbers(runs, "work_ops")),
        "flop": _first(numbers(runs, "work_fp"), numbers(runs, "work_flops")),
        "s": numbers(runs, "t_seq_s"),
    }
    known = {unit: int(np.isfinite(values[others]).sum()) for unit, values in ways.items()}
    unit = max(("op", "flop"), key=lambda name: known[name])
    unit = unit if known[unit] else "s"
    return np.where(others, ways[unit], counted), [unit if other else "op" for other in others]


def _first(values: Floats, instead: Floats) -> Floats:
    return np.where(np.isfinite(values), values, instead)


def work_unit(scaling: pd.DataFrame) -> str:
    """Return the unit of the column ``work``: ``op``, ``flop``, or ``s`` if T_seq stands in for the work.

    Source: ScaleGraph.
    """
    units = [str(unit) for unit in scaling["work_unit"]] if "work_unit" in scaling.columns else []
    return max(set(units), key=units.count) if units else "op"


def speed_unit(work: str) -> str:
    """Return the unit of the unit speed, given that of the *work*; empty if work is T_seq (seconds per second).

    Source: ScaleGraph.
    """
    return "" if work == "s" else f"{work}/s"


def rates(runs: pd.DataFrame) -> pd.DataFrame:
    """Return ratios computed from each run alone (dimensionless; NaN if a column is missing).

    ``cpu_utilisation`` busy time / (N T_para); ``memory_access_rate`` time of memory accesses, issue and stall, over N
    T_para; ``miss_rate`` references that miss the private caches / references; ``l1_miss_rate`` the same for the first
    level (scale-graph.txt 4.2.1); ``parallel_share`` share of T_para in which more than one processor works (Fig. 12),
    from the time that processors other than the first wait for serial parts; ``parallel_ops_share`` share of all
    operations not executed by one processor while all others wait.

    Shape: (runs, 6). Unit: none (shares). Source: scale-graph.txt 4.2.1 and Fig. 12.
    """
    count = numbers(runs, "processors")
    time = numbers(runs, "time_s")
    clock = numbers(runs, "clock_hz")
    references = numbers(runs, "references")
    serial = sum(category_cycles(runs, name) for name in ("idle_not_started", "idle_serial", "idle_finished"))
    with np.errstate(all="ignore"):
        access = category_cycles(runs, "busy_mem") / clock + numbers(runs, "memory_stall_s")
        return pd.DataFrame(
            {
                "cpu_utilisation": numbers(runs, "busy_s") / (count * time),
                "memory_access_rate": access / (count * time),
                "miss_rate": numbers(runs, "misses") / references,
                "l1_miss_rate": numbers(runs, "count.l1_misses") / references,
                "parallel_ops_share": np.where(
                    count > 1, 1 - numbers(runs, "count.serial_ops") / numbers(runs, "count.ops"), np.nan
                ),
                "parallel_share": np.where(count > 1, 1 - serial / clock / ((count - 1) * time), np.nan),
            },
            index=runs.index,
        )


_OTHER_WAITS = ("idle_order", "idle_task", "idle_wait", "idle_masked", "idle_preempted", "unattributed")
# Overheads as named in Fig. 11 of scale-graph.txt: (column, label, categories, palette role). Memory stall is separate:
# it is the increase over the one-processor run, not a sum of categories.
CAUSES: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("barrier_s", "barrier execution", ("prim_barrier",), "primitive"),
    ("barrier_wait_s", "waiting at barriers", ("idle_barrier",), "idle"),
    ("lock_s", "locks and critical sections", ("idle_lock", "prim_lock", "prim_atomic"), "cause:0"),
    (
        "serial_wait_s",
        "waiting for serial parts",
        ("idle_not_started", "idle_serial", "idle_finished"),
        "cause:1",
    ),
    (
        "message_wait_s",
        "waiting for partners of messages",
        ("idle_message", "idle_late_sender", "idle_late_receiver", "idle_collective"),
        "cause:2",
    ),
    ("transfer_wait_s", "waiting for messages on their way", ("idle_transfer", "idle_network"), "cause:3"),
    ("other_wait_s", "other waiting", _OTHER_WAITS, "cause:4"),
    ("fork_join_s", "starting and ending parallel regions", ("prim_fork_join",), "cause:5"),
    (
        "message_s",
        "sending, receiving and packing messages",
        ("prim_message", "prim_send", "prim_receive", "prim_pack", "prim_collective"),
        "cause:6",
    ),
    ("mpi_start_s", "starting and ending MPI", ("prim_start",), "cause:7"),
    (
        "other_primitive_s",
        "scheduling, tasks, threads, monitoring, disturbance",
        ("prim_schedule", "prim_task", "prim_thread", "prim_monitor", "prim_disturbance"),
        "cause:8",
    ),
)
STALL_CAUSE = ("stall_s", "memory stall", "memory_stall")
# Waiting whose cause is known (`runtime.format.BLAMES`) is charged to it, regardless of where it happened.
BLAMED_ON: dict[str, str] = {"serial": "serial_wait_s", "fork_join": "fork_join_s", "lock": "lock_s"}


def overheads(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the average latency by cause (scale-graph.txt Fig. 11), seconds per processor.

    *runs* comes from `scaling`. Columns: ``problem``, ``processors``, one per entry of `CAUSES` (sum over processors of
    its categories / N), ``stall_s`` ML/N and ``average_s`` L(W, N) by accounting, the sum of the causes. Waiting whose
    cause is known counts as `BLAMED_ON` says, so ``barrier_wait_s`` is only the part due to uneven work.

    Shape: (runs, causes + 4). Unit: s for each processor. Source: as named above.
    """
    count = numbers(runs, "processors")
    clock = numbers(runs, "clock_hz")
    result = pd.DataFrame({"problem": runs["problem"], "processors": runs["processors"]}, index=runs.index)
    with np.errstate(all="ignore"):
        for column, _, categories, _ in CAUSES:
            result[column] = (
                (sum(category_cycles(runs, name) for name in categories) + _moved(runs, column, categories))
                / clock
                / count
            )
        result["stall_s"] = numbers(runs, "ml_s") / count
    result["average_s"] = numbers(runs, "latency_s")
    return result


def _moved(runs: pd.DataFrame, column: str, categories: tuple[str, ...]) -> Floats:
    """Return the waiting cycles charged to *column* from outside its *categories*, minus those charged elsewhere."""
    moved = np.zeros(len(runs))
    for name in runs.columns:
        kind, _, rest = str(name).partition(".")
        if kind == "blame":
            cause, _, waited = rest.partition(".")
            sign = int(BLAMED_ON.get(cause) == column) - int(waited in categories)
            moved += sign * np.nan_to_num(numbers(runs, str(name)))
    return moved


def breakdown(runs: pd.DataFrame, *, by: str = "category") -> pd.DataFrame:
    """Return the share of processor time N T_para by category or group, shape (runs, categories or groups), 0 to 1.

    Categories that are zero everywhere are left out; the order is that of the accounting identity.

    Unit: none (share). Source: scale-graph.txt Fig. 11.
    """
    total = numbers(runs, "processors") * numbers(runs, "time_s")
    clock = numbers(runs, "clock_hz")
    shares: dict[str, Floats] = {}
    with np.errstate(all="ignore"):
        if by == "group":
            for group in ("busy", "memory_stall", "idle", "primitive"):
                shares[group] = numbers(runs, f"{group}_s") / total
        else:
            for name in CATEGORY_GROUPS:
                share = category_cycles(runs, name) / clock / total
                if np.nansum(share) > 0:
                    shares[name] = share
    return pd.DataFrame(shares, index=runs.index)
