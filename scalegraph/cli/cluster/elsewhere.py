"""Option ``--on``: runs on other computers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import click

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.events import EventSink
from scalegraph.base.units import counted
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import echo
from scalegraph.cli.places import WRITTEN_DIRECTORY
from scalegraph.cli.progress import progress
from scalegraph.link.cluster.places import PLACES, Where, check_installed, parse
from scalegraph.request import Session
from scalegraph.request.consent import Consent
from scalegraph.request.model.request import Request

_Command = TypeVar("_Command", bound=Callable[..., Any])


def on_options(command: _Command) -> _Command:
    """Add the options to *command* that say where its runs take place."""
    examples = ", ".join(place.example for place in PLACES.values())
    command = click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of the place that --on names, as in partition=batch; docs/howto/clusters.md has all.",
    )(command)
    command = click.option(
        "--write-jobs",
        "jobs_directory",
        metavar="DIR",
        type=WRITTEN_DIRECTORY,
        help="Run nothing; write the runs into DIR with scripts for Slurm, PBS and a shell. 'scalegraph collect DIR' "
        "collects their results.",
    )(command)
    return click.option("--on", metavar="ADDRESS", help=f"Carry the runs out on the workers of a cluster: {examples}.")(
        command
    )


def place_given(on: str | None, settings: tuple[str, ...], directory: Path | None) -> Where | None:
    """Return the place named by the options, None for this computer; raise `InputError`, `MissingTool`.

    Jobs written into a *directory* use the settings of a batch system.
    """
    if directory is not None:
        if on is not None:
            raise InputError(Fault("--on carries the runs out, --write-jobs writes them; one of them was expected"))
        return parse("slurm:", settings)
    if on is None:
        if settings:
            raise InputError(Fault("--set belongs to a place; --on ADDRESS was expected too", key="--set"))
        return None
    where = parse(on, settings)
    check_installed(where)
    return where


def there(
    session: Session, where: Where | None, path: Path, emit: EventSink, cancel: CancelToken, workers: int | None
) -> AbstractContextManager[Session]:
    """Return the session that runs at *where*: *session* itself for this computer."""
    if where is None:
        return contextlib.nullcontext(session)
    return session.elsewhere(where, path, emit, cancel, workers=workers)


def write_jobs(
    session: Session, request: Request, path: Path, directory: Path, where: Where, consent: Consent | None
) -> None:
    """Write the next runs of *request* into *directory* as batch jobs, and print how to run and collect them."""
    from scalegraph.request.run import batches

    with interruptible() as cancel, progress() as emit:
        made = batches.write_jobs(session, request, path, directory, where, emit, cancel=cancel, consent=consent)
    if not made.jobs:
        echo(f"nothing to write: {path} has every run of this request")
        return
    echo(f"{counted(made.jobs, 'run')} written into {directory}")
    echo(f"run them with one of: {', '.join(map(str, made.scripts))}")
    echo(f"then: scalegraph collect {directory} -o {path}")
