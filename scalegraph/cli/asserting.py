"""``--assert`` and ``--junit``, shared by several commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scalegraph.base.files import check_replaceable, write_atomic
from scalegraph.cli.output import echo
from scalegraph.cli.places import WRITTEN_FILE

if TYPE_CHECKING:
    from scalegraph.request import Session
    from scalegraph.request.results.assertions import Outcome
    from scalegraph.store import Study

_Command = TypeVar("_Command", bound=Callable[..., Any])


def assert_options(command: _Command) -> _Command:
    """Add the options ``--assert`` (parameter *statements*) and ``--junit`` (parameter *junit*) to a command."""
    command = click.option(
        "--junit", metavar="FILE", type=WRITTEN_FILE, help="Write the outcomes of --assert as JUnit XML."
    )(command)
    return click.option(
        "--assert",
        "statements",
        multiple=True,
        metavar="STATEMENT",
        help="Exit with 1 unless it holds, as in 'E(64) > 0.7'; repeatable.",
    )(command)


def check_given(statements: Sequence[str], junit: Path | None) -> None:
    """Reject invalid statements before any work is done."""
    if not statements:
        if junit is not None:
            raise click.UsageError("--junit goes with --assert")
        return
    from scalegraph.request.results import assertions

    assertions.parse(statements)
    if junit is not None:
        check_replaceable(junit)


def outcomes(
    session: Session, study: Study, statements: Sequence[str], junit: Path | None, name: str
) -> Sequence[Outcome]:
    """Check *statements* on *study*, print each outcome on standard error, write *junit*; return the outcomes."""
    if not statements:
        return ()
    from scalegraph.request.results import assertions

    found = assertions.check(session.study_data(study), statements)
    for item in found:
        echo(f"{item.word}: {item.statement} ({item.said})", err=True)
    if junit is not None:
        write_atomic(junit, assertions.junit(found, name))
    return found


def outcome(session: Session, study: Study, statements: Sequence[str], junit: Path | None, name: str) -> bool:
    """Do the same as `outcomes`; return whether all hold."""
    return all(item.passed for item in outcomes(session, study, statements, junit, name))
