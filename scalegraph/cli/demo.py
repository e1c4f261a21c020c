"""``scalegraph demo``: the main task on real input, with or without a window."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, Fault, InputError, ScaleGraphError
from scalegraph.base.events import EventSink
from scalegraph.base.files import check_directory, reason, write_atomic
from scalegraph.base.resources import resource_dir
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import echo
from scalegraph.cli.places import WRITTEN_DIRECTORY
from scalegraph.cli.progress import progress
from scalegraph.cli.run import findings
from scalegraph.cli.window import open_window
from scalegraph.request import Session

if TYPE_CHECKING:
    from scalegraph.store import Study

_MAIN = "demo"
_MORE = ("ge1-owner", "ge2-owner")  # requests besides the main one, for comparison
_MATRIX_FORMATS = (".png", ".csv", ".svg", ".pdf", ".tex")


@dataclass(frozen=True)
class Made:
    """A study made by the demonstration."""

    name: str
    path: Path
    failed: int


@click.command("demo")
@click.option("--headless", is_flag=True, help="Open no window: write study, tables and pictures to DIR.")
@click.option(
    "-o",
    "--output",
    "directory",
    metavar="DIR",
    type=WRITTEN_DIRECTORY,
    help="The output directory (with --headless); created if needed.",
)
@click.option("--fresh", is_flag=True, help="Run everything again, even if a study exists.")
@click.pass_context
def demo(ctx: click.Context, directory: Path | None, *, headless: bool, fresh: bool) -> None:
    """Simulate the billiard program of the Scale-Graph paper on the KSR-1 and show how far it scales.

    One request: the same problem on 1 to 64 processors, and the scalability matrix by efficiency, time and memory
    bound. The window opens on a finished study that ships with ScaleGraph. --fresh and --headless compute it here.
    """
    if headless:
        if directory is None:
            raise InputError(Fault("a directory for the results was expected: demo --headless -o DIR"))
        ctx.exit(_headless(directory, fresh=fresh))
    if directory is not None:
        raise InputError(Fault("is for --headless; without it a window opens", key="-o"))
    ctx.exit(open_window((), demo=True, fresh=fresh))


def _headless(directory: Path, *, fresh: bool) -> int:
    try:
        check_directory(directory)
        directory.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(Fault(f"cannot be made: {reason(error)}", file=str(directory))) from error
    session = Session()
    with interruptible() as cancel, progress() as emit:
        names = itertools.takewhile(lambda _: not cancel.cancelled, (_MAIN, *_MORE))
        made = [compute(session, name, directory / f"{name}.sgstudy", emit, cancel, fresh=fresh) for name in names]
    if cancel.cancelled:
        raise Cancelled(f"interrupted; {directory} has what was finished, the same command continues from there")
    problems: list[str] = []
    for item in made:
        echo(f"writing pictures and tables of {item.name}", err=True)
        problems += list(write_all(session, item, directory))
    for item in made:
        with session_study(session, item) as study:
            for line in findings(session, study):
                echo(line)
    echo(f"{directory}: demo.sgstudy, matrix.png, matrix.csv and {_count(directory)} more files")
    for problem in problems:
        echo(f"scalegraph: {problem}", err=True)
    return 1 if problems or any(item.failed for item in made) else 0


def session_study(session: Session, made: Made) -> Study:
    """Return the study of *made*, which the caller has to close."""
    session.forget(made.path)
    store = importlib.import_module("scalegraph.store")
    study: Study = store.Study.open(made.path)
    return study


def compute(
    session: Session, name: str, path: Path, emit: EventSink, cancel: CancelToken, *, fresh: bool = False
) -> Made:
    """Run the shipped request *name* into the study at *path*, skipping runs that it already has.

    A study from another version of ScaleGraph or of the program is replaced.
    """
    request = session.load(resource_dir("requests") / f"{name}.toml")
    try:
        study = session.submit(request, path, emit, cancel, overwrite=fresh)
    except InputError as error:
        if fresh or not path.exists() or not any(fault.file == str(path) for fault in error.faults):
            raise
        study = session.submit(request, path, emit, cancel, overwrite=True)
    with study:
        return Made(name, path, sum(not record.ok for record in study.runs()))


def write_all(session: Session, made: Made, directory: Path) -> Iterator[str]:
    """Write every non-empty view of a study; yield a sentence for each that cannot be written."""
    prefix = "" if made.name == _MAIN else f"{made.name}-"
    with session_study(session, made) as study:
        write_atomic(directory / f"{prefix}runs.csv", study.table().to_csv(index=False))
        data = session.study_data(study)
        for name, view in session.views().items():
            figure = view.build(data)
            if figure.empty:
                continue
            for ending in _MATRIX_FORMATS if name == "matrix" else (".png", ".csv"):
                try:
                    session.write(figure, directory / f"{prefix}{name}{ending}")
                except ScaleGraphError as error:
                    yield str(error)


def _count(directory: Path) -> int:
    return sum(1 for _ in directory.iterdir()) - 3
