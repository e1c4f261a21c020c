"""Output paths, checked before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path
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


WRITTEN_FILE = Written(dir_okay=False)
WRITTEN_DIRECTORY = Written(file_okay=False)
WRITTEN = Written()
