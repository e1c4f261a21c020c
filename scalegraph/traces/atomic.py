"""A file that has its name only when it is whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from scalegraph.base.errors import WorkError
from scalegraph.base.files import check_replaceable, reason


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a name beside *path* to write to; it becomes *path* when the block ends well, else it is gone."""
    check_replaceable(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise WorkError(f"{path}: cannot be written: {reason(error)}") from error
    finally:
        temporary.unlink(missing_ok=True)
