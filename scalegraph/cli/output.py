"""Results on standard output: JSON documents, and tables, which are plain text if output is not a terminal."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from typing import Any

import click

from scalegraph.base.text import HIDDEN, one_line, visible

STANDARD_OUTPUT = "standard output"


def echo(text: str = "", *, err: bool = False, nl: bool = True, exact: bool = False) -> None:
    """Print *text* that may contain names from files of others, on standard output or, with *err*, standard error.

    Control characters become visible, see `base.text.visible`: a name must not move the cursor or hide a line. *exact*:
    text such as a source that must be unchanged; it is escaped only on a terminal.
    """
    if err:
        with contextlib.suppress(OSError):  # unwritable messages do not stop the work
            click.echo(visible(text), err=True, nl=nl)
        return
    _print(text if exact and not on_terminal() else visible(text), nl=nl)


def replace_line(text: str) -> None:
    """Replace the last line on standard error, a terminal, by *text*."""
    with contextlib.suppress(OSError):
        click.echo(f"\r\033[K{one_line(text)}", err=True, nl=False)


def on_terminal(*, err: bool = False) -> bool:
    """Return whether standard output (or *err*: standard error) is a terminal; not if it is closed (``>&-``)."""
    stream = sys.stderr if err else sys.stdout
    return stream is not None and stream.isatty()


def print_json(data: Any) -> None:
    """Print a JSON document on standard output; numbers that are not finite become ``null``."""
    import orjson  # documents of many ranks take megabytes; other commands need not wait for this import

    try:
        options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE
        made = orjson.dumps(data, default=_plain, option=options)
    except TypeError:  # program output that is not valid text, such as half a character; or an integer beyond 64 bits
        echo_json(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=_plain))
        return
    if made.isascii() and b"\x7f" not in made and hasattr(sys.stdout, "buffer"):
        _print(made, nl=False)  # bytes: otherwise megabytes of text would be scanned for colours
    else:
        echo_json(made.decode(), nl=False)


def _plain(value: Any) -> Any:
    """Return *value*, such as a path or a model, in a form that JSON supports."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value)


def echo_json(text: str, *, nl: bool = True) -> None:
    """Print the JSON document *text*; control characters in its strings become equivalent JSON escapes."""
    if not text.isascii() or "\x7f" in text:  # JSON escapes the other ASCII control characters itself
        text = HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text)
    _print(text, nl=nl)


def _print(text: str | bytes, *, nl: bool) -> None:
    """Write *text* to standard output; an `OSError` gets its name."""
    try:
        click.echo(text, nl=nl)
    except OSError as error:
        error.filename = STANDARD_OUTPUT
        raise


def print_rows(
    headers: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "", left: Sequence[int] = ()
) -> None:
    """Print *rows* under *headers*: coloured on a terminal, aligned plain text elsewhere.

    Columns are right-aligned except those with an index in *left*; a row may be shorter than the headers.
    """
    rows = [[one_line(cell) for cell in row] for row in rows]
    if on_terminal():
        _print_rich(headers, rows, title, left)
        return
    if title:
        echo(title)
    everything = [list(headers), *map(list, rows)]
    # the last cell of a short row may extend over the missing columns
    sized = [row if len(row) == len(headers) else row[:-1] for row in everything]
    widths = [max(len(row[i]) for row in sized if i < len(row)) for i in range(len(headers))]
    for row in everything:
        cells = (
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=False))
        )
        echo("  ".join(cells).rstrip())


def _print_rich(headers: Sequence[str], rows: Sequence[Sequence[str]], title: str, left: Sequence[int]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(one_line(title)) if title else None,
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="bold",
    )
    for i, name in enumerate(headers):
        table.add_column(name, justify="left" if i in left else "right", overflow="fold", no_wrap=i not in left)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)
