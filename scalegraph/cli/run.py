"""``scalegraph run``: a whole request."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scalegraph.base.errors import Cancelled
from scalegraph.base.points import SIMULATED, setting_words
from scalegraph.base.units import assigned, counted, seconds
from scalegraph.cli.asked import request_option, sampled
from scalegraph.cli.asserting import assert_options, check_given, outcome
from scalegraph.cli.cluster.elsewhere import on_options, place_given, there, write_jobs
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.measuring.options import place_of
from scalegraph.cli.output import echo, print_json
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.progress import Unrecorded, progress
from scalegraph.cli.simulating.choices import print_schedules, together, with_choice
from scalegraph.cli.standard_input import with_redirected
from scalegraph.cli.tracing import print_traces
from scalegraph.cli.trusting import settled, trust_option
from scalegraph.request import Session
from scalegraph.request.run.automatic import without_tries
from scalegraph.request.run.joining import choice_of

if TYPE_CHECKING:
    from scalegraph.base.run import RunRecord
    from scalegraph.request.model.request import Request
    from scalegraph.store import Study


@click.command("run")
@click.argument("request_file", metavar="REQUEST.toml", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="STUDY",
    type=WRITTEN_FILE,
    help="The study file; by default REQUEST.sgstudy next to the request.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
@click.option("--plan", "only_plan", is_flag=True, help="Say what would be run, and run nothing.")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Number of parallel runs; by default one per core."
)
@click.option("--quiet", is_flag=True, help="Show failures and remarks only.")
@request_option("collect.sample")
@on_options
@assert_options
@trust_option
@click.pass_context
def run(
    ctx: click.Context,
    request_file: Path,
    output: Path | None,
    jobs: int | None,
    on: str | None,
    settings: tuple[str, ...],
    jobs_directory: Path | None,
    statements: tuple[str, ...],
    junit: Path | None,
    collect_sample: str | None,
    *,
    as_json: bool,
    only_plan: bool,
    quiet: bool,
    trust: bool,
) -> None:
    """Carry out a request: program, scaling method, bounds, processors, machine, what to collect.

    Runs are saved in the study one by one. If the study already has some of them, only the others are run; with
    --exact, estimated ones are run again.
    """
    check_given(statements, junit)
    where = place_given(on, settings, jobs_directory)
    session = Session(workers=jobs)
    request = sampled(session.load(request_file), collect_sample)
    path = output or request_file.with_suffix(".sgstudy")
    if only_plan:
        show_plan(session, request, path, as_json=as_json)
        return
    request = with_redirected(request)
    consent = settled(session, request, trust=trust)
    if where is not None and jobs_directory is not None:
        write_jobs(session, request, path, jobs_directory, where, consent)
        return
    with (
        interruptible() as cancel,
        progress(quiet=quiet) as bar,
        there(session, where, path, emit := Unrecorded(bar), cancel, jobs) as at,
    ):
        study = at.submit(request, path, emit, cancel, consent=consent)
    with study:
        failed = _shown(session, study, request, path, as_json=as_json)
        held = outcome(session, study, statements, junit, path.name)
    if cancel.cancelled:
        raise Cancelled(f"interrupted; {path} has what was finished, the same command continues from there")
    if failed or not held or emit.count:
        ctx.exit(1)


def _shown(session: Session, study: Study, request: Request, path: Path, *, as_json: bool) -> int:
    """Print the runs of *request* in the format for their kind; return the number of failed runs."""
    if not request.program.command:
        return report(session, study, path, as_json=as_json)
    from scalegraph.cli.measuring.table import print_command

    print_command(study, request.target.point_name, as_json=as_json)
    study = choice_of(study, request)
    failed = sum(not run.ok for run in study.runs(target=request.target.point_name))
    if not as_json:
        for line in findings(session, study):
            echo(line)
        echo(f"{counted(len(study), 'run')} in {path}" + (f", {failed} of them failed" if failed else ""))
    return failed


def show_plan(session: Session, request: Request, path: Path, *, as_json: bool) -> None:
    """Print what *request* would run."""
    plan, consent = session.plan(request, path), session.consent(request)
    if as_json:
        print_json(
            {
                "points": [point.model_dump(mode="json") for point in plan.points],
                "searches": [
                    {"bound": item.bound.kind, "value": item.bound.value, "processors": item.processors}
                    for item in plan.searches
                ],
                "done": plan.done,
                "runs_at_most": plan.runs_at_most,
                "estimate_s": plan.estimate_s,
                "estimate_rough": plan.estimate_rough,
                "limit_s": plan.limit_s,
                "notes": list(plan.notes),
                "to_trust": consent.lines() if consent else [],
            }
        )
        return
    for point in plan.points:
        echo(point.label())
    if plan.estimate_s is None:
        about = f"known after the first runs, at most {seconds(plan.limit_s)} by the limit of each run"
    else:
        about = f"{'roughly' if plan.estimate_rough else 'about'} {seconds(plan.estimate_s)}"
    echo(
        f"{counted(len(plan.points), 'run')}, {plan.done} of them in the study, "
        f"{plan.runs_at_most} at most with the searches; time: {about}"
    )
    for note in plan.notes:
        echo(note)
    if consent is not None:
        echo(f"needs --trust, since it {consent.sentence()}")


def report(session: Session, study: Study, path: Path, *, as_json: bool) -> int:
    """Print the runs and the results of searches; return the number of failed runs."""
    if len(study.members()) == 1:
        return _report_one(session, study, path, as_json=as_json)
    parts = [study.member(one) for one in study.members()]
    if as_json:
        made = [_document(part, path) for part in parts]
        print_json(together([document for document, _failed in made]))
        return sum(failed for _document, failed in made)
    failed = 0
    for part in parts:
        echo(f"== {setting_words(part.choice) or place_of(part, SIMULATED)[1]}")
        failed += _report_one(session, part, path, as_json=False)
        echo()
    return failed


def _document(study: Study, path: Path) -> tuple[dict[str, Any], int]:
    """Return the runs of one choice as a document, and the number of failed ones."""
    from scalegraph.analyze.timed import chosen_part, clock_part
    from scalegraph.cli import run_table
    from scalegraph.cli.predict.kept_table import documents
    from scalegraph.predict import kept
    from scalegraph.request.model.kept import searches_of

    records, others = _runs(study, output=True)
    predictions = kept.read(study.facts(kept.FACT)).points
    manifest = study.manifest
    name = str(manifest.request.get("timed", ""))
    groups = by_size(records)
    ordered = [record for group in groups.values() for record in group]
    part = chosen_part(ordered, manifest.regions, name) or clock_part(ordered) if len(groups) == 1 else None
    keys = [record.point.key for record in ordered]
    made: dict[str, Any] = run_table.document(manifest.program, manifest.machine, ordered, keys, others, path, part)
    more = {"predictions": documents(predictions)} if predictions else {}
    whole = {"study": str(path), **with_choice(made, study), "searches": searches_of(study), **more}
    return whole, sum(not record.ok for record in (*records, *others))


def _runs(study: Study, *, output: bool) -> tuple[list[RunRecord], list[RunRecord]]:
    records = [record for record in study.runs(output=output) if record.source != "predicted"]
    return records, without_tries(study, study.variants(output=output))


def _report_one(session: Session, study: Study, path: Path, *, as_json: bool) -> int:
    """Print the runs of one choice of machine, split and so on."""
    from scalegraph.analyze.timed import chosen_part, clock_part, sentence
    from scalegraph.cli import run_table
    from scalegraph.cli.predict.kept_table import print_kept
    from scalegraph.cli.what_if import print_what_if
    from scalegraph.predict import kept

    if as_json:
        made, failed = _document(study, path)
        print_json(made)
        return failed
    records, others = _runs(study, output=False)
    predictions = kept.read(study.facts(kept.FACT)).points
    failed = sum(not record.ok for record in (*records, *others))
    name = str(study.manifest.request.get("timed", ""))
    groups = by_size(records)
    compared = [group for group in groups.values() if any(one.ok and one.point.processors == 1 for one in group)]
    values = run_table.derived(
        [record for group in compared for record in group]
    )  # for all sizes at once: 100 times as fast
    for title, group in groups.items():
        part = chosen_part(group, study.manifest.regions, name)
        run_table.print_table(title, group, {record.point.key for record in group}, part, values)
        if own := sentence(clock_part(group), group):
            echo(own)
        echo()
    print_schedules(study, records)
    print_what_if(records, others, study.manifest.regions)
    print_kept(predictions)
    for line in findings(session, study):
        echo(line)
    count = len(records) + len(others)
    echo(f"{counted(count, 'run')} in {path}" + (f", {failed} of them failed" if failed else ""))
    print_traces(study)
    return failed


def by_size(records: list[RunRecord]) -> Mapping[str, list[RunRecord]]:
    """Return the runs by their parameters in words, in order of first occurrence."""
    groups: dict[str, list[RunRecord]] = {}
    for record in records:
        title = assigned(record.point.parameters.items()) or "fixed arguments"
        groups.setdefault(title, []).append(record)
    return {title: sorted(group, key=lambda record: record.point.processors) for title, group in groups.items()}


def findings(session: Session, study: Study) -> list[str]:
    """Return the sentences of the views about *study*, each once."""
    data = session.study_data(study)
    if data.table.empty or not any(record.ok for record in data.runs):
        return []
    said: dict[str, None] = {}
    for name in ("time", "matrix"):
        if name in session.views():
            figure = session.views()[name].build(data)
            if figure.sentence and not figure.empty:
                said[figure.sentence] = None
    return list(said)
