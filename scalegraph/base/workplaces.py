"""Temporary directories that do not stay behind: those of a ScaleGraph that was killed are removed by the next one."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def workplace(kind: str, above: Path, *, shared: bool = False) -> Iterator[Path]:
    """Yield a new directory in *above*, which is removed at the end; raise `OSError` if there can be none.

    Its name begins with *kind*. Directories of this kind whose process does not exist any more are removed first.
    *shared*: other computers write into *above*, too; only directories that this one has made are removed.
    """
    start = f"{kind}-{socket.gethostname()}-" if shared else f"{kind}-"
    _sweep(start, above)
    made = tempfile.TemporaryDirectory(prefix=f"{start}{os.getpid()}-", dir=above, ignore_cleanup_errors=True)
    with made as name:
        yield Path(name)


def _sweep(start: str, above: Path) -> None:
    pattern = re.compile(rf"{re.escape(start)}([0-9]+)-[^-]*")
    for path in above.iterdir():
        found = pattern.fullmatch(path.name)
        if found and not Path(f"/proc/{found[1]}").exists():
            shutil.rmtree(path, ignore_errors=True)
