"""``--for-spreadsheets``: CSV in which no text can be taken for a formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
_META = "scalegraph.for_spreadsheets"


def spreadsheet_option(command: _Command) -> _Command:
    """Add ``--for-spreadsheets`` to a command that writes CSV; see `for_spreadsheets`."""
    return click.option(
        "--for-spreadsheets",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        help="In .csv, put an apostrophe before text that begins with = + - @: no formula is computed.",
    )(command)


def for_spreadsheets() -> bool:
    """Return whether the running command was given ``--for-spreadsheets``."""
    context = click.get_current_context(silent=True)
    return bool(context is not None and context.meta.get(_META))


def _keep(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    ctx.meta[_META] = value
