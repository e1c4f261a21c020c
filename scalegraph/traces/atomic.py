"""Atomic writing: a file gets its name only when it is complete."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from scalegraph.base.errors import WorkError
from scalegraph.base.files import check_replaceable, reason


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to *path*; it becomes *path* if the block succeeds, and is removed otherwise."""
    check_replaceable(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise WorkError(f"{path}: cannot be written: {reason(error)}") from error
    finally:
        temporary.unlink(missing_ok=True)
