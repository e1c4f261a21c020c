"""Redirected standard input: read once and given to every run."""

from __future__ import annotations

import hashlib
import os
import select
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scalegraph.base.patterns import pattern
from scalegraph.cli.output import echo
from scalegraph.runtime.cache import cache_root, tidy

if TYPE_CHECKING:
    from scalegraph.request.model.request import Request

_SILENT_S: Final = 2.0  # a pipe without data that stays open this long has no writer
_CHUNK: Final = 1 << 20
_LIMIT_BYTES: Final = 256 * 2**20
_READS = pattern(
    r"\b(stdin|getchar|gets|scanf|cin|getline|fgets|read|STDIN_FILENO)\b|\bread\s*[(*]|\baccept\s*[(*]|/dev/stdin",
)
_READS_FORTRAN = pattern(r"(?i)\bread\b\s*[(*'\"0-9]|\baccept\b|input_unit")
_FORTRAN = frozenset((".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08"))


def redirected(sources: Sequence[str]) -> Path | None:
    """Return a file with the redirected standard input; None for a terminal, a device, or nothing.

    A regular file is returned as it is. A pipe is read to its end, but only if one of *sources* reads standard input,
    or cannot be inspected: otherwise it may be meant for someone else. A pipe without data that does not end is
    abandoned after some seconds, with a remark.
    """
    try:
        status = os.fstat(0)
        if stat.S_ISREG(status.st_mode):
            return _file()
        piped = stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)
    except OSError:  # it is closed
        return None
    if not piped or not any(map(_may_read, sources)):
        return None
    if not select.select([0], [], [], _SILENT_S)[0]:
        echo(
            "standard input is an empty pipe: the runs get no input (use --stdin FILE)",
            err=True,
        )
        return None
    return _kept(b"".join(iter(lambda: os.read(0, _CHUNK), b"")))


def with_redirected(request: Request) -> Request:
    """Return *request* with the redirected standard input, unless it names an input or does not read one."""
    program = request.program
    place = Path(program.directory or ".").expanduser()
    sources = [str(place / name) for name in (*program.sources, *filter(None, (program.executable,)))]
    if program.stdin or not any(map(_may_read, sources)) or (found := redirected(sources)) is None:
        return request
    return request.model_copy(update={"program": program.model_copy(update={"stdin": str(found)})})


def _file() -> Path | None:
    """Return the file behind standard input, or a copy of its remainder if it is partly read or has no name."""
    place = Path(f"/proc/self/fd/{0}")
    at = os.lseek(0, 0, os.SEEK_CUR)
    named = Path(os.path.realpath(place))
    if at == 0 and named.is_file() and os.path.samestat(named.stat(), os.fstat(0)):
        return named
    with place.open("rb") as file:
        file.seek(at)
        return _kept(file.read())


def _may_read(source: str) -> bool:
    """Return whether *source* may read standard input; assumed for anything that is not text."""
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return path.exists()
    found = _READS_FORTRAN if path.suffix.lower() in _FORTRAN else _READS
    return found.search(text) is not None


def _kept(content: bytes) -> Path:
    """Return the file with *content* in the cache, named by its content, so that a study can be resumed."""
    parent = cache_root() / "input"
    path = parent / hashlib.sha256(content).hexdigest()[:32]
    if not path.is_file():
        parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(content)
        fresh.replace(path)
        tidy(parent, _LIMIT_BYTES, keep=path)
    return path
