"""``scalegraph choose``: which machine, processor count, split and schedule to use, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalegraph.base import amounts
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.points import AXES
from scalegraph.base.run import Value
from scalegraph.base.units import as_read, significant
from scalegraph.cli.output import echo, print_json, print_rows
from scalegraph.cli.study_input import mapping_option, open_whole, selection
from scalegraph.request import Session

if TYPE_CHECKING:
    from scalegraph.analyze.choosing.choice import Wishes
    from scalegraph.analyze.choosing.point import Objective, Point
    from scalegraph.subjects.choosing import Answer

_PRESETS = ("efficient", "whole-nodes")


@click.command("choose")
@click.argument("source", metavar="STUDY", type=click.Path(path_type=Path))
@mapping_option
@click.option(
    "--minimise",
    "--minimize",
    type=click.Choice(["time", "core_hours", "energy", "price", "processors"]),
    default=None,
    show_default="time",
    help="What to minimise.",
)
@click.option(
    "--within",
    type=float,
    metavar="FACTOR",
    help="Only points whose time is at most this multiple of the fastest, such as 1.2.",
)
@click.option(
    "--efficiency", type=float, metavar="E", help="Only points with at least this efficiency, between 0 and 1."
)
@click.option("--whole-nodes", is_flag=True, help="Only points that fill the nodes of their machine.")
@click.option(
    "--queue",
    metavar="N=TIME,..",
    default="",
    help="Queue time of jobs with at least N processors, as in 1=5min,64=2h; it is added to their time.",
)
@click.option(
    "--preset",
    type=click.Choice(_PRESETS),
    help="Rules of centres. efficient: the smallest N with an efficiency of at least 0.7; whole-nodes: as the option.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of sentences and a table.")
def choose(
    source: Path,
    minimise: Objective | None,
    within: float | None,
    efficiency: float | None,
    queue: str,
    preset: str | None,
    *,
    whole_nodes: bool,
    as_json: bool,
) -> None:
    """Say which point of a study to take: machine, processors, split, schedule.

    A study may have runs of several machines, splits, schedules, affinities and flags (`scalegraph simulate` takes
    lists of each). The answer names the point, its cost, what limits it there and how sure that is; below it is the
    frontier: the points that no other beats in both time and cost. Energy and price come from the machine's file. Only
    times of one problem size can be compared; --select n=.. picks one of several.
    """
    wishes = _wishes(minimise, within, efficiency, queue, preset, whole_nodes=whole_nodes)
    from scalegraph.request.results import selecting
    from scalegraph.subjects import choosing

    wanted = selection()
    axes = {name: value for name, value in wanted.items() if name in AXES}
    sizes: dict[str, Value] = {name: value for name, value in wanted.items() if name not in AXES}
    with open_whole(source) as study:
        session = Session()
        if study.members() != ({},):
            study = selecting.only(study, axes)
        elif axes:
            sizes = {**axes, **sizes}
        found = choosing.answer(session.study_data(study), wishes, sizes)
    if as_json:
        print_json(found.document())
        return
    _print(found)


def _wishes(
    minimise: Objective | None,
    within: float | None,
    efficiency: float | None,
    queue: str,
    preset: str | None,
    *,
    whole_nodes: bool,
) -> Wishes:
    """Return the constraints; raise `InputError` for every option without effect."""
    from scalegraph.analyze.choosing.choice import EFFICIENT, Wishes

    faults = []
    if within is not None and not 1 <= within < float("inf"):
        faults.append(Fault(f"a factor of 1 or more was expected, got {as_read(within)}", key="--within"))
    if efficiency is not None and not 0 < efficiency <= 1:
        said = f"an efficiency between 0 and 1 was expected, got {as_read(efficiency)}"
        faults.append(Fault(said, key="--efficiency"))
    waits: Sequence[tuple[int, float]] = ()
    try:
        waits = _queue(queue)
    except InputError as error:
        faults += error.faults
    if faults:
        raise InputError(faults)
    if preset == "efficient":
        minimise, efficiency = minimise or "processors", EFFICIENT if efficiency is None else efficiency
    return Wishes(minimise or "time", within, efficiency, whole_nodes or preset == "whole-nodes", waits)


def _queue(text: str) -> list[tuple[int, float]]:
    found = []
    for part in filter(None, (one.strip() for one in text.split(","))):
        count, equals, time = part.partition("=")
        if not equals or not count.strip().isdecimal():
            raise InputError(Fault(f"'{part}': expected N=TIME, as in 64=2h", key="--queue"))
        try:
            found.append((int(count), amounts.duration(time)))
        except ValueError as error:
            raise InputError(Fault(f"'{part}': {error}", key="--queue")) from None
    return found


def _print(found: Answer) -> None:
    echo(found.sentence)
    for text in found.remarks:
        echo(f"! {text}")
    against = found.wishes.against
    if not found.choice.frontier:
        return
    heads = ["point", "time", "core-hours", "energy", "price", "E"]
    rows = [_row(point, found.choice.point) for point in found.choice.frontier]
    kept = [at for at in range(len(heads)) if at == 0 or any(row[at] != "–" for row in rows)]
    title = f"Frontier of time against {against.replace('_', '-')}: no other point is both faster and cheaper"
    print_rows([heads[at] for at in kept], [[row[at] for at in kept] for row in rows], left=(0,), title=title)


def _row(point: Point, taken: Point) -> list[str]:
    mark = "* " if point is taken or (point.keys == taken.keys and point.words() == taken.words()) else ""
    efficiency = "–" if point.efficiency is None else significant(point.efficiency)
    return [
        f"{mark}{point.words()}",
        point.amount("time"),
        significant(point.core_hours),
        point.amount("energy"),
        point.amount("price"),
        efficiency,
    ]
