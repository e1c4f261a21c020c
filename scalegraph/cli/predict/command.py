"""The command ``scalegraph predict``: its options, and what it prints."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from scalegraph.base.errors import Cancelled, Fault, InputError
from scalegraph.base.files import write_atomic
from scalegraph.base.measures import Measure, measure, percent
from scalegraph.base.units import assigned, counted, si, significant
from scalegraph.cli.asked import request_option
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import echo, print_json, print_rows
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.processors import parse_processors
from scalegraph.cli.progress import progress
from scalegraph.cli.run_table import ESTIMATED, sampling_document
from scalegraph.cli.simulate import ProgramArguments, as_typed
from scalegraph.cli.simulating.request import make_request, one_choice
from scalegraph.predict.graph import dump
from scalegraph.predict.limits import Limit, limits
from scalegraph.predict.next_sample import document as next_document
from scalegraph.predict.regions import Values
from scalegraph.request import Session
from scalegraph.request.imports.graphs import is_graph
from scalegraph.request.imports.kinds import is_trace
from scalegraph.request.model.prediction import by_point, read_sizes
from scalegraph.request.model.request import Request
from scalegraph.request.run.keeping import keep
from scalegraph.request.run.predicting import (
    Point,
    Predictions,
    Wanted,
    predict_program,
    predict_study,
    predict_traces,
)
from scalegraph.request.run.predicting_blocks import load_blocks, predict_blocks
from scalegraph.request.run.predicting_graphs import predict_graph
from scalegraph.store.study import SUFFIX

_MOST_PROCESSORS = 1 << 20
_REGIONS = 3  # regions named in the text for each point


@click.command("predict", cls=ProgramArguments)
@click.argument("sources", metavar="SRC...|STUDY|TRACE...|GRAPH", nargs=-1)
@request_option("machine.name")
@click.option(
    "-p",
    "--processors",
    "processors",
    default="",
    metavar="LIST",
    help="N of the sample runs. N = 1 is also run, as the efficiency needs it.",
)
@click.option(
    "--samples",
    default="",
    metavar="PARAMS",
    help="Parameters of the sample runs: n=64,160; of several, value by value: 'm=8,16;n=8,16'.",
)
@click.option(
    "--at",
    "at",
    default="",
    metavar="PARAMS",
    help="Parameters to predict, as in n=800,1600; required unless a graph has none.",
)
@click.option("--at-processors", default="", metavar="LIST", help="N to predict; by default those of the samples.")
@click.option("--no-counting", is_flag=True, help="Make no further small runs for exact counts.")
@click.option("--no-smaller-caches", is_flag=True, help="Make no runs of the largest samples on smaller caches.")
@click.option("--verify", is_flag=True, help="Run the predicted points, too, and compare.")
@click.option(
    "--graph", "graph", type=WRITTEN_FILE, metavar="FILE", help="Write the thread graph of the first predicted point."
)
@click.option(
    "--blocks",
    default="",
    metavar="FILE|NAME",
    help="Predict a data-parallel program by its blocks: a file, or a shipped program's.",
)
@request_option("program.cflags")
@request_option("program.ldflags")
@request_option("program.include")
@request_option("collect.sample")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.option(
    "-o",
    "--output",
    "study",
    type=WRITTEN_FILE,
    metavar="STUDY",
    help="Keep the sample runs, and what is predicted, in a study.",
)
@click.pass_context
def predict(
    ctx: click.Context,
    /,
    *,
    sources: tuple[str, ...],
    processors: str,
    samples: str,
    at: str,
    at_processors: str,
    no_counting: bool,
    no_smaller_caches: bool,
    verify: bool,
    graph: Path | None,
    blocks: str,
    collect_sample: str | None,
    as_json: bool,
    study: Path | None,
    **given: Any,
) -> None:
    """Predict the time of large runs of a program from a few small ones.

    SRC are sources of the program, or the name of a shipped one; what follows ``--`` are its arguments, in which {n}
    stands for the parameter n. The samples are run on the simulated machine; their regions give a graph of threads and
    events, and the times of its segments for other parameters. A STUDY with runs of several sizes with regions is used
    as it is; so are traces of two or more sizes, with the parameters of each in their order: ``scalegraph predict
    small.otf2 large.otf2 --samples n=100,200 --at n=400``; and a GRAPH, a file of threads and events whose times are
    formulas: ``scalegraph predict g.toml --at n=800 -p 1,8``. Repeated phases of long sample runs are sampled, unless
    --exact; what counts come from, and what --verify runs, are whole runs.
    """
    if len(sources) == 1 and is_graph(Path(sources[0])):
        runs = verify or bool(collect_sample) or no_counting or no_smaller_caches
        _fits_graph(samples, blocks, graph, study, runs=runs)
        _predict_graph(ctx, Path(sources[0]), at, at_processors or processors, as_json=as_json)
        return
    targets = sizes(_needed(at), "--at")
    if collect_sample == "always":
        _may_sample(sources, samples, blocks)
    traces = _are_traces(sources, asked=verify or processors or at_processors or study or collect_sample)
    if blocks and (graph is not None or traces or any(source.endswith(SUFFIX) for source in sources)):
        raise click.UsageError("--blocks needs a program, and has no thread graph")
    if traces:
        found = _from_traces(sources, samples, targets)
    elif len(sources) == 1 and sources[0].endswith(SUFFIX):
        _fits_study(Path(sources[0]), study, runs=verify or no_counting or no_smaller_caches or bool(collect_sample))
        found = _from_study(Path(sources[0]), samples, targets, processors, at_processors)
        if study is not None:
            keep(found, study)
    else:
        if not samples:
            raise click.UsageError("--samples is missing: parameters of the sample runs, as in n=64,160")
        given["collect_sample"] = collect_sample
        request, counts = _request(sources, processors, given, ctx.meta.get("program_arguments", ()))
        predicted = _counts(at_processors, "--at-processors") or counts
        how = {"counting": not no_counting, "verify": verify, "reference": not blocks, "levels": not no_smaller_caches}
        wanted = Wanted(tuple(sizes(samples, "--samples")), tuple(targets), counts, predicted, **how)
        _same_names(wanted)
        found = _from_program(request, wanted, blocks, study)
    if graph is not None:
        _write_graph(found, graph)
    _end(ctx, found, as_json=as_json)


def _predict_graph(ctx: click.Context, path: Path, at: str, processors: str, *, as_json: bool) -> None:
    """Print the prediction of the graph file at *path*."""
    _end(ctx, predict_graph(path, sizes(at, "--at") if at else [], _counts(processors, "-p")), as_json=as_json)


def _end(ctx: click.Context, found: Predictions, *, as_json: bool) -> None:
    """Print the result; exit with code 1 if a point has no prediction."""
    _show(found, as_json=as_json)
    if any(point.predicted is None for point in found.points):
        ctx.exit(1)


def _needed(at: str) -> str:
    if not at:
        raise click.UsageError("Missing option '--at'.")
    return at


def _fits_graph(samples: str, blocks: str, graph: Path | None, study: Path | None, *, runs: bool) -> None:
    """Raise a usage error for options that do not apply to a graph file."""
    if runs or samples or blocks or graph is not None or study is not None:
        raise click.UsageError(
            "a graph file has its times, and no program is run: only --at, -p, --at-processors and --json are taken"
        )


def _may_sample(sources: Sequence[str], samples: str, blocks: str) -> None:
    """Raise a usage error if ``--sample`` does not apply, or is a misspelt ``--samples``."""
    if not samples and any("=" in source for source in sources):
        raise click.UsageError("--sample takes no value; the parameters of the sample runs are given by --samples")
    if blocks:
        raise click.UsageError("--blocks needs whole runs, and --sample leaves most of them out")


def sizes(text: str, option: str) -> list[Values]:
    """Return the parameters of each point in ``m=8,16;n=8,16``: values at the same position belong together.

    A single value applies to all points. Raises `InputError` naming *option*.
    """
    try:
        return list(by_point(read_sizes(text)))
    except ValueError as error:
        raise InputError(Fault(str(error), key=option)) from None


def _counts(text: str, option: str) -> tuple[int, ...]:
    return tuple(parse_processors(text, _MOST_PROCESSORS, option)) if text else ()


def _same_names(wanted: Wanted) -> None:
    for values in itertools.chain(wanted.samples, wanted.targets):
        if values.keys() != wanted.samples[0].keys():
            raise InputError(Fault("the parameters of samples and predicted points must be the same", key="--at"))


def _request(
    sources: tuple[str, ...], processors: str, given: dict[str, Any], arguments: Sequence[str]
) -> tuple[Request, tuple[int, ...]]:
    given = {**given, "sources": sources, "processors": processors or None, "reference": False}
    request, counts = make_request(given, arguments)
    one_choice(request)
    if arguments:  # including their braces, which mark parameters
        request = request.model_copy(update={"program": request.program.model_copy(update={"args": tuple(arguments)})})
    elif not request.program.name:
        raise click.UsageError("arguments with a parameter were expected behind --, as in -- {n} 6")
    return request, counts


def _from_program(request: Request, wanted: Wanted, blocks: str, study: Path | None) -> Predictions:
    """Predict from runs of the program of *request*; *blocks*: those of a data-parallel program, otherwise ""."""
    structure = load_blocks(blocks) if blocks else None
    with interruptible() as cancel, progress() as emit:
        if structure is not None:
            found = predict_blocks(Session(), request, structure, wanted, study, emit, cancel)
        else:
            found = as_typed(lambda: predict_program(Session(), request, wanted, study, emit, cancel))
    if cancel.cancelled:
        raise Cancelled("interrupted; finished runs are kept")
    return found


def _from_study(path: Path, samples: str, targets: list[Values], processors: str, at_processors: str) -> Predictions:
    """Predict from the runs of a study; runs at a predicted point are compared with the prediction."""
    chosen = sizes(samples, "--samples") if samples else None
    counts = _counts(processors, "-p")
    session = Session()
    with interruptible() as cancel, progress() as emit:
        return predict_study(
            session,
            session.open(path),
            targets,
            samples=chosen,
            sampled=counts,
            processors=_counts(at_processors, "--at-processors"),
            name=str(path),
            emit=emit,
            cancel=cancel,
        )


def _fits_study(path: Path, kept: Path | None, *, runs: bool) -> None:
    """Raise a usage error for options that do not apply if the samples are the runs of the study at *path*."""
    if runs:
        raise click.UsageError(
            "the runs of a study are the samples, and no program is run:"
            " leave out --verify, --no-counting, --no-smaller-caches, --sample and --exact"
        )
    if kept is not None and kept.resolve() != path.resolve():
        raise click.UsageError(f"what a study predicts is kept in that study: -o {path} was expected")


def _are_traces(sources: Sequence[str], *, asked: object) -> bool:
    """Return whether *sources* are traces; raise a usage error if options for running a program are *asked* for."""
    found = bool(sources) and all(Path(source).exists() and is_trace(Path(source)) for source in sources)
    if found and asked:
        raise click.UsageError(
            "traces are of one N, and no program is run:"
            " leave out --verify, -p, --at-processors, --sample, --exact and -o"
        )
    return found


def _from_traces(sources: Sequence[str], samples: str, targets: list[Values]) -> Predictions:
    """Predict from traces with the parameters *samples*."""
    if not samples:
        raise click.UsageError("--samples is missing: the parameters of each trace, as in n=64,160")
    with interruptible() as cancel:
        return predict_traces([Path(source) for source in sources], sizes(samples, "--samples"), targets, cancel)


def _write_graph(found: Predictions, path: Path) -> None:
    """Write the thread graph of the first point with one."""
    point = next((one for one in found.points if one.predicted is not None and one.predicted.sampled), None)
    if point is None or found.predictor is None:
        raise InputError(Fault("no predicted point has samples on its own N, so there is no graph", key="--graph"))
    write_atomic(path, dump(found.predictor.graph(point.values, point.processors)))


def _show(found: Predictions, *, as_json: bool) -> None:
    if as_json:
        print_json(_document(found))
        return
    times = measure((point.predicted.time_s for point in found.points if point.predicted), "s")
    rows = [_row(point, times) for point in found.points]
    headers = (
        "N",
        "parameters",
        times.heading("T"),
        times.heading("from"),
        times.heading("to"),
        "E",
        times.heading("L(W,N)"),
        "error",
        "ratio",
        "host ratio",
    )
    print_rows(headers, rows, title=f"{found.program} on {found.machine}, predicted", left=(1,))
    if found.samples:
        runs = counted(len(found.samples), "sample run")
        kind = "" if found.measured else " simulated time"
        mark = ESTIMATED if any(run.estimated for run in found.samples) else ""
        echo(f"{runs} took {mark}{si(sum(run.time_s or 0.0 for run in found.samples), 's')}{kind}")
    for line in _sampling(found):
        echo(f"! {line}")
    for note in found.notes:
        echo(note)
    for point in found.points:
        for line in _words(point):
            echo(line)
    for limit in _limits(found):
        since = f"from N = {limit.since} on, instead of {limit.before}" if limit.before else "on every N"
        share = f"{percent(limit.share)} of the time on N = {limit.processors}"
        echo(f"{assigned(sorted(limit.values.items()))}: limited by {limit.part} {since}: {share}")
    if (sample := found.next_sample()) is not None:
        echo(sample.sentence)


def _document(found: Predictions) -> dict[str, Any]:
    """Return the ``--json`` document."""
    return {
        "program": found.program,
        "machine": found.machine,
        "samples": [
            {
                "processors": run.point.processors,
                "parameters": run.point.parameters,
                "time_s": run.time_s,
                **sampling_document(run),
            }
            for run in found.samples
        ],
        "notes": found.notes,
        "predictions": [document(point, measured=found.measured) for point in found.points],
        "limits": [
            {
                "parameters": dict(one.values),
                "part": one.part,
                "share": one.share,
                "processors": one.processors,
                "since": one.since,
            }
            for one in _limits(found)
        ],
        "next_sample": next_document(found.next_sample()),
    }


def _sampling(found: Predictions) -> list[str]:
    """Return sentences on what was sampled in each sample run, and why some were simulated completely."""
    whole: dict[str, list[str]] = {}
    lines = []
    for run in found.samples:
        if run.sampled is None:
            continue
        remark = run.sampled.remark(run.time_cycles)
        if run.estimated:
            lines.append(f"{run.point.label()}: {ESTIMATED}{si(run.time_s, 's')}, {remark}")
        else:
            whole.setdefault(remark, []).append(run.point.label())
    return lines + [f"{'; '.join(labels)}: {remark}" for remark, labels in whole.items()]


def _limits(found: Predictions) -> list[Limit]:
    return limits(point.predicted for point in found.points if point.predicted is not None)


def _row(point: Point, times: Measure) -> list[str]:
    where = assigned(sorted(point.values.items()))
    found = point.predicted
    if found is None:
        return [str(point.processors), where, "–"]
    return [
        str(point.processors),
        where,
        times.number(found.time_s),
        times.number(found.low_s),
        times.number(found.high_s),
        "–" if point.efficiency is None else significant(point.efficiency),
        "–" if point.latency_s is None else times.number(point.latency_s),
        "–" if point.error is None else percent(point.error),
        "–" if point.prediction_ratio is None else significant(point.prediction_ratio),
        "–" if point.prediction_ratio_host is None else significant(point.prediction_ratio_host),
    ]


def _words(point: Point) -> list[str]:
    where = ", ".join(filter(None, (f"N = {point.processors}", assigned(sorted(point.values.items())))))
    found = point.predicted
    if found is None:
        return [f"{where}: not predicted: {point.refused}"]
    parts = [f"{one.name} {percent(one.time_s / found.time_s)}" for one in found.regions[:_REGIONS]]
    parts += [f"events {percent(found.events_s / found.time_s)}", f"waiting {percent(found.waiting_s / found.time_s)}"]
    return [f"{where}: {', '.join(parts)} of the time", *([found.warning] if found.warning else [])]


def document(point: Point, *, measured: bool = False) -> dict[str, Any]:
    """Return a predicted point as JSON; null for unknown values, such as stalls of *measured* runs."""
    found = point.predicted
    return {
        "processors": point.processors,
        "parameters": dict(point.values),
        "time_s": found.time_s if found else None,
        "low_s": found.low_s if found else None,
        "high_s": found.high_s if found else None,
        "efficiency": point.efficiency,
        "latency_s": point.latency_s,
        "actual_s": point.actual_s,
        "error": point.error,
        "prediction_ratio": point.prediction_ratio,
        "prediction_ratio_host": point.prediction_ratio_host,
        "sampled": found.sampled if found else None,
        "samples_s": point.samples_s,
        "samples_host_s": point.samples_host_s,
        "estimate_s": point.estimate_s,
        "actual_host_s": point.actual_host_s,
        "refused": point.refused,
        "warning": found.warning if found else "",
        "events_s": found.events_s if found else None,
        "waiting_s": found.waiting_s if found else None,
        "regions": [
            {
                "name": one.name,
                "file": one.file,
                "line": one.line,
                "shared": one.shared,
                "time_s": one.time_s,
                "busy_s": None if measured else one.busy_s,
                "memory_stall_s": None if measured else one.memory_stall_s,
                "cycles": one.formula,
            }
            for one in (found.regions if found else ())
        ],
    }
