"""The runs of a study on standard output: a table for people, a document for programs."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from scalegraph.analyze import timed
from scalegraph.analyze.messages import rows as message_rows
from scalegraph.analyze.remarks import estimated, of_run, remarks
from scalegraph.base.measures import Measure, measure, percent, reach
from scalegraph.base.run import RUN_SCALARS, Region, RunRecord
from scalegraph.base.units import si, significant
from scalegraph.cli.output import echo, print_rows
from scalegraph.request.model.tracing import path_of

_DERIVED = ("latency_s", "latency_method1_s", "latency_difference_s", "ml_s", "it_s", "pt_s", "efficiency", "speedup")
ESTIMATED = "~ "  # marks a time estimated from samples of repeated phases
_TIMED = 4  # where the columns of a part are: after those of the whole run
_SHARES = ("busy/NT", "stall/NT", "idle/NT", "prim./NT")  # of processor time, N times the time, including waiting


def derived(records: Sequence[RunRecord]) -> dict[str, dict[str, float | None]]:
    """Return the metrics of each run relative to its one-processor run, by the key of its point; see METRICS."""
    if not any(record.ok and record.point.processors == 1 for record in records):
        return {}
    # importing pandas takes longer than a short run
    import pandas as pd

    from scalegraph.analyze import metrics

    table = metrics.scaling(pd.DataFrame([record.row() for record in records]))
    found: dict[str, dict[str, float | None]] = {}
    for row in table.to_dict("records"):
        values = {name: _number(row.get(name)) for name in _DERIVED}
        found.update(dict.fromkeys(str(row["keys"]).split(","), values))
    return found


def _number(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def document(
    program: str,
    machine: str,
    records: Sequence[RunRecord],
    shown: Sequence[str],
    others: Sequence[RunRecord] = (),
    place: Path | None = None,
    part: timed.Part | None = None,
    every: Sequence[RunRecord] = (),
) -> dict[str, Any]:
    """Return the document of ``simulate --json``: the runs whose keys are *shown*, and *others*, the what-ifs.

    *place*: the study's file, to which trace paths are relative; *part*: the part timed separately; *every*: all
    repetitions of measured runs, of which *records* has one per point.
    """
    values = derived(every or records)
    runs = [_run(record, values.get(record.point.key, {}), place) for record in records if record.point.key in shown]
    if every:
        for run, interval in zip(runs, intervals([r for r in records if r.point.key in shown], every), strict=True):
            run |= interval
    made: dict[str, Any] = {"program": program, "machine": machine, "runs": runs}
    if part is not None:
        made["timed"] = {"what": part.what, "label": part.label}
        ratios = timed.ratios(part, records)
        keys = [record.point.key for record in records if record.point.key in shown]
        for run, key in zip(runs, keys, strict=True):
            ratio = ratios.get(key)
            run |= {f"timed_{name}": getattr(ratio, name, None) for name in ("speedup", "efficiency")}
            run["timed_s"] = ratio.time_s if ratio else None
    return made | {"what_if": what_if_documents(records, others)} if others else made


def what_if_documents(records: Sequence[RunRecord], others: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Return each what-if run of *others* in the format of ``runs``, with its variant and the actual time."""
    from scalegraph.analyze import whatif

    rows = {row.key: row for row in whatif.compared(records, others)}
    found = []
    for record in others:
        row = rows.get(record.point.key)
        values = {"speedup": _number(row.speedup), "efficiency": _number(row.efficiency)} if row else {}
        found.append(
            {
                "what_if": record.point.variant.model_dump(mode="json"),
                "label": record.point.variant.label(),
                "actual_s": row.actual_s if row else None,
                "gain": _number(row.gain) if row else None,
                **_run(record, values),
            }
        )
    return found


def _run(record: RunRecord, values: dict[str, float | None], place: Path | None = None) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": record.source, "machine": record.machine, "processors": record.point.processors}
    row |= {"processes": record.processes, "threads_per_process": record.threads_per_process}
    row |= {"schedule": record.point.variant.schedule or record.point.setting.get("schedule") or None}
    row |= {name: record.point.setting[name] for name in ("affinity", "cflags") if name in record.point.setting}
    if record.point.parameters:
        row["parameters"] = dict(record.point.parameters)
    row |= {name: getattr(record, name) for name in RUN_SCALARS}
    row |= {name: values.get(name) for name in _DERIVED}
    return row | {
        "unattributed_s": unattributed_s(record),
        "host_s": record.host_s,
        "exit_code": record.exit_code,
        "status": record.status,
        "message": record.message,
        "warnings": list(record.warnings),
        **sampling_document(record),
        **usage_document(record),
        "leaves": record.categories,
        "counters": record.counters,
        "causes": record.causes,
        "blame": record.blame,
        "widths": record.widths,
        "classes": record.classes,
        "variables": [variable.model_dump(exclude_defaults=True) for variable in record.variables],
        "shared_lines": [line.model_dump(exclude_defaults=True) for line in record.shared_lines],
        "resources": record.resources.documents(),
        "messages": message_documents(record),
        "waits": [wait.model_dump() for wait in record.waits],
        "trace": str(path) if (path := path_of(record, place)) else None,
        "stdout": record.stdout,
        "stdout_by_rank": list(parts) if (parts := record.rank_output) is not None else None,
        "stderr": record.stderr,
    }


def intervals(records: Sequence[RunRecord], every: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Return statistics of the repetitions of each measured run in *records*: median, mean and interval.

    ``low_s`` to ``high_s`` is the 95 % interval of the median (the whole range with fewer than six), null for one run.
    """
    if not any(record.source == "measured" for record in records):
        return [{} for _ in records]
    from statistics import fmean, stdev

    from scalegraph.analyze.targets import noise, repeated

    groups = {key: found[0] for key, group in repeated(every).items() if (found := noise(group))}
    made: list[dict[str, Any]] = []
    for record in records:
        known = groups.get(record.point.model_copy(update={"repetition": 0}).key)
        if known is None:
            made.append({"repetitions": 0, "low_s": None, "high_s": None})
            continue
        times = [run.time_s or 0.0 for run in known.runs]
        several = len(times) > 1
        made.append(
            {
                **({"time_s": known.median_s} if record.ok else {}),
                "repetitions": len(times),
                "low_s": known.low_s if several else None,
                "high_s": known.high_s if several else None,
                "sure": known.sure if several else None,
                "mean_s": fmean(times),
                "stdev_s": stdev(times) if several else None,
                "times_s": times,
                "outliers": [run.point.repetition + 1 for run in known.outliers],
            }
        )
    return made


def usage_document(record: RunRecord) -> dict[str, Any]:
    """Return the resource usage of a measured command; empty for other runs."""
    used = record.usage
    if used is None:
        return {}
    return {
        **used.model_dump(mode="json", exclude={"threads", "stacks"}),
        "threads_per_process": used.threads,
        "processor_time_s": used.processor_time_s,
        "parallelism": used.parallelism,
    }


def sampling_document(record: RunRecord) -> dict[str, Any]:
    """Return how a run was sampled, and the 95 % interval of its time in s; both null for a complete run."""
    interval = record.time_interval_s
    return {
        "estimated": record.estimated,
        "sampled": record.sampled.model_dump() if record.sampled else None,
        "interval_s": list(interval) if interval else None,
    }


def unattributed_s(record: RunRecord) -> float | None:
    """Return the unaccounted processor time of a measured run in seconds; ``None`` for other runs."""
    if "unattributed" not in record.categories or not record.clock_hz:
        return None
    return record.categories["unattributed"] / record.clock_hz


def message_documents(record: RunRecord) -> dict[str, Any] | None:
    """Return the cost of messages by communicator and by rank and partner; ``None`` for a program without messages."""
    if record.messages is None:
        return None
    return {"communicators": message_rows.by_communicator(record), "partners": message_rows.by_partner(record)}


def print_table(
    title: str,
    records: Sequence[RunRecord],
    shown: Collection[str],
    part: timed.Part | None = None,
    values: Mapping[str, Mapping[str, float | None]] | None = None,
) -> None:
    """Print one row per run whose key is in *shown*; the row of a failed run says how it ended.

    Columns for *part*, which is timed separately, are next to those of the whole run. *values*: the result of `derived`
    for *records* or more, if the caller has it.
    """
    values = derived(records) if values is None else values
    listed = [record for record in records if record.point.key in shown]
    done = [record for record in listed if record.ok]
    latencies = [values.get(record.point.key, {}).get("latency_s") for record in done]
    time, latency, misses = (
        measure((record.time_s for record in done), "s"),
        measure(latencies, "s"),
        measure((record.misses for record in done), ""),
    )
    columns = (time, latency, misses)
    headers = ["N", time.heading("time"), "speedup", "E", latency.heading("L(W,N)"), *_SHARES]
    headers += [misses.heading("misses"), "here"]
    rows = [_cells(record, values.get(record.point.key, {}), columns) for record in listed]
    if part is not None:
        ratios = timed.ratios(part, records)
        span = measure((ratios[record.point.key].time_s for record in listed if record.point.key in ratios), "s")
        headers[_TIMED:_TIMED] = (span.heading("part time"), "part speedup", "part E")
        for row, record in zip(rows, listed, strict=True):
            ratio = ratios.get(record.point.key)
            row[_TIMED:_TIMED] = [
                span.number(ratio.time_s if ratio else None),
                _plain(ratio.speedup if ratio else None),
                _plain(ratio.efficiency if ratio else None),
            ]
        title = f"{title}; part: {part.label}"
    if any(record.estimated for record in done):
        headers.insert(_TIMED - 2, "±")
        for row, record in zip(rows, listed, strict=True):
            row[_TIMED - 2 : _TIMED - 2] = [_reach(record)] if record.ok else []
    print_rows(headers, rows, title=title)
    for text in remarks(records):
        echo(f"! {text}")
    if said := estimated(listed):
        echo(f"{ESTIMATED}{said}")


def verified_documents(
    records: Sequence[RunRecord], others: Sequence[RunRecord], regions: Sequence[Region]
) -> list[dict[str, Any]]:
    """Return the places of the loss that runs have verified, largest gain first."""
    from scalegraph.analyze import culprits

    found = culprits.of_largest(records, regions, others)
    if found is None:
        return []
    run, parts = found
    return [
        {"file": one.file, "line": one.line, "share": one.share, "gain": one.gain, "promise": one.promise}
        for one in culprits.verified(parts, run, others)
    ]


def print_losses(records: Sequence[RunRecord], regions: Sequence[Region], others: Sequence[RunRecord] = ()) -> None:
    """Print where the run on the most processors loses its time, and why; *others* may have verified it.

    The loss is relative to one processor, or else to the fewest; for a single run it is everything but computing.
    """
    known = [record for record in records if record.ok and record.regions]
    if all(record.point.processors == 1 for record in known):
        return
    from scalegraph.analyze import culprits, verdicts

    found = culprits.of_largest(known, regions, others)
    said = []
    if found is not None:
        gained = culprits.gains(found[0], others)
        said = [item.text for item in verdicts.lost(found[1], found[0].point.processors, gained)]
    if own := timed.sentence(timed.clock_part(known), known):
        said.append(own)
    if said:
        echo(" ".join(said))


def _cells(
    record: RunRecord, values: Mapping[str, float | None], columns: tuple[Measure, Measure, Measure]
) -> list[str]:
    time, latency, misses = columns
    if not record.ok:
        return [str(record.point.processors), record.status.replace("_", " ")]
    shares = [record.busy_s, record.memory_stall_s, record.idle_s, record.primitive_s]
    total = record.point.processors * (record.time_s or 0.0)
    return [
        f"{record.point.processors}{' !' if of_run(record) else ''}",
        f"{ESTIMATED if record.estimated else ''}{time.number(record.time_s)}",
        _plain(values.get("speedup")),
        _plain(values.get("efficiency")),
        latency.number(values.get("latency_s")),
        *("–" if share is None or not total else percent(share / total, 1) for share in shares),
        misses.number(record.misses),
        si(record.host_s, "s"),
    ]


def _reach(record: RunRecord) -> str:
    """Return the half width of an estimated time's interval; a dash for a run simulated in full."""
    return reach(record.time_error) if record.estimated else "–"


def _plain(value: float | None) -> str:
    return "–" if value is None else significant(value)
