"""Output paths, checked before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import Any

import click

from scalegraph.base.files import check_directory


class Written(click.Path):
    """A file to write or a directory to create; its parent must exist."""

    def __init__(self, **options: Any) -> None:
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; raise `InputError` if its parent directory does not exist."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if ctx is None or not ctx.resilient_parsing:
            check_directory(path)
        return path


def as_argument(path: Path) -> str:
    """Return *path* quoted for a command line to copy, as ``./-x`` if it would look like an option."""
    text = str(path)
    return quote(f"./{text}" if text.startswith("-") else text)


WRITTEN_FILE = Written(dir_okay=False)
WRITTEN_DIRECTORY = Written(file_okay=False)
WRITTEN = Written()
