"""``scalegraph schedules``: the available schedules of worksharing loops, and a program under each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from scalegraph.analyze.loops.selection import PROBE
from scalegraph.analyze.remarks import estimated
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, Fault, InputError
from scalegraph.base.events import EventSink, Note
from scalegraph.base.measures import Measure, measure, percent
from scalegraph.base.run import RunRecord
from scalegraph.cli.asked import request_option
from scalegraph.cli.host_schedules import WRITTEN, Series, measured, show
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import echo, print_json, print_rows
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.progress import progress
from scalegraph.cli.run_table import ESTIMATED, sampling_document
from scalegraph.cli.simulate import ProgramArguments, submit
from scalegraph.cli.simulating.lists import OPTIONS
from scalegraph.cli.simulating.request import make_request, one_choice
from scalegraph.link import loops
from scalegraph.request import Session
from scalegraph.request.model.extras import Schedules, WhatIf
from scalegraph.request.model.request import Request
from scalegraph.request.model.resolve import resolved
from scalegraph.runtime import schedules as known
from scalegraph.store import Study
from scalegraph.subjects.automatic_schedules import Picked, picked, to_try
from scalegraph.subjects.schedule_runs import Advice, saving, schedule_runs
from scalegraph.subjects.study import StudyData
from scalegraph.views.study.schedules import words


@click.command("schedules", cls=ProgramArguments)
@click.argument("sources", metavar="SRC...", nargs=-1)
@request_option("machine.name")
@request_option("processors")
@request_option("program.cflags")
@request_option("program.ldflags")
@request_option("program.include")
@request_option("program.env")
@request_option("program.stdin", **OPTIONS["program.stdin"])
@request_option("program.cwd", **OPTIONS["program.cwd"])
@request_option("program.accept_exit")
@request_option("limits.time_s")
@request_option("collect.sample")
@click.option("--list", "listing", is_flag=True, help="List the available schedules; the default without SRC.")
@click.option(
    "--schedules",
    "chosen",
    default="all",
    show_default=True,
    metavar="LIST",
    help="Which to compare: all; automatic: the few that a first run suggests; or names as in ML,EA, with "
    "parameters as in 'ML;EA,alpha=32'.",
)
@click.option(
    "--confirm-on",
    "others",
    default="",
    metavar="M,..",
    help="Run what is advised on these machines, too: how sure is the gain?",
)
@click.option(
    "--target",
    type=click.Choice(["simulated", "host"]),
    default="simulated",
    show_default=True,
    help="Where the program runs; host: on this computer, timed; with --machine also simulated.",
)
@click.option(
    "--repeats",
    type=click.IntRange(3, 1000),
    default=5,
    show_default=True,
    metavar="K",
    help="Measured runs of each schedule and number of threads.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.option("-o", "--output", "study", type=WRITTEN_FILE, metavar="STUDY", help="Keep the runs in a study file.")
@click.pass_context
def schedules(
    ctx: click.Context,
    /,
    *,
    listing: bool,
    chosen: str,
    others: str,
    target: str,
    repeats: int,
    as_json: bool,
    study: Path | None,
    **given: Any,
) -> None:
    """List the schedules of worksharing loops; or run a program under each and say which is best, and why.

    SRC are sources of the program, or the name of a shipped one; what follows ``--`` are its arguments. All its
    worksharing loops get the schedule, including static ones. Repeated phases of long runs are sampled, unless --exact:
    estimated times are marked ~ and followed by their 95 % interval.
    """
    if listing or not given["sources"]:
        _list(as_json=as_json)
        return
    names = _chosen(chosen)
    machines = [name.strip() for name in others.split(",") if name.strip()]
    arguments = ctx.meta.get("program_arguments", ())
    request, counts = _request(given, arguments)
    if target == "host" and not given["machine_name"]:
        _check_measured(names, study, sample=given["collect_sample"] == "always")
        _show_measured(request, _measured(request, names, sorted(counts), repeats), sorted(counts), as_json=as_json)
        return
    again = {name: _request(given | {"machine_name": name}, arguments)[0] for name in machines}
    picks: list[Picked] = []
    with interruptible() as cancel, progress() as emit, TemporaryDirectory() as scratch:
        if names == [loops.AUTOMATIC]:
            study = study or Path(scratch) / "automatic.sgstudy"  # schedules run by the probe are not run again
            names, picks = automatic(request, study, emit, cancel)
        kept = submit(_comparing(request, names), study, emit, cancel, None)
        with kept:
            found = schedule_runs(Session().study_data(kept))
            advices = found.every_advice() if found is not None else []
            gains = {}
            for name, other in again.items() if advices and advices[-1].fastest else ():
                what = WhatIf(schedule=advices[-1].fastest)
                with submit(other.model_copy(update={"what_if": (what,)}), None, emit, cancel, None) as there:
                    gains[name] = _gains(Session().study_data(there))
            series: list[Series] = []
            if target == "host" and not cancel.cancelled:
                advised = [one.fastest for one in advices[-1:] if one.fastest and one.fastest not in names]
                series = _measured(request, [*names, *advised], sorted(counts), repeats)
            done = _report(kept, _Found(advices, gains, series, picks), names, sorted(counts), as_json=as_json)
    if cancel.cancelled:
        raise Cancelled("interrupted; finished runs are kept")
    if not done:
        ctx.exit(1)


@dataclass(frozen=True)
class _Found:
    """*gains*: by machine and N, the time saved by the schedule advised on the most processors, as a share."""

    advices: Sequence[Advice]
    gains: Mapping[str, Mapping[int, float]]
    series: Sequence[Series]  # measured on this computer
    picks: Sequence[Picked] = ()  # why --schedules automatic tried these schedules


def _request(given: Mapping[str, Any], arguments: Sequence[str]) -> tuple[Request, Sequence[int]]:
    request, counts = make_request({**given, "reference": False}, arguments)
    return one_choice(request), counts


def _check_measured(names: Sequence[str], study: Path | None, *, sample: bool) -> None:
    """Raise `click.UsageError` for options that apply only to simulated runs."""
    refused = [
        (names == [loops.AUTOMATIC], "automatic chooses from simulated runs"),
        (study is not None, "-o keeps simulated runs"),
        (sample, "--sample is for simulated runs"),
    ]
    for is_asked, text in refused:
        if is_asked:
            raise click.UsageError(f"{text}; name a machine with --machine")


def _comparing(request: Request, names: Sequence[str], *, advise: bool = True) -> Request:
    return request.model_copy(update={"schedules": Schedules(compare=tuple(names), advise=advise)})


def automatic(request: Request, study: Path, emit: EventSink, cancel: CancelToken) -> tuple[list[str], list[Picked]]:
    """Return the schedules suggested by a probe run, including the probe, and what it showed about each loop."""
    with submit(_comparing(request, [PROBE], advise=False), study, emit, cancel, None) as kept:
        found = picked(Session().study_data(kept))
    return [PROBE, *to_try(found)], found


def _gains(data: StudyData) -> dict[int, float]:
    """Return the gain by N of the single schedule in the study *data* besides the program as written."""
    written = {run.point.processors: run for run in data.runs if run.ok}
    return {
        run.point.processors: saving(written[run.point.processors], run)
        for run in data.variants
        if run.ok and run.point.processors in written
    }


def _measured(request: Request, names: Sequence[str], counts: Sequence[int], repeats: int) -> list[Series]:
    with interruptible() as cancel, progress() as emit:
        return measured(request, names, counts, repeats, cancel, lambda text: emit(Note(text)))


def _show_measured(request: Request, series: Sequence[Series], counts: Sequence[int], *, as_json: bool) -> None:
    if as_json:
        print_json({"program": resolved(request).target.program, "kind": "measured", "runs": _documents(series)})
    else:
        show(series, counts)


def _documents(series: Sequence[Series]) -> list[dict[str, Any]]:
    return [one.document() for one in series]


def _list(*, as_json: bool) -> None:
    found = known.shipped()
    if as_json:
        print_json({"schedules": [one.document() for one in found]})
        return
    rows = [
        [one.name, one.title, ", ".join(f"{p.name}={p.default}" for p in one.parameters), one.reference]
        for one in found
    ]
    print_rows(("name", "what it does", "parameters", "reference"), rows, left=(0, 1, 2, 3))


def _chosen(text: str) -> list[str]:
    """Return the schedules to compare; raise `InputError` with all unknown ones."""
    if text.strip().lower() == loops.AUTOMATIC:
        return [loops.AUTOMATIC]
    if text.strip() == "all":
        return [one.name for one in known.shipped()]
    separator = ";" if ";" in text or "=" in text else ","
    names = [part.strip() for part in text.split(separator) if part.strip()]
    faults: list[Fault] = []
    for name in names:
        try:
            faults += loops.faults(loops.parse(name))
        except ValueError as error:
            faults.append(Fault(str(error)))
    if faults or not names:
        raise InputError([replace(fault, key="--schedules") for fault in faults or [Fault("no schedule is named")]])
    return names


def _report(kept: Study, found: _Found, names: Sequence[str], counts: Sequence[int], *, as_json: bool) -> bool:
    """Print the comparison; return whether all runs succeeded."""
    records = [(WRITTEN, record) for record in kept.runs() if not record.point.repetition]
    records += [(record.point.variant.schedule, record) for record in kept.variants()]
    table = {(name, record.point.processors): record for name, record in records}
    rows = [(name, [table.get((name, n)) for n in counts]) for name in (WRITTEN, *names)]
    if as_json:
        print_json(
            {
                "program": kept.manifest.program,
                "schedules": [_document(name, runs) for name, runs in rows],
                **({"automatic": [asdict(pick) for pick in found.picks]} if found.picks else {}),
                "advice": [_advice_document(advice) for advice in found.advices],
                "confirmed_on": {
                    name: [{"processors": n, "gain": gain} for n, gain in sorted(gains.items())]
                    for name, gains in found.gains.items()
                },
                **({"measured": _documents(found.series)} if found.series else {}),
            }
        )
    else:
        if found.series:
            show(found.series, counts)
            echo("\nSimulated:")
        _print(rows, counts)
        for line in _sampling(rows):
            echo(line)
        for pick in found.picks:
            echo(f"{pick.loop} on {pick.processors}: {pick.why}.")
        for line in _sentences(found):
            echo(line)
    return all(record.ok for _, record in records)


def _sampling(rows: Sequence[tuple[str, Sequence[RunRecord | None]]]) -> list[str]:
    """Return sentences on how much of the runs was not simulated, and why others were simulated completely."""
    tried = [(name, run) for name, runs in rows for run in runs if run is not None and run.ok]
    whole: dict[str, list[str]] = {}
    for name, run in tried:
        remark = run.sampled.remark(run.time_cycles) if run.sampled is not None and not run.estimated else ""
        if remark in run.warnings:
            whole.setdefault(remark, []).append(f"{name} with N = {run.point.processors}")
    said = estimated(run for _, run in tried)
    return [
        *([f"{ESTIMATED}{said}"] if said else []),
        *(f"! {', '.join(names)}: {text}" for text, names in whole.items()),
    ]


def _sentences(found: _Found) -> list[str]:
    """Return which schedule is best and why, loop by loop, and on which processor counts and machines that holds."""
    if not found.advices:
        return []
    last = found.advices[-1]
    loops = [
        f"  {loop.loop}: {words.said(loop.best)}, {percent(loop.saved / loop.cycles[''])} of the loop's time less"
        for loop in last.loops
        if loop.best
    ]
    machines = [
        f"On {name} it saves "
        + ", ".join(f"{percent(gain)} on {n}" for n, gain in sorted(gains.items()))
        + " processors."
        for name, gains in found.gains.items()
    ]
    run = [f"To run it: scalegraph simulate --schedule '{last.fastest}'"] if last.fastest else []
    return [words.verdict(last), *loops, words.confirmed(last), words.interval(list(found.advices)), *machines, *run]


def _advice_document(advice: Advice) -> dict[str, Any]:
    return {
        "processors": advice.processors,
        "schedule": advice.fastest or WRITTEN,
        "gain": advice.gain,
        "time_s": advice.fastest_run.time_s,
        "written_s": advice.written.time_s,
        "sure": advice.sure,
        "loops": [
            {
                "loop": loop.loop,
                "schedule": loop.best or WRITTEN,
                "cycles": loop.cycles[loop.best],
                "written_cycles": loop.cycles[""],
            }
            for loop in advice.loops
        ],
        "together": {
            "schedule": advice.together or WRITTEN,
            "expected_s": advice.expected_s,
            "time_s": advice.run.time_s if advice.run is not None else None,
        },
    }


def _document(name: str, runs: Sequence[RunRecord | None]) -> dict[str, Any]:
    return {
        "name": name,
        "runs": [
            {
                "processors": run.point.processors,
                "status": run.status,
                "time_s": run.time_s,
                **sampling_document(run),
                "categories": run.categories,
            }
            for run in runs
            if run is not None
        ],
    }


def _print(rows: Sequence[tuple[str, Sequence[RunRecord | None]]], counts: Sequence[int]) -> None:
    times = measure((_time(run) for _, runs in rows for run in runs), "s")
    ordered = sorted(rows, key=lambda row: (last := _time(row[1][-1])) is None or last)
    cells = [[name, *(_cell(run, times) for run in runs)] for name, runs in ordered]
    print_rows((times.heading("schedule, time"), *(f"N = {n}" for n in counts)), cells, left=(0,))


def _cell(run: RunRecord | None, times: Measure) -> str:
    """Return the time of a run; for an estimate with half its interval."""
    time = _time(run)
    if run is None or time is None:
        return "failed"
    if not run.estimated:
        return times.number(time)
    return f"{ESTIMATED}{times.number(time)} ± {times.number(time * run.time_error)}"


def _time(run: RunRecord | None) -> float | None:
    return run.time_s if run is not None and run.ok else None
