"""The first page of a report: what ran, where, how and when, and the times by number of processors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from scalegraph.analyze import estimates, series
from scalegraph.base.units import as_read, counted, significant, thousands
from scalegraph.measurements import names
from scalegraph.subjects.study import StudyData

_MOST: Final = 24  # rows of times on the first page
_OBTAINED: Final = {
    "simulated": "simulated: the program ran on a model of the machine, which counts its cycles",
    "measured": "measured: the program ran on real processors, and its elapsed time was taken",
    "imported": "imported: measured elsewhere, and read from files",
    "predicted": "predicted from smaller runs",
    "loaded": "loaded from a table of runs",
}
_LEVELS: Final = (("processes", "ranks"), ("threads_per_process", "threads a rank"))  # of simulated and measured runs


@dataclass(frozen=True)
class Times:
    """Times by number of processors, one row each, all as text; *left_out* says how many did not fit."""

    header: list[str]
    rows: list[list[str]]
    left_out: str = ""


def facts(data: StudyData, machine: str = "") -> list[tuple[str, str]]:
    """Return what ran, where, how and when it was obtained, as names and values; unknown facts are left out."""
    return [(name, value) for name, value in _facts(data, machine) if value]


def _facts(data: StudyData, machine: str) -> Iterator[tuple[str, str]]:
    table, manifest = data.table, data.manifest
    named = table["program"].iloc[0] if len(table) else data.name
    yield "Program", str(manifest.get("program") or named)
    yield "Machine", machine or ("not recorded" if data.machine_title == "unknown" else data.machine_title)
    values = manifest.get("machine_values")
    yield "", str(values.get("summary", "")) if isinstance(values, dict) else ""
    if not len(table):
        return
    counts = sorted({int(n) for n in table["processors"]})
    listed = ", ".join(map(thousands, counts[:16])) + (", .." if len(counts) > 16 else "")
    yield "Processors", listed
    yield "Problem", _problem(table)
    sources = sorted({str(source) for source in table["source"]})
    yield "Obtained", "; ".join(_OBTAINED.get(source, source) for source in sources)
    yield "Runs", _runs(data)
    yield "Estimated", data.estimated().removeprefix("Estimated: ")
    if data.imported is not None:
        measured, meaning = data.imported
        yield "Files", ", ".join(name.rpartition("/")[2] for name in measured.files[:8])
        unit = f" in {meaning.unit}" if meaning.unit else ""
        yield "Time", f"'{meaning.time}'{unit}, by {meaning.processors}" if meaning.time else ""
    made = str(manifest.get("created") or "")
    yield "Study made", made[:16].replace("T", " ") + (" UTC" if made.endswith("+00:00") else "")


def _problem(table: pd.DataFrame) -> str:
    parts = []
    for column in (str(name) for name in table.columns if str(name).startswith("param.")):
        found = sorted(set(table[column].dropna()), key=lambda value: (isinstance(value, str), value))
        shown = ", ".join(_cell(value) for value in found[:6]) + (f", .. ({len(found)})" if len(found) > 6 else "")
        if found:
            parts.append(f"{column.removeprefix('param.')} = {shown}")
    return "; ".join(parts)


def _runs(data: StudyData) -> str:
    table = data.table
    ended = int((table["status"] == "ok").sum()) if "status" in table else len(table)
    most = int(data.scaling["repetitions"].max()) if len(data.scaling) else 1
    failed = f", {len(table) - ended} of which did not end well" if ended < len(table) else ""
    again = f"; up to {most} repetitions of a point, whose median is shown" if most > 1 else "; each point once"
    return counted(len(table), "run") + failed + again


def times(data: StudyData) -> Times | None:
    """Return nodes, ranks, threads, size, time, speedup, efficiency and repetitions by number of processors."""
    if data.table.empty or not len(scaling := data.scaling):
        return None
    known = [str(name) for name in scaling.columns]
    sizes = [name for name in known if name.startswith("param.") and len(set(scaling[name])) > 1]
    levels = [name for name in known if name.startswith("param.") and names.counts_processors(name[6:])]
    columns = [("processors", "N")]
    columns += [(name, title) for name, title in _LEVELS if name in known and scaling[name].notna().any()]
    columns += [(name, name[6:]) for name in dict.fromkeys([*levels, *sizes])]
    columns.append(("time_s", "time (s)"))
    spread = "time_min_s" in known and estimates.spread(scaling)
    ends = ("least (s)", "most (s)") if (scaling["repetitions"] > 1).any() else ("from (s)", "to (s)")
    columns += [("time_min_s", ends[0]), ("time_max_s", ends[1])] if spread else []
    columns += [("speedup", "speedup"), ("efficiency", "efficiency")]
    columns += [("repetitions", "repetitions")]
    columns = [(name, title) for name, title in columns if name in known]
    ordered = scaling.sort_values([*sizes, "processors"], kind="stable")
    shown = ordered
    if len(ordered) > _MOST and (main := series.main_series(scaling)) is not None:
        shown = main.rows.sort_values("processors", kind="stable")  # the problem that ran on most processor counts
    rows = [[_cell(row[name]) for name, _ in columns] for row in shown.head(_MOST).to_dict("records")]
    others = len(ordered) - len(rows)
    left_out = f"{others} rows of other problems are in the table of runs" if others else ""
    return Times([title for _, title in columns], rows, left_out)


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return "–"
    if isinstance(value, str):
        return value
    number = float(value)
    return as_read(int(number)) if number.is_integer() and abs(number) < 1e15 else significant(number, 4)
