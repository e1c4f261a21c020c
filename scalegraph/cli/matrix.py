"""``scalegraph matrix``: the scalability matrix of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scalegraph.base.errors import Fault, InputError, WorkError
from scalegraph.base.units import significant
from scalegraph.cli.export import check_ending, size_cm
from scalegraph.cli.output import print_json, print_rows
from scalegraph.cli.study_input import open_input
from scalegraph.request import Session

if TYPE_CHECKING:
    from scalegraph.analyze.matrix import Matrix
    from scalegraph.store import Study


@click.command("matrix")
@click.argument("source", metavar="INPUT", type=click.Path(path_type=Path))
@click.option("--metric", type=click.Choice(["latency", "isospeed"]), default="latency", show_default=True)
@click.option("--bound", type=click.Choice(["efficiency", "time", "memory", "speed", "all"]), default="efficiency",
              show_default=True, help="What is held constant; all: three values a cell (with -o).")  # fmt: skip
@click.option("--efficiency", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="E",
              help="The efficiency held; that of the request if not given.")  # fmt: skip
@click.option("--time", "time_s", type=click.FloatRange(min=0, min_open=True), metavar="S", help="The time held.")
@click.option("--memory", type=click.FloatRange(min=0, min_open=True), metavar="B",
              help="The bytes per processor held.")  # fmt: skip
@click.option("--speed", type=click.FloatRange(min=0, min_open=True), metavar="OP/S", help="The unit speed held.")
@click.option("--latency", type=click.Choice(["accounting", "method1"]), default="accounting", show_default=True,
              help="How L(W,N) is taken: from the accounts, or T_para - T_seq/N.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit code 1 if a cell cannot be computed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
              help="Write it to a file: .png .svg .pdf .csv .tex .json")  # fmt: skip
@click.option("--size", metavar="WxH", help="Size of the picture in cm, as in 16x10.")
@click.pass_context
def matrix(
    ctx: click.Context,
    source: Path,
    metric: str,
    bound: str,
    output: Path | None,
    size: str | None,
    latency: str,
    efficiency: float | None,
    time_s: float | None,
    memory: float | None,
    speed: float | None,
    *,
    strict: bool,
    as_json: bool,
) -> None:
    """Compute the scalability matrix of the study INPUT: N down, N' across, 1 is perfect.

    A cell that cannot be computed is empty and says why.
    """
    targets = {"efficiency": efficiency, "time": time_s, "memory": memory, "speed": speed}
    if metric == "isospeed" and bound == "efficiency":
        bound = "speed"
    _check(bound, targets, output, as_json=as_json)
    session = Session()
    size_wanted = size_cm(size)
    with open_input(source) as study:
        made = None
        if bound != "all":
            made = session.matrix(study, bound=bound, metric=metric, target=targets[bound], latency=latency)
            if made is None:
                raise WorkError(f"{source}: no matrix: {_why_none(study, bound)}")
        if output is not None:
            options: dict[str, Any] = {name: value for name, value in targets.items() if value is not None}
            if bound in ("all", "efficiency", "time", "memory"):
                options["bound"] = bound
            session.export(study, "matrix", output, size_cm=size_wanted, metric=metric, latency=latency, **options)
        if made is None:
            return
        if as_json:
            print_json(made.to_json())
        elif output is None:
            show(made)
    if strict and made.reasons:
        ctx.exit(1)


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


def _why_none(study: Study, bound: str) -> str:
    if len(study) == 0:
        return "the study has no run yet"
    if bound == "speed":
        return "no run on one processor has both a time and its operations (work_ops), so no speed is known"
    return (
        f"no {bound} is met on several processor counts; "
        f"run a request with kind = '{bound}' under [[bound]], or name one with --{bound}"
    )


def show(made: Matrix) -> None:
    """Print a matrix as a table, its reasons below."""
    rows: list[list[str]] = []
    for n in made.processors:
        row = [str(n)]
        for other in made.processors:
            value = made.value(n, other)
            row.append("" if other < n else "–" if value is None else significant(value))
        rows.append(row)
    held = f"{made.bound} held at {made.target:.4g}"
    print_rows(("N \\ N'", *map(str, made.processors)), rows, title=f"scalability by {made.metric}, {held}")
    for reason in reasons(made):
        click.echo(f"–: {reason}")
    residual = made.residual()
    if residual is not None:
        click.echo(f"value(N,N'') = value(N,N') value(N',N'') holds to {residual:.1g}")


def reasons(made: Matrix) -> list[str]:
    """Return why cells are empty, each reason once: those of a processor count stand for all its cells."""
    unknown = {n for n, anchor in made.anchors.items() if not anchor.known}
    found = [made.reasons[(n, n)] for n in made.processors if n in unknown and (n, n) in made.reasons]
    found += [reason for pair, reason in made.reasons.items() if not unknown & set(pair)]
    return list(dict.fromkeys(found))
