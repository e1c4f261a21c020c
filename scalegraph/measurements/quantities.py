"""Metrics for columns of the run table: which they are by name, and in which unit they count."""

from __future__ import annotations

import re
from collections.abc import Mapping as Table
from collections.abc import Sequence

from scalegraph.base.errors import Fault
from scalegraph.measurements import names
from scalegraph.measurements.mapping import CYCLES, SECONDS, Mapping
from scalegraph.measurements.model import Metric

# Columns of the run table, and further names of their metrics.
COLUMNS: dict[str, tuple[str, ...]] = {
    "work_ops": ("ops", "operations", "papi_tot_ins", "tot_ins", "instructions"),
    "work_flops": ("flops", "flop", "fp_ops", "papi_fp_ops", "papi_dp_ops"),
    "references": ("memory_references", "papi_lst_ins"),
    "misses": ("cache_misses", "llc_misses", "papi_l3_tcm"),
    "invalidations": (),
    "memory_bytes": ("memory", "max_rss", "rss", "maxrss", "footprint"),
    "busy_s": (),
    "memory_stall_s": (),
    "idle_s": (),
    "primitive_s": (),
}
SUMS_S = frozenset({"busy_s", "memory_stall_s", "idle_s", "primitive_s"})
TIME = "time_s"  # the elapsed time, if it is another metric than the time
_BYTES = "memory_bytes"
_OF_BYTES = re.compile(
    r"(?P<prefix>[kmgtp]|kilo|mega|giga|tera|peta|)(?P<binary>i|bi|)[\s_]?(?:b|bytes?)", re.IGNORECASE
)
_OF_COUNTS = re.compile(
    r"(?P<prefix>[kmgtp]|kilo|mega|giga|tera|peta|)[\s_]?"
    r"(?:fl?op?s?|flops?|ops?|operations?|ins|instructions?|miss(?:es)?|ref(?:erence)?s?|loads?|count|events?|#|)",
    re.IGNORECASE,
)
_POWER = re.compile(r"(?:x\s*)?(?:1e|10\^|10\*\*)\+?(?P<power>\d{1,2})", re.IGNORECASE)
_WORDS = {
    "thousand": 1e3,
    "thousands": 1e3,
    "million": 1e6,
    "millions": 1e6,
    "mio": 1e6,
    "billion": 1e9,
    "billions": 1e9,
}
_EXPECTED = {
    _BYTES: "bytes (B, KB, MiB, GB, ..)",
    **dict.fromkeys(SUMS_S | {TIME}, "a time (s, ms, us, ns, min, h)"),
}


def by_name(metrics: Sequence[Metric]) -> tuple[dict[str, str], list[str]]:
    """Return the metrics whose name and unit make them columns of the run table, and notes on those left out.

    Memory without a unit may be in bytes or megabytes, and is left out.
    """
    known = {names.plain(metric.name): metric for metric in metrics}
    made, notes = {}, []
    for column, others in COLUMNS.items():
        short = next((name for name in (column, column.removesuffix("_s"), *others) if name in known), None)
        if short is None:
            continue
        metric = known[short]
        said = _unit(metric)
        if factor(metric, column, Mapping()) is None:
            notes.append(
                f"'{metric.name}' is in {said}, so it was not taken as {column}, which counts {_expected(column)}"
            )
        elif column == _BYTES and not said and short != _BYTES:
            notes.append(
                f"'{metric.name}' has no unit, and was not taken as memory: name it '{metric.name} [MB]', or say "
                f"--as {column}={metric.name} if it is in bytes"
            )
        else:
            made[column] = metric.name
    return made, notes


def factor(metric: Metric, column: str, mapping: Mapping) -> float | None:
    """Return the factor from the unit of *metric* to that of *column*, None if it is another quantity.

    Times without a unit have that of the elapsed time in *mapping*.
    """
    said = _unit(metric).strip()
    if column in SUMS_S or column == TIME:
        if metric.kind != "time" and said.lower() not in SECONDS.keys() | CYCLES | {""}:
            return None
        if not said:
            return mapping.seconds
        if said.lower() in CYCLES:
            return mapping.model_copy(update={"unit": said}).seconds
        return SECONDS.get(said.lower())
    if metric.kind == "time":
        return None
    if not said:
        return 1.0
    if found := (_OF_BYTES if column == _BYTES else _OF_COUNTS).fullmatch(said):
        base = 1024.0 if column == _BYTES and found["binary"] else 1000.0
        return float(base ** _exponent(found["prefix"]))
    if power := _POWER.fullmatch(said):
        return 10.0 ** int(power["power"])
    return _WORDS.get(said.lower())


def faults(metrics: Sequence[Metric], said: Table[str, str]) -> list[Fault]:
    """Return a fault for each of the columns *said* whose metric is another quantity."""
    known = {metric.name: metric for metric in metrics}
    made = []
    for column, name in said.items():
        if name in known and (column in COLUMNS or column == TIME):
            metric = known[name]
            if factor(metric, column, Mapping()) is None:
                what = f"is in '{_unit(metric)}'" if _unit(metric) else "is a time"
                made.append(Fault(f"'{name}' {what}; {_expected(column)} was expected for {column}", key="--as"))
    return made


def _expected(column: str) -> str:
    return _EXPECTED.get(column, "a number (1e6, M, GFLOP, ..)")


def _exponent(prefix: str) -> int:
    return "kmgtp".index(prefix[0].lower()) + 1 if prefix else 0


def _unit(metric: Metric) -> str:
    """Return the unit of a metric, or what its name ends in: ``MB`` of ``rss_mb``, ``gflop`` of ``total gflop``."""
    if metric.unit:
        return metric.unit
    last = names.plain(metric.name).split("_")[-1]
    if re.fullmatch(r"[kmgtp]i?b(?:ytes?)?|[kmgtp]flops?|bytes?|[kmgtp]?bits?|per_?s|[kmgtp]i?bps", last):
        return last
    return ""
