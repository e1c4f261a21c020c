"""``scalegraph advise``: what to run next, and running it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scalegraph.base.errors import Cancelled, Fault, InputError, WorkError
from scalegraph.base.units import assigned, si
from scalegraph.cli.asked import request_option, sampled
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import echo, print_json, print_rows
from scalegraph.cli.progress import progress
from scalegraph.cli.study_input import mapping_option, open_input
from scalegraph.cli.trusting import settled, trust_option
from scalegraph.request import Session
from scalegraph.store.study import SUFFIX

if TYPE_CHECKING:
    from scalegraph.analyze.advise import Advice, Cost, Model
    from scalegraph.predict.next_sample import NextSample
    from scalegraph.request.consent import Consent

_SHOWN = 8


@click.command("advise")
@click.argument("source", metavar="INPUT", type=click.Path(path_type=Path))
@mapping_option
@click.option(
    "--at",
    type=click.IntRange(min=1),
    metavar="N",
    help="Predict the time on this many processors; by default twice the largest count run.",
)
@click.option(
    "--size",
    type=click.FloatRange(min=0, min_open=True),
    metavar="V",
    help="Predict the time of this size; by default the largest size run.",
)
@click.option(
    "--cost",
    type=click.Choice(["elapsed", "processor", "host"]),
    default="elapsed",
    show_default=True,
    help="What a run costs: its time, its time times N, or this computer's time to simulate it.",
)
@click.option("--most", type=click.IntRange(min=1), metavar="N", help="The most processors that can be run.")
@click.option("--run", "running", is_flag=True, help="Run it, into the study INPUT.")
@click.option(
    "--until",
    type=click.FloatRange(min=0, min_open=True),
    metavar="PERCENT",
    help="With --run: continue until the interval is within this many percent.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="K",
    help="With --run: the maximum number of points.",
)
@request_option("collect.sample")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@trust_option
def advise(
    source: Path,
    at: int | None,
    size: float | None,
    cost: Cost,
    most: int | None,
    until: float | None,
    runs: int,
    collect_sample: str | None,
    *,
    running: bool,
    as_json: bool,
    trust: bool,
) -> None:
    """Say which run narrows the predicted time at a point most for its cost.

    The interval includes the uncertainty about which law holds. If the study keeps predictions of
    ``scalegraph predict``, the sample run that narrows these most is named, too.
    """
    of_runs = {"--trust": trust, "--until": until is not None, "--exact or --sample": collect_sample is not None}
    if not running and (given := [name for name, there in of_runs.items() if there]):
        raise click.UsageError(f"{given[0]} goes with --run")
    session = Session()
    sample = None if running else _next_sample(source)
    try:
        model, goal, entries = _entries(session, source, at, size, cost, most)
    except WorkError:
        if sample is None:
            raise
        _show_sample(source, sample, as_json=as_json)
        return
    done: list[Advice] = []
    if running:
        if source.suffix != SUFFIX:
            raise InputError(Fault(f"a study ({SUFFIX}) was expected to run points into", file=str(source)))
        from scalegraph.request.run import advising

        change = partial(sampled, given=collect_sample)
        consent = _consent(session, source, entries, trust=trust)
        with interruptible() as cancel, progress(quiet=as_json) as emit:
            while entries and len(done) < runs and not (until and 50 * entries[0].now <= until):
                advising.run_next(session, source, entries[0], emit, cancel, consent, change)
                if cancel.cancelled:
                    raise Cancelled(f"interrupted; {source} has what was finished")
                done.append(entries[0])
                # the target point stays the same, although more processors have been run since
                where = (int(goal[0]), goal[1] if len(goal) > 1 else None)
                model, goal, entries = _entries(session, source, *where, cost, most)
    if as_json:
        print_json(_document(source, model, goal, entries, done) | _sample_document(sample))
        return
    from scalegraph.analyze.advise import half_width
    from scalegraph.subjects.next_run import run_words

    if sample is not None:
        echo(sample.sentence)
    for entry in done:
        was, expected = half_width(entry.now), half_width(entry.then)
        echo(f"ran {run_words(entry)}: the interval was {was}, {expected} was expected")
    _show(model, goal, entries)


def _next_sample(source: Path) -> NextSample | None:
    from scalegraph.request.run import advising

    with open_input(source) as study:
        return advising.next_sample(study)


def _show_sample(source: Path, sample: NextSample, *, as_json: bool) -> None:
    if as_json:
        print_json({"study": str(source)} | _sample_document(sample))
    else:
        echo(sample.sentence)


def _sample_document(sample: NextSample | None) -> dict[str, Any]:
    from scalegraph.predict.next_sample import document

    return {"next_sample": document(sample)}


def _entries(
    session: Session, source: Path, at: int | None, size: float | None, cost: Cost, most: int | None
) -> tuple[Model, list[float], list[Advice]]:
    from scalegraph.request.run import advising

    with open_input(source) as study:
        data = session.study_data(study)
    return advising.advised(replace(data, name=str(source)), at, size, cost, most)


def _consent(session: Session, source: Path, entries: list[Advice], *, trust: bool) -> Consent | None:
    """Return the user's consent to run the study's program; it covers every run."""
    from scalegraph.request.run import advising

    if not entries:
        return None
    request = advising.request_of(session.open(source).manifest, entries[0], str(source))
    return settled(session, request, trust=trust)


def _document(
    source: Path, model: Model, goal: list[float], entries: list[Advice], done: list[Advice]
) -> dict[str, Any]:
    def plain(entry: Advice) -> dict[str, Any]:
        return {
            "processors": entry.processors,
            "parameters": dict(entry.parameters),
            "time_s": entry.seconds,
            "cost_s": entry.cost,
            "width": entry.now,
            "width_then": entry.then,
            "tells": entry.tells,
            "again": entry.again,
        }

    return {
        "study": str(source),
        "target": {"processors": int(goal[0]), **({model.size: goal[1]} if model.size else {})},
        "time_s": model.time(goal),
        "law": model.best.formula,
        "doubt": model.best.doubt,
        "ran": [plain(entry) for entry in done],
        "next": [plain(entry) for entry in entries[:_SHOWN]],
    }


def _show(model: Model, goal: list[float], entries: list[Advice]) -> None:
    from scalegraph.analyze.advise import half_width
    from scalegraph.subjects.next_run import run_words, unimproved

    place = assigned([("N", int(goal[0])), *([(model.size, goal[1])] if model.size else [])])
    seconds = model.time(goal)
    echo(f"predicted time at {place}: {si(seconds, 's')}, by {model.best.formula}")
    if not entries:
        echo(unimproved(model, goal))
        return
    if model.best.doubt:
        echo(model.best.doubt)
    echo(f"its interval is {half_width(entries[0].now)}; with one more run it should become:")
    rows = [
        [
            run_words(entry),
            si(entry.seconds, "s"),
            si(entry.cost, "s"),
            half_width(entry.then),
            "yes" if entry.again else "no",
        ]
        for entry in entries[:_SHOWN]
    ]
    print_rows(("run", "takes", "costs", "interval then", "run before"), rows, left=(0,))
