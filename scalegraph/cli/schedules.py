"""``scalegraph schedules``: the schedules of worksharing loops that there are, and a program under each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from scalegraph.base.errors import Cancelled, Fault, InputError
from scalegraph.base.measures import measure, percent
from scalegraph.base.run import RunRecord
from scalegraph.cli.asked import request_option
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import echo, print_json, print_rows
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.progress import progress
from scalegraph.cli.simulate import Given, ProgramArguments, make_request, submit
from scalegraph.link import loops
from scalegraph.request.model.extras import WhatIf
from scalegraph.request.model.request import RunLimits
from scalegraph.runtime import schedules as known
from scalegraph.store import Study
from scalegraph.views.common import CATEGORY_WORDS

WRITTEN = "as written"
_PARTS, _SMALL = 3, 0.005  # of a verdict: so many, none smaller


@click.command("schedules", cls=ProgramArguments)
@click.argument("sources", metavar="SRC...", nargs=-1)
@request_option("machine.name")
@request_option("processors")
@request_option("program.cflags", default="")
@request_option("program.ldflags", default="")
@request_option("program.include")
@click.option("--list", "listing", is_flag=True, help="List the schedules that there are; so does no SRC.")
@click.option("--schedules", "chosen", default="all", show_default=True, metavar="LIST",
              help="Which to compare: all, or names as in ML,EA, with parameters as in 'ML;EA,alpha=32'.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.option("-o", "--output", "study", type=WRITTEN_FILE, metavar="STUDY", help="Keep the runs in a study file.")
@click.pass_context
def schedules(
    ctx: click.Context, /, *, listing: bool, chosen: str, as_json: bool, study: Path | None, **given: Any
) -> None:
    """List the schedules of worksharing loops; or run a program under each and say which is best, and why.

    SRC are sources of the program, or the name of a shipped one; what follows ``--`` are its arguments. All its
    worksharing loops get the schedule, static ones too.
    """
    if listing or not given["sources"]:
        _list(as_json=as_json)
        return
    names = _chosen(chosen)
    request, counts = make_request(
        Given(
            **given,
            arguments=ctx.meta.get("program_arguments", ()),
            overrides=(),
            schedule="",
            env=(),
            stdin=None,
            cwd=None,
            executable="",
            build="",
            limits=RunLimits(),
            regions=True,
            reference=False,
        )
    )
    what = tuple(WhatIf(schedule=name, processors=tuple(sorted(counts))) for name in names)
    with interruptible() as cancel, progress() as emit:
        kept = submit(request.model_copy(update={"what_if": what}), study, emit, cancel, None)
    with kept:
        done = _report(kept, names, sorted(counts), as_json=as_json)
    if cancel.cancelled:
        raise Cancelled("interrupted; what was finished is kept")
    if not done:
        ctx.exit(1)


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
    """Return the schedules to compare; raise `InputError` with all that there are not."""
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


def _report(kept: Study, names: Sequence[str], counts: Sequence[int], *, as_json: bool) -> bool:
    """Print the comparison; return whether all runs ended well."""
    records = [(WRITTEN, record) for record in kept.runs() if not record.point.repetition]
    records += [(record.point.variant.schedule, record) for record in kept.variants()]
    table = {(name, record.point.processors): record for name, record in records}
    rows = [(name, [table.get((name, n)) for n in counts]) for name in (WRITTEN, *names)]
    if as_json:
        print_json({"program": kept.manifest.program, "schedules": [_document(name, runs) for name, runs in rows]})
    else:
        _print(rows, counts)
    return all(record.ok for _, record in records)


def _document(name: str, runs: Sequence[RunRecord | None]) -> dict[str, Any]:
    return {
        "name": name,
        "runs": [
            {
                "processors": run.point.processors,
                "status": run.status,
                "time_s": run.time_s,
                "categories": run.categories,
            }
            for run in runs
            if run is not None
        ],
    }


def _print(rows: Sequence[tuple[str, Sequence[RunRecord | None]]], counts: Sequence[int]) -> None:
    times = measure((_time(run) for _, runs in rows for run in runs), "s")
    ordered = sorted(rows, key=lambda row: (last := _time(row[1][-1])) is None or last)
    cells = [
        [name, *("failed" if _time(run) is None else times.number(_time(run)) for run in runs)]
        for name, runs in ordered
    ]
    print_rows((times.heading("schedule, time"), *(f"N = {n}" for n in counts)), cells, left=(0,))
    best, written = ordered[0][1][-1], rows[0][1][-1]
    if best is not None and written is not None and best.ok and written.ok:
        echo(_verdict(ordered[0][0], best, written))


def _time(run: RunRecord | None) -> float | None:
    return run.time_s if run is not None and run.ok else None


def _verdict(name: str, best: RunRecord, written: RunRecord) -> str:
    """Return what the best schedule gains, and where most of the processors' time is saved or spent."""
    processors = written.point.processors
    if name == WRITTEN or not best.time_s or not written.time_s:
        return f"On {processors} processors no schedule is faster than what the program says."
    whole = sum(written.categories.values())
    shares = {
        key: (written.categories.get(key, 0) / whole, best.categories.get(key, 0) / whole)
        for key in sorted({*best.categories, *written.categories})
    }
    most = sorted(shares, key=lambda key: -abs(shares[key][0] - shares[key][1]))[:_PARTS]
    said = [
        f"{CATEGORY_WORDS.get(key, key)} from {percent(shares[key][0])} to {percent(shares[key][1])}"
        for key in most
        if abs(shares[key][0] - shares[key][1]) >= _SMALL
    ]
    gain = percent(1 - best.time_s / written.time_s)
    of = f". Of the processors' time as written: {', '.join(said)}" if said else ""
    return f"On {processors} processors {name} takes {gain} less time than what the program says{of}."
