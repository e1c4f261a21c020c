"""``scalegraph matrix``: the scalability matrix of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from scalegraph.base.errors import Fault, InputError, ScaleGraphError, WorkError
from scalegraph.base.units import significant
from scalegraph.cli.export import check_ending, size_cm
from scalegraph.cli.output import echo, print_json, print_rows
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.spreadsheets import for_spreadsheets, spreadsheet_option
from scalegraph.cli.study_input import mapping_option, open_input, work_option
from scalegraph.request import Session

if TYPE_CHECKING:
    from scalegraph.analyze.matrix import Matrix
    from scalegraph.store import Study
    from scalegraph.subjects.study import StudyData


_MARKS = {"predicted": "*"}
_AT_SPEED = ["log2", "theorem1", "theorem2"]  # `subjects.matrix_ways`, not imported for --help
_HELD = ("efficiency", "time", "memory", "speed", "energy")
_OF_WAYS = ("overhead", "alpha", "beta", "up_to")
_WAYS = ["runs", "measured", "computed", "predicted", "best", *_AT_SPEED]


@click.command("matrix")
@click.argument("source", metavar="INPUT", type=click.Path(path_type=Path))
@mapping_option
@work_option
@click.option(
    "--metric",
    type=click.Choice(["latency", "isospeed", "isoefficiency"]),
    default="latency",
    show_default=True,
    help="Ratio of latencies; of work at equal speed or efficiency.",
)
@click.option(
    "--bound",
    type=click.Choice([*_HELD, "all"]),
    default="efficiency",
    show_default=True,
    help="What is held constant; all: three values a cell (with -o).",
)
@click.option(
    "--efficiency",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="E",
    help="The efficiency held constant; by default that of the request.",
)
@click.option("--time", "time_s", type=click.FloatRange(min=0, min_open=True), metavar="S", help="The time held.")
@click.option(
    "--memory", type=click.FloatRange(min=0, min_open=True), metavar="B", help="The bytes per processor held."
)
@click.option("--speed", type=click.FloatRange(min=0, min_open=True), metavar="OP/S", help="The unit speed held.")
@click.option("--energy", type=click.FloatRange(min=0, min_open=True), metavar="J", help="The energy held.")
@click.option(
    "--latency",
    type=click.Choice(["accounting", "method1"]),
    default="accounting",
    show_default=True,
    help="How L(W,N) is computed: from the accounts of every cycle, or from times alone.",
)
@click.option(
    "--way",
    type=click.Choice(_WAYS),
    default="runs",
    show_default=True,
    help="Runs and interpolation between them; one of these alone; predictions by models of the times; "
    "predictions only where runs give nothing; at equal speed also by a line of the times over log2 N, or by "
    "Theorem 1 or 2 of isospeed.",
)
@click.option(
    "--overhead",
    metavar="FORMULA",
    help="With a theorem: the overhead (s) as a formula of N, W, alpha, beta, as in "
    "'alpha + log2(N) * (alpha + 8 * beta)'; otherwise as measured.",
)
@click.option("--alpha", type=click.FloatRange(min=0), metavar="S", help="Start of a message, for --overhead.")
@click.option("--beta", type=click.FloatRange(min=0), metavar="S", help="Time of a byte, for --overhead.")
@click.option(
    "--up-to", type=click.IntRange(min=1), metavar="N", help="With --way log2: fit counts up to N, predict those above."
)
@click.option(
    "--average", metavar="E,E,..", help="The mean over these efficiencies; 'usual' takes round ones that the runs meet."
)
@click.option(
    "-p", "--processors", metavar="N,N,..", help="The processor counts; those without runs can only be predicted."
)
@click.option("--strict", is_flag=True, help="Exit code 1 if a cell cannot be computed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=WRITTEN_FILE,
    help="Write it to a file: .png .svg .pdf .csv .tex .md .json .parquet",
)
@spreadsheet_option
@click.option("--size", metavar="WxH", help="Size of the picture in cm, as in 16x10.")
@click.pass_context
def matrix(
    ctx: click.Context,
    /,
    source: Path,
    metric: str,
    bound: str,
    output: Path | None,
    size: str | None,
    way: str,
    average: str | None,
    processors: str | None,
    *,
    strict: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Compute the scalability matrix of the study INPUT: N down, N' across, 1 is perfect.

    A cell that cannot be computed is empty and says why.
    """
    targets = {name: values[f"{name}_s" if name == "time" else name] for name in _HELD}
    given = _of_way(way, values)
    by_default = ctx.get_parameter_source("metric") is ParameterSource.DEFAULT
    metric = "isospeed" if way in _AT_SPEED and by_default else metric
    from scalegraph.request.results.data import bound_of
    from scalegraph.subjects import matrices

    bound = bound_of(metric, bound)
    _check(bound, targets, output, as_json=as_json)
    options: dict[str, Any] = {"metric": metric, "latency": values["latency"], "way": way, **given}
    session, size_wanted = Session(), size_cm(size)
    counts, words = matrices.counts(processors), ""
    with open_input(source) as study:
        made: Matrix | None
        if average is not None:
            made, over = _averaged(session, study, source, average, bound, options | {"processors": counts})
            document = made.to_json() | {"efficiencies": list(over)}
            words = f"average over E = {', '.join(f'{one:g}' for one in over)}"
        elif bound == "all":
            made, document = None, {}
        else:
            made = session.matrix(study, bound=bound, target=targets[bound], processors=counts, **options)
            if made is None:
                raise _no_matrix(session.study_data(study), bound, str(source))
            document = made.to_json()
        empty = made is not None and not made.values
        if output is not None:
            if made is not None and empty:
                raise WorkError(f"{source}: no matrix: {_why_empty(made)}")
            view, held = _view(bound, average, processors, targets)
            options |= {**held, "size_cm": size_wanted, "for_spreadsheets": for_spreadsheets()}
            session.export(study, view, output, **options)
        if made is None:
            return
        if as_json:
            print_json(document | {"work_is": session.study_data(study).work_words})
        elif output is None:
            show(made, words, session.study_data(study).work_words)
    if empty or (strict and made.reasons):
        ctx.exit(1)


def _view(
    bound: str, average: str | None, processors: str | None, targets: dict[str, float | None]
) -> tuple[str, dict[str, Any]]:
    """Return the name of the view that shows the matrix, and its options other than those of the ratio."""
    if average is not None:
        return "average-scalability", {"efficiencies": "" if average == "usual" else average}
    options: dict[str, Any] = {name: value for name, value in targets.items() if value is not None}
    options |= {"bound": bound} if bound in ("all", "efficiency", "time", "memory", "energy") else {}
    return "matrix", options | ({"processors": processors} if processors else {})


def _why_empty(made: Matrix) -> str:
    """Return why *made* has no numbers at all."""
    words = (reasons(made) or ["no cell has a number"])[0]
    return f"{words}; no operations were counted (work_ops)" if made.work_unit == "s" else words


def _efficiencies(text: str) -> tuple[float, ...]:
    from scalegraph.views.study.scalability.average_scalability import parse

    return () if text == "usual" else parse(text)


def _averaged(
    session: Session, study: Study, source: Path, average: str, bound: str, options: dict[str, Any]
) -> tuple[Matrix, tuple[float, ...]]:
    """Return the mean over the efficiencies of *average* (latency-metric eq. 3.8), and those efficiencies."""
    from scalegraph.subjects import matrices

    if bound != "efficiency":
        raise InputError(Fault("an average is over efficiencies: --bound efficiency was expected", key="--average"))
    wanted = _efficiencies(average)
    found = matrices.averaged(session.study_data(study), wanted or None, **options)
    if found is None:
        raise WorkError(
            f"{source}: no average: it needs two efficiencies that are each met on the same two processor counts"
            " (one processor does not count), so runs of several sizes on each count"
        )
    return found[0], tuple(one.target for one in found[1])


def _check(bound: str, targets: dict[str, float | None], output: Path | None, *, as_json: bool) -> None:
    faults = []
    for name, value in targets.items():
        if value is not None and name != bound and bound != "all":
            faults.append(Fault(f"is given, but --bound is {bound}", key=f"--{name}"))
    if bound == "all" and (output is None or as_json):
        faults.append(Fault("all bounds together go into a file: -o FILE was expected", key="--bound"))
    if faults:
        raise InputError(faults)
    if output is not None:
        check_ending(output)


def _no_matrix(data: StudyData, bound: str, file: str) -> ScaleGraphError:
    """Return why there is no matrix: an impossible energy is an input error."""
    from scalegraph.request.results.data import why_no_matrix
    from scalegraph.subjects import run_costs

    if bound == "energy" and (why := run_costs.why_none(data, "energy")):
        return InputError(Fault(f"no energy can be held: {why}", file, key="--bound"))
    return WorkError(f"{file}: no matrix: {why_no_matrix(data, bound)}")


def _of_way(way: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the given options of *way*; raise `InputError` for options of another way."""
    takes = {"up_to": ("log2",)}
    given = {name: values[name] for name in _OF_WAYS if values[name] is not None}
    faults = [
        Fault(f"is given, but --way is {way}", key=f"--{name.replace('_', '-')}")
        for name in given
        if way not in takes.get(name, ("theorem1", "theorem2"))
    ]
    if faults:
        raise InputError(faults)
    return given


def show(made: Matrix, words: str = "", work: str = "") -> None:
    """Print a matrix as a table, with reasons and notes below; *words* replaces the bound's text, *work* is W."""
    rows: list[list[str]] = []
    for n in made.processors:
        row = [str(n)]
        for other in made.processors:
            value = made.value(n, other)
            mark = _MARKS.get(made.ways.get((n, other), ""), "") if n != other else ""
            row.append("" if other < n else "–" if value is None else significant(value) + mark)
        rows.append(row)
    from scalegraph.analyze import matrix as matrices
    from scalegraph.analyze import wording

    held = words or matrices.bound_words(made.bound, wording.target_words(made))
    print_rows(("N \\ N'", *map(str, made.processors)), rows, title=f"scalability by {made.metric}, {held}")
    if "predicted" in made.ways.values():
        echo("*: predicted" + (" by models; --json has the intervals (95 %)" if made.intervals else ""))
    for reason in reasons(made):
        echo(f"–: {reason}")
    if work:
        echo(work)
    for note in made.notes:
        echo(note)
    if made.intervals and set(made.ways.values()) <= {"measured", "computed"}:
        echo("runs meet the bound within a tolerance: --json has the resulting interval of each cell")
    for said in wording.checks(made):
        echo(said)


def reasons(made: Matrix) -> list[str]:
    """Return why cells are empty, each reason once; one for a processor count covers all its cells."""
    unknown = {n for n, anchor in made.anchors.items() if not anchor.known}
    found = [made.reasons[(n, n)] for n in made.processors if n in unknown and (n, n) in made.reasons]
    found += [reason for pair, reason in made.reasons.items() if not unknown & set(pair)]
    return list(dict.fromkeys(found))
