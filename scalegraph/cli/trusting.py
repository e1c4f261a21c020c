"""``--trust``: consent to run code from a file, asked for on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scalegraph.base.errors import Fault, InputError
from scalegraph.cli.output import echo, on_terminal

if TYPE_CHECKING:
    from scalegraph.request import Session
    from scalegraph.request.consent import Consent
    from scalegraph.request.model.request import Request

_Command = TypeVar("_Command", bound=Callable[..., Any])
HOW = "look at it, then --trust runs it"


def trust_option(command: _Command) -> _Command:
    """Add the option ``--trust`` (parameter *trust*) to a command that runs what a file says."""
    return click.option(
        "--trust",
        is_flag=True,
        help="Run code from the file (build command, executable, options) without asking; see docs/SECURITY.md.",
    )(command)


def settled(session: Session, request: Request, *, trust: bool) -> Consent | None:
    """Return the user's consent to what *request* runs, None if none is needed; on a terminal the user is asked.

    Raises `InputError` without consent: nothing may be run then.
    """
    consent = session.consent(request)
    if consent is None or trust:
        return consent
    if not (sys.stdin is not None and sys.stdin.isatty() and on_terminal(err=True)):
        from scalegraph.request.consent import ConsentNeeded

        raise ConsentNeeded(consent, HOW)
    echo(f"{consent.source} runs code that was not written here:", err=True)
    for line in consent.lines():
        echo(f"  {line}", err=True)
    if not click.confirm("Run it?", default=False, err=True):
        raise InputError(Fault("nothing was run: it was not trusted", file=consent.source))
    return consent
