"""Every quantity that can be computed from a study, by name: tables for the command line and for files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TypeAlias

import pandas as pd

from scalegraph.analyze import fixed, metrics, monitoring, pop, profile, series, whatif
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.run import RunRecord
from scalegraph.request.results import analyses, modelling, scalability
from scalegraph.request.results.quantity import Quantity
from scalegraph.subjects import judgement, scaled_speedups, weak_runs
from scalegraph.subjects import series as series_
from scalegraph.subjects.pop_efficiencies import efficiencies, path_efficiencies
from scalegraph.subjects.study import StudyData
from scalegraph.views import registry

Table: TypeAlias = pd.DataFrame


def _runs(data: StudyData, processors: int | None) -> Table:
    table = data.table
    return table if processors is None or table.empty else table[table["processors"] == processors]


def _scaling(data: StudyData, processors: int | None) -> Table:
    table = data.scaling
    return table if processors is None or table.empty else table[table["processors"] == processors]


def _columns(*names: str, weak: str = "") -> Callable[[StudyData, int | None], Table]:
    """Return a function for columns of `metrics.scaling`; for weak-scaling sets also those of `analyze.weak`."""

    def compute(data: StudyData, processors: int | None) -> Table:
        table = _scaling(data, processors)
        made = table[[name for name in ("label", "processors", *names) if name in table.columns]]
        if weak and data.meaning is not None and data.meaning.scaling == "weak":
            known = weak_runs.table(data)
            if len(known):
                values = known.set_index(["problem", "processors"])[weak]
                keys = pd.MultiIndex.from_frame(table[["problem", "processors"]])
                made = made.assign(**{weak: values.reindex(keys).to_numpy()})
        return made

    return compute


def _overheads(data: StudyData, processors: int | None) -> Table:
    return _labelled(data, metrics.overheads(data.scaling), processors)


def _breakdown(data: StudyData, processors: int | None) -> Table:
    shares = metrics.breakdown(data.scaling)
    return _labelled(data, shares.assign(processors=data.scaling["processors"]), processors)


def _labelled(data: StudyData, table: Table, processors: int | None) -> Table:
    made = table.drop(columns=["problem"], errors="ignore")
    made.insert(0, "label", data.scaling["label"])
    made.insert(1, "processors", made.pop("processors"))
    return made if processors is None else made[made["processors"] == processors]


def _turning(data: StudyData, _processors: int | None) -> Table:
    rows = []
    for item in series.fixed_size(data.scaling):
        point = fixed.turning_point(item.rows)
        if point is not None:
            found = asdict(point) | {"label": item.label}
            rows.append({"label": found.pop("label"), "p_x": found.pop("processors"), **found})
    return pd.DataFrame(rows).rename(columns={"latency_s": "l_max_s"})


def _profile(data: StudyData, processors: int | None) -> Table:
    return profile.region_costs(_one_run(data, processors), data.regions)


def _lines(data: StudyData, processors: int | None) -> Table:
    return profile.line_costs(_one_run(data, processors))


def _processors(data: StudyData, processors: int | None) -> Table:
    return profile.processor_costs(_one_run(data, processors))


def _one_run(data: StudyData, processors: int | None) -> RunRecord:
    """Return a run of the main fixed size: on *processors*, by default on the most."""
    main = series.main_series(data.scaling)
    rows = main.rows if main is not None else data.scaling
    if processors is not None:
        rows = rows[rows["processors"] == processors]
        if rows.empty and not data.scaling.empty:
            rows = data.scaling[data.scaling["processors"] == processors]
    if rows.empty:
        there = ", ".join(map(str, sorted(set(data.scaling["processors"])))) if not data.scaling.empty else "none"
        raise InputError(Fault(f"no run on {processors or 'any'} processors ended well; there are runs on {there}"))
    key = str(rows.sort_values("processors").iloc[-1]["keys"]).split(",")[0]
    return data.by_key[key]


def _pop(data: StudyData, processors: int | None) -> Table:
    table = efficiencies(data, data.scaling).drop(columns="problem")
    return table if processors is None else table[table["processors"] == processors]


def _pop_regions(data: StudyData, processors: int | None) -> Table:
    run = _one_run(data, processors)
    same = [other for other in data.runs if other.ok and other.point.parameters == run.point.parameters]
    reference = min(same, key=lambda other: other.point.processors)
    if not run.regions and data.measured is not None and data.meaning is not None:
        return path_efficiencies(data, run, reference)
    table = pop.region_efficiencies(run, reference if reference is not run else None)
    names = {region.id: region.name for region in data.regions}
    table.insert(1, "name", [names.get(int(region), "program" if region == 0 else "") for region in table["region"]])
    return table


def _verdicts(data: StudyData, _processors: int | None) -> Table:
    return pd.DataFrame([asdict(item) for item in judgement.said(data)])


def _loss(data: StudyData, processors: int | None) -> Table:
    main = series.main_series(data.scaling)
    found = judgement.parts(data, main, processors)
    return pd.DataFrame() if found is None else found


def _searches(data: StudyData, _processors: int | None) -> Table:
    rows = []
    for outcome in data.manifest.get("searches") or []:
        size = outcome.get("parameters") or {}
        kept = {key: value for key, value in outcome.items() if key != "parameters"}
        rows.append({**kept, **{f"param.{name}": value for name, value in size.items()}})
    return pd.DataFrame(rows)


def _monitoring(data: StudyData, processors: int | None) -> Table:
    return monitoring.table(run for run in data.runs if processors in (None, run.point.processors))


def _what_if(data: StudyData, processors: int | None) -> Table:
    rows = whatif.compared(data.runs, data.variants)
    return whatif.frame([row for row in rows if processors is None or row.processors == processors])


_ALL = (
    Quantity("runs", "the run table: one row for each run, as it was stored", _runs, compares=False, of_runs=False),
    Quantity("scaling", "everything derived from each run and its one-processor run", _scaling),
    Quantity(
        "speedup",
        "how many times as fast as on one processor",
        _columns("speedup", "speedup_low", "speedup_high", weak="scaled_speedup"),
    ),
    Quantity(
        "efficiency",
        "speedup over the processors",
        _columns("efficiency", "efficiency_accounting", weak="weak_efficiency"),
    ),
    Quantity(
        "time",
        "elapsed time, and the time on one processor, seconds",
        _columns("time_s", "t_seq_s", "time_min_s", "time_max_s"),
    ),
    Quantity(
        "latency",
        "L(W,N) by accounting and by method 1, seconds a processor",
        _columns("latency_s", "latency_method1_s", "latency_difference_s"),
    ),
    Quantity(
        "sources",
        "ML, IT and PT, seconds summed over processors",
        _columns("ml_s", "it_s", "pt_s"),
        view="latency-sources",
    ),
    Quantity("overheads", "average latency by cause, seconds a processor", _overheads, view="overheads"),
    Quantity("breakdown", "shares of processor time by category", _breakdown, view="breakdown"),
    Quantity(
        "monitoring", "perturbation by monitoring, and the time compensated for it", _monitoring, view="monitoring"
    ),
    Quantity("turning", "where every fixed size is fastest, and the latency there", _turning, view="latency"),
    Quantity(
        "rates",
        "utilisation, memory access and miss rates, parallel share of time and of operations",
        _columns(
            "cpu_utilisation",
            "memory_access_rate",
            "miss_rate",
            "l1_miss_rate",
            "parallel_share",
            "parallel_ops_share",
        ),
    ),
    Quantity(
        "work", "W: operations of the one-processor run, and unit speed", _columns("work", "work_fp", "unit_speed")
    ),
    Quantity("profile", "costs by region of one run", _profile, view="profile", compares=False),
    Quantity("lines", "costs by source line of one run", _lines, view="lines", compares=False),
    Quantity("processors", "costs by processor of one run", _processors, view="processors", compares=False),
    Quantity("verdicts", "verdicts on strong and weak scaling, and where time is lost", _verdicts, view="verdicts"),
    Quantity("loss", "losses relative to one processor, by place and cause, processor-seconds", _loss, view="verdicts"),
    Quantity("pop", "POP efficiencies: load balance, serialisation, transfer, computation scaling", _pop, view="pop"),
    Quantity("pop-regions", "POP efficiencies of every region of one run", _pop_regions, view="pop"),
    Quantity("matrix", "scalability with the efficiency held", scalability.matrix("efficiency"), view="matrix"),
    Quantity("matrix-time", "scalability with the time held", scalability.matrix("time"), view="matrix"),
    Quantity(
        "matrix-memory", "scalability with the memory per processor held", scalability.matrix("memory"), view="matrix"
    ),
    Quantity(
        "matrix-energy", "scalability with the energy to solution held", scalability.matrix("energy"), view="matrix"
    ),
    Quantity(
        "isospeed-matrix",
        "scalability with the unit speed held",
        scalability.matrix("speed", "isospeed"),
        view="isospeed-speed",
        of_runs=False,
    ),
    Quantity(
        "isoefficiency-matrix",
        "N' W/(N W') with the efficiency held",
        scalability.matrix("efficiency", "isoefficiency"),
        view="matrix",
        of_runs=True,
    ),
    Quantity(
        "predicted-matrix",
        "scalability with the efficiency held, by models of the times",
        scalability.matrix("efficiency", way="predicted"),
    ),
    Quantity(
        "cells",
        "every cell of the matrix: its way, and its interval where models predict it",
        scalability.cells,
        view="matrix",
    ),
    Quantity(
        "average", "scalability averaged over a set of efficiencies", scalability.average, view="average-scalability"
    ),
    Quantity(
        "speedups",
        "fixed-size, fixed-time and memory-bounded speedup (Sun and Ni)",
        lambda data, _processors: scaled_speedups.table(data),
        view="scaled-speedups",
    ),
    Quantity(
        "overestimation",
        "the time bound compared with the efficiency held",
        scalability.overestimation,
        view="overestimation",
    ),
    Quantity("unit-speed", "average unit speed W/(N T) of every run", scalability.unit_speed),
    Quantity(
        "asymptotic-speed",
        "the asymptotic unit speed of large problems, with interval",
        scalability.asymptotic_speed,
        view="isospeed-speed",
    ),
    Quantity(
        "prediction",
        "the latency where it is fastest, and the processors that latencies of misses predict",
        scalability.predicted_processors,
        view="miss-prediction",
    ),
    Quantity(
        "what-if", "what-if runs and the actual ones: time, gain, the gap that is closed", _what_if, view="what-if"
    ),
    Quantity(
        "laws",
        "laws of speedup fitted to the times: numbers with intervals, error, evidence",
        modelling.laws,
        view="laws",
    ),
    Quantity(
        "models",
        "performance model of every call path, and its share at a target",
        modelling.models,
        view="region-models",
    ),
    Quantity(
        "karp-flatt",
        "experimentally determined serial fraction at every N, and its trend",
        modelling.serial_fraction,
        view="serial-fraction",
    ),
    Quantity(
        "isoefficiency",
        "order of growth of the work that keeps an efficiency",
        modelling.isoefficiency,
        view="isoefficiency",
    ),
    Quantity(
        "back-test", "each law's prediction for the largest N, fitted without it", modelling.back_test, view="back-test"
    ),
    Quantity(
        "back-test-regions",
        "the same for the model of every call path",
        modelling.back_test_regions,
        view="region-models",
    ),
    Quantity(
        "searches",
        "the sizes that searches found, and how many runs that took",
        _searches,
        compares=False,
        of_runs=False,
    ),
)
QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in (*_ALL, *analyses.found())}

_KEYS = ("processors", "label", "problem", "repetition", "reference", "n", "n2")


def blank(table: Table) -> bool:
    """Return whether a table has no rows, or only keys in its rows."""
    left = table.drop(columns=[name for name in _KEYS if name in table.columns])
    return table.empty or bool(left.replace("", None).isna().to_numpy().all())


def notes(data: StudyData, name: str) -> list[str]:
    """Return notes on quantity *name*: what is estimated, how measurements were taken, what they compare."""
    known = series_.measured_notes(data)
    estimated = (data.estimated(),) if data.estimated() and _is_of_runs(QUANTITIES[name]) else ()
    return [*estimated, *(known if QUANTITIES[name].compares else ())]


def lacks(data: StudyData, name: str) -> str:
    """Return a sentence on what a study's machines do not state for quantity *name*; empty if nothing is missing."""
    found = QUANTITIES[name].lacks
    return "" if found is None else found(data)


def why_blank(data: StudyData, name: str) -> str:
    """Return why quantity *name* has no number in a study, and how to get one."""
    shown = QUANTITIES[name].view
    if data.table.empty or shown:
        view = registry()[shown or "time"].build(data)
        if view.empty:
            return view.told
    return "no run of the study gives it"


def _is_of_runs(quantity: Quantity) -> bool:
    if quantity.of_runs is not None:
        return quantity.of_runs
    return not (quantity.view and registry()[quantity.view].of_no_runs)


def compute(data: StudyData, name: str, processors: int | None = None) -> Table:
    """Return quantity *name* of a study, only for runs on *processors* if given.

    Raises `InputError` for an unknown name, with the nearest known one.
    """
    if name not in QUANTITIES:
        hint = near(name, QUANTITIES) or f"; known: {', '.join(QUANTITIES)}"
        raise InputError(Fault(f"unknown quantity '{name}'{hint}", key="--what"))
    if data.table.empty and _is_of_runs(QUANTITIES[name]):
        return pd.DataFrame()
    return QUANTITIES[name].compute(data, processors)
