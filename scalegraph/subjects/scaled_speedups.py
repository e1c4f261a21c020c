"""The three speedups of a study: fixed-size, fixed-time, memory-bounded."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze import scaled
from scalegraph.analyze.scaled import Speedups
from scalegraph.subjects import matrices
from scalegraph.subjects.series import chosen_series
from scalegraph.subjects.study import StudyData

_NAMES = {"fixed-size": "fixed_size", "fixed-time": "fixed_time", "memory-bounded": "memory_bounded"}


def speedups(data: StudyData, size: object = None, memory: float | None = None) -> tuple[Speedups, ...] | None:
    """Return fixed-size, fixed-time and memory-bounded speedup; None without a fixed size on two counts.

    *memory*: bytes per processor; by default the request's bound, or the machine's memory.
    """
    series = None if data.scaling.empty else chosen_series(data, size)
    if series is None:
        return None
    held = memory if memory is not None else (data.bound("memory")[0] or data.capacity_bytes)
    near = matrices.held_at(data, "memory", held)
    return (
        scaled.fixed_size(series),
        scaled.fixed_time(data.one_program, series),
        scaled.memory_bounded(data.one_program, held, tolerance=0.01 if near is None else near[1]),
    )


def table(data: StudyData) -> pd.DataFrame:
    """Return one row for each N: the three speedups, how each was obtained, and why one is missing."""
    made = speedups(data)
    if made is None:
        return pd.DataFrame()
    rows = []
    for n in sorted({count for one in made for count in (*one.values, *one.reasons)}):
        row: dict[str, object] = {"processors": n}
        for one in made:
            name = _NAMES[one.kind]
            row[name] = one.values.get(n)
            row[f"{name}_way"] = "measured" if one.kind == "fixed-size" and n in one.values else _way(one, n)
            row[f"{name}_reason"] = one.reasons.get(n, "")
        rows.append(row)
    return pd.DataFrame(rows)


def _way(one: Speedups, n: int) -> str:
    return one.points[n].way if n in one.points and n in one.values else ""
