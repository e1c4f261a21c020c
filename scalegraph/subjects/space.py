"""The points of a study's space: each choice of machine, processors, split, schedule .. with time and costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, Final

from scalegraph.analyze.choosing.point import Point
from scalegraph.analyze.costs import energy
from scalegraph.analyze.targets import repeated
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.intervals import median_interval
from scalegraph.base.points import AXES
from scalegraph.base.run import RunRecord, Value
from scalegraph.base.units import assigned
from scalegraph.subjects.machines import machine_of
from scalegraph.subjects.study import StudyData

# Names of columns in imported tables that are not sizes, by the field of a point.
_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "machine": ("machine", "host", "hostname", "partition", "system", "cluster", "node_type", "platform"),
    "processes": ("ranks", "processes", "mpi_ranks", "nprocs", "np", "ntasks", "tasks"),
    "threads_per_process": (
        "threads",
        "threads_per_process",
        "threads_per_rank",
        "omp_threads",
        "omp_num_threads",
        "nthreads",
        "cpus_per_task",
    ),
    "schedule": ("schedule", "omp_schedule"),
    "affinity": ("affinity", "pin", "binding", "proc_bind", "omp_proc_bind"),
    "cflags": ("cflags", "flags", "compiler_flags"),
}
_FIELD: Final = {name: field for field, names in _NAMES.items() for name in names}


def points(data: StudyData) -> list[Point]:
    """Return the requested points that succeeded, for every choice and size of the study."""
    parts = data.choices or (data,)
    return data.once("space points", lambda: [point for at, part in enumerate(parts) for point in _of_part(part, at)])


def shown(data: StudyData, setting: Mapping[str, str] | None) -> StudyData:
    """Return *data* for the choice *setting*, with all others as its choices; unchanged if there is no such choice."""
    part = next((one for one in data.choices if one.manifest.get("setting") == setting), None)
    if part is None:
        return data
    searched = {name: data.manifest[name] for name in ("searched",) if name in data.manifest}
    return replace(part, manifest={**part.manifest, **searched}, choices=data.choices)


def failed(data: StudyData) -> int:
    """Return the number of failed runs of the study."""
    return sum(len(part.failed) for part in data.choices or (data,))


def one_size(found: Sequence[Point], wanted: Mapping[str, Value]) -> tuple[list[Point], str]:
    """Return the points of one size, and a sentence if there are others: times of different sizes do not compare.

    *wanted* selects sizes; of the remaining ones the one with most points is used, or the last of several in the study.

    Raises `InputError` if *wanted* selects none.
    """
    left = list(found)
    for name, value in wanted.items():
        kept = [one for one in left if str(_value(one, name)) == str(value)]
        if not kept:
            there = list(dict.fromkeys(str(known) for one in left if (known := _value(one, name)) is not None))
            text = f"'{name}={value}': the study has {name} = {', '.join(there)}" if there else f"there is no '{name}'"
            raise InputError(Fault(text, key="--select"))
        left = kept
    counts = Counter(_size(one) for one in left)
    if len(counts) < 2:
        return left, ""
    most = max(counts.values())
    size = [one for one in counts if counts[one] == most][-1]
    chosen = [one for one in left if _size(one) == size]
    words = assigned(chosen[0].parameters.items())
    name = next(iter(chosen[0].parameters), "n")
    return (
        chosen,
        f"the study has {len(counts)} sizes, and times of one size compare: {words}; --select {name}=.. takes another",
    )


def _value(point: Point, name: str) -> Any:
    """Return a point's value for a size, another text column, or a table's name for machine, ranks ..."""
    if name in point.parameters or name in point.others:
        return point.parameters.get(name, point.others.get(name))
    return getattr(point, field) if (field := _FIELD.get(name.lower())) is not None else None


def _size(point: Point) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(point.parameters.items(), key=lambda item: item[0]))


def _of_part(data: StudyData, member: int) -> list[Point]:
    """Return the points of one choice."""
    asked = data.manifest.get("asked")
    known = set(asked) if isinstance(asked, list) else None
    groups = repeated(run for run in data.runs if run.ok and run.source != "predicted")
    alone = _one_processor(data)
    found = []
    for group in groups.values():
        if known is not None and group[0].point.processors not in known:
            continue  # a reference, which nobody asked for
        found += [_point(data, part, alone, member) for part in _splits(group)]
    return found


def _splits(group: Sequence[RunRecord]) -> list[list[RunRecord]]:
    """Return the runs of one point by their split of processors into processes and threads."""
    found: dict[tuple[int | None, int | None], list[RunRecord]] = {}
    for run in group:
        found.setdefault((run.processes, run.threads_per_process), []).append(run)
    return list(found.values())


def _one_processor(data: StudyData) -> dict[str, float]:
    """Return the time on one processor of each run's problem (s), by key of the run, where known."""
    if data.table.empty:
        return {}
    if "serial_s" not in data.table.columns and all(run.source == "simulated" for run in data.runs):
        return _simulated_alone(data)
    found: dict[str, float] = {}
    for row in data.scaling[["keys", "t_seq_s"]].to_dict("records"):
        if math.isfinite(row["t_seq_s"]):
            found.update(dict.fromkeys(str(row["keys"]).split(","), float(row["t_seq_s"])))
    return found


def _simulated_alone(data: StudyData) -> dict[str, float]:
    """Do the same as `_one_processor` for simulated runs, whose reference is one processor or nothing.

    The general table takes much longer for 200 choices.
    """
    alone: dict[str, list[float]] = {}
    for run in data.runs:
        if run.ok and run.time_s and run.point.processors == 1:
            alone.setdefault(_problem(run), []).append(run.time_s)
    return {run.point.key: median(times) for run in data.runs if run.ok and (times := alone.get(_problem(run)))}


def _problem(run: RunRecord) -> str:
    return str((run.machine, sorted(run.point.parameters.items())))


def _point(data: StudyData, group: Sequence[RunRecord], alone: Mapping[str, float], member: int) -> Point:
    run = group[0]
    time_s, low, high = run.time_s or 0.0, None, None
    if run.source in ("measured", "imported") and len(group) > 1:
        times = [one.time_s or 0.0 for one in group]
        time_s, (low, high, _sure) = median(times), median_interval(times)
    elif run.time_interval_s is not None:
        low, high = run.time_interval_s
    run = run if run.time_s == time_s else run.model_copy(update={"time_s": time_s})
    said, others, sizes = _settings(data, run)
    if said["machine"]:
        run = run.model_copy(update={"machine": said["machine"]})
    machine = machine_of(data, run)
    one = alone.get(run.point.key)
    speedup = one / time_s if one is not None and time_s else None
    return Point(
        machine=run.machine,
        processors=run.point.processors,
        time_s=time_s,
        processes=_count(said["processes"]),
        threads_per_process=_count(said["threads_per_process"]),
        schedule=said["schedule"] or None,
        chosen=(data.manifest.get("automatic") or {}).get(run.point.model_copy(update={"repetition": 0}).key),
        affinity=said["affinity"] or None,
        cflags=said["cflags"] or None,
        others=others,
        parameters=sizes,
        efficiency=None if speedup is None else speedup / run.point.processors,
        speedup=speedup,
        core_hours=energy.core_hours(run, machine) or 0.0,
        node_hours=None if machine is None else energy.node_hours(run, machine),
        energy_j=None if machine is None else energy.energy_j(run, machine),
        price=None if machine is None else energy.price(run, machine),
        currency=machine.price.currency if machine is not None and machine.price is not None else "",
        why_no_energy=energy.why_no_energy(run, machine),
        why_no_price=energy.why_no_price(run, machine),
        node_processors=None if machine is None else machine.node_processors,
        low_s=low,
        high_s=high,
        repetitions=len(group),
        source=run.source,
        keys=tuple(one.point.key for one in group),
        member=member,
    )


def _settings(data: StudyData, run: RunRecord) -> tuple[dict[str, Any], dict[str, Value], dict[str, Value]]:
    """Return a run's settings besides its processors: by field, other texts, and its size.

    In imported tables the column names decide; a text in an unknown column is not a size either.
    """
    said: dict[str, Any] = dict.fromkeys(_NAMES, "")
    request = data.manifest.get("request") or {}
    said["schedule"] = str(request.get("schedule") or "")
    said |= {axis: run.point.setting[axis] for axis in AXES if axis in run.point.setting and axis != "machine"}
    said["processes"], said["threads_per_process"] = run.processes, run.threads_per_process
    if run.source != "imported":
        return said, {}, dict(run.point.parameters)
    others: dict[str, Value] = {}
    sizes: dict[str, Value] = {}
    for name, value in run.point.parameters.items():
        field = _FIELD.get(name.lower().replace("-", "_").replace(" ", "_").replace(".", "_"))
        if field is not None and not said[field]:
            said[field] = value if field in ("processes", "threads_per_process") else str(value)
        elif isinstance(value, str):
            others[name] = value
        else:
            sizes[name] = value
    if said["processes"] and not said["threads_per_process"]:
        each, rest = divmod(run.point.processors, int(said["processes"]))
        said["threads_per_process"] = None if rest else each
    elif said["threads_per_process"] and not said["processes"]:
        each, rest = divmod(run.point.processors, int(said["threads_per_process"]))
        said["processes"] = None if rest else each
    return said, others, sizes


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and value > 0 else None
