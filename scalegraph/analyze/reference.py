"""The reference of speedup and efficiency: one processor, the smallest count available, or the serial program."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scalegraph.analyze.table import Floats, numbers
from scalegraph.base.units import plain

SERIAL = 0.0  # as a reference: the time of the serial program (column ``serial_s``)
# column of the reference run -> name of the column added; times are multiplied by N, the others are sums already
_ONE = {
    "time_s": "t_seq_s",
    "time_min_s": "t_seq_min_s",
    "time_max_s": "t_seq_max_s",
    "work_ops": "work",
    "work_flops": "work_fp",
    "busy_s": "busy_one_s",
    "memory_stall_s": "stall_one_s",
    "idle_s": "idle_one_s",
    "primitive_s": "primitive_one_s",
    "time_error": "time_one_error",
    "stall_error_s": "stall_one_error_s",
}
_TIMES = ("time_s", "time_min_s", "time_max_s")


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the reference of each run: columns ``reference`` and the values of `_ONE`, index of *runs*.

    *runs* come from `table.problems`. ``reference`` is the processor count of the run of the same problem that stands
    for one processor: 1; for measurements without it the smallest N0 of two or more counts, with N0 T_para as T_seq, as
    if N0 processors were fully used; `SERIAL` if the serial program's time ``serial_s`` is known. NaN if there is none.

    Shape: (runs, columns). Unit: s and processors, as listed. Source: latency-metric.txt 2.1; without one processor:
    ScaleGraph.
    """
    first = _first(runs)
    found = first >= 0
    at = np.where(found, first, 0)
    counts = numbers(runs, "processors")
    made: dict[str, Floats] = {"reference": np.where(found, counts[at], np.nan) if len(runs) else counts}
    for column, name in _ONE.items():
        values = numbers(runs, column)[at] if len(runs) else numbers(runs, column)
        made[name] = np.where(found, values * (made["reference"] if column in _TIMES else 1.0), np.nan)
    serial = numbers(runs, "serial_s")
    for column in _TIMES:
        made[_ONE[column]] = np.where(np.isfinite(serial), serial, made[_ONE[column]])
    made["reference"] = np.where(np.isfinite(serial), SERIAL, made["reference"])
    return pd.DataFrame(made, index=runs.index)


def _first(runs: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the position of each run's reference, -1 if it has none."""
    if runs.empty:
        return np.zeros(0, dtype=np.int64)
    counts, problem = numbers(runs, "processors"), numbers(runs, "problem")
    simulated = (
        runs["source"].isin(["simulated", "predicted"]).to_numpy()
        if "source" in runs.columns
        else np.ones(len(runs), bool)
    )
    order = np.lexsort((counts, problem))
    _, start, group = np.unique(problem[order], return_index=True, return_inverse=True)
    end = np.append(start[1:], len(order)) - 1
    least, most = order[start], order[end]
    usable = (counts[least] == 1) | (~simulated[least] & (counts[most] > counts[least]))
    found = np.empty(len(runs), dtype=np.int64)
    found[order] = np.where(usable, least, -1)[group]
    return found


def others(scaling: pd.DataFrame) -> Floats:
    """Return the references in *scaling* (`metrics.scaling`) other than one processor, ascending.

    Shape: (references,). Unit: processors. Source: ScaleGraph.
    """
    known = numbers(scaling, "reference")
    return np.unique(known[np.isfinite(known) & (known != 1)])


def comparable(scaling: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which rows are comparable across sizes: those with the smallest reference available.

    A row that is its own reference (other than one processor) is excluded: its efficiency is 1 by definition.

    Shape: (rows,). Unit: none. Source: ScaleGraph.
    """
    known = numbers(scaling, "reference")
    if not np.isfinite(known).any():
        return np.ones(len(scaling), dtype=bool)
    least = np.nanmin(known)
    itself = (known == numbers(scaling, "processors")) & (known > 1)
    made: np.ndarray[tuple[int], np.dtype[np.bool_]] = (~np.isfinite(known) | (known == least)) & ~itself
    return made


def fast_as(rows: pd.DataFrame) -> str:
    """Return what a speedup of *rows* is over: ``one``, ``one at the efficiency of N = 4``, ``the serial program``.

    Source: ScaleGraph.
    """
    found = others(rows)
    if not len(found):
        return "one"
    return named(SERIAL) if found[-1] == SERIAL else f"one at the efficiency of {named(found[-1])}"


def named(reference: float) -> str:
    """Return a reference other than one processor in words: ``N = 4``, ``the serial program``.

    Source: ScaleGraph.
    """
    return "the serial program" if reference == SERIAL else f"N = {plain(reference)}"


def sentence(scaling: pd.DataFrame) -> str:
    """Return what speedup and efficiency of *scaling* are relative to; empty if that is one processor.

    Source: ScaleGraph.
    """
    found = others(scaling)
    if not len(found):
        return ""
    if found[0] == SERIAL:
        return "Speedup and efficiency are relative to the serial program."
    least = " and ".join(named(count) for count in found[:3]) + (", .." if len(found) > 3 else "")
    mixed = bool((numbers(scaling, "reference") == 1).any())
    where = "Some sizes have no run on one processor: theirs" if mixed else "There is no run on one processor:"
    what = "speedup and efficiency" if not mixed else "speedups and efficiencies"
    return f"{where} {what} are relative to the fewest processors, {least}, whose efficiency counts as 1."
