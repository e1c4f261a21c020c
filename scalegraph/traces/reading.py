"""Opening a trace of any format."""

from __future__ import annotations

import zlib
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.files import reason
from scalegraph.traces.bounds import bound
from scalegraph.traces.formats import Progress, Reader, Reading, readers
from scalegraph.traces.model import Trace
from scalegraph.traces.text import salvaged


def head(path: Path) -> bytes:
    """Return the first 4 KiB of *path*, decompressed if it is gzip. Raises `InputError` if it cannot be read."""
    try:
        with path.open("rb") as file:
            start = file.read(4096)
        if start[:2] == b"\x1f\x8b":
            return salvaged(zlib.decompressobj(wbits=31), start)[:4096]
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {reason(error)}", file=str(path))) from error
    return start


def recognised(path: Path) -> list[Reader]:
    """Return the readers that may accept *path*, the likeliest first."""
    start = head(path)
    return [reader for reader in readers().values() if reader.recognises(path, start)]


def read(
    path: Path,
    *,
    name: str = "",
    partial: bool = False,
    cancel: CancelToken | None = None,
    progress: Progress = lambda _share: None,
    bounded: bool = True,
) -> Trace:
    """Return the trace in *path*; for a directory, the one anchor file in it. Close it when done.

    *name* chooses the reader. With *partial* a damaged file gives what could be read, and `Meta.damage` says what was
    wrong. Columns are checked against their limits (`bounds`), now or when they are requested; unless *bounded* is
    False, for callers that check every row anyway. Raises `InputError` with file, place and what was expected;
    `MissingTool` if a package has to be installed.
    """
    path = anchor(path)
    if name and name not in readers():
        raise InputError(Fault(f"unknown format '{name}'{near(name, readers())}; known are {', '.join(readers())}"))
    chosen = [readers()[name]] if name else recognised(path)
    if not chosen:
        raise InputError(Fault(_unknown(path), file=str(path)))
    reading = Reading(path, partial, cancel or CancelToken(), progress)
    try:
        trace = chosen[0].read(reading)
    except InputError as error:
        if not partial or not reading.builder.found:
            reading.builder.discard()
            raise
        reading.builder.damage(str(error))
        trace = reading.builder.finish()
    except (OSError, EOFError, zlib.error) as error:
        reading.builder.discard()
        why = reason(error) if isinstance(error, OSError) and error.errno else f"is damaged: {error}"
        raise InputError(Fault(why, file=str(path))) from error
    except BaseException:
        reading.builder.discard()
        raise
    if bounded:
        try:
            bound(trace, path, partial=partial)
        except BaseException:
            trace.close()
            raise
    trace.meta.source = trace.meta.source or path.name
    trace.meta.format = chosen[0].name if chosen[0].name != "sgtrace" else trace.meta.format
    return trace


_NOT_READ = {
    b"PK\x03\x04": "packed with zip",
    b"BZh": "packed with bzip2",
    b"\xfd7zXZ": "packed with xz",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}


def _unknown(path: Path) -> str:
    """Report why no reader accepts *path*."""
    start = head(path)
    if not start.strip():
        return "is empty; a trace was expected" if not start else "holds nothing but space; a trace was expected"
    for sign, what in _NOT_READ.items():
        if start.startswith(sign):
            wanted = "text in UTF-8" if "text" in what else "a trace as it is, or packed with gzip,"
            return f"is {what}; {wanted} was expected"
    return f"is not a trace in a known format; known are {', '.join(readers())}"


def anchor(path: Path) -> Path:
    """Return *path*, or for a directory the one file in it with which a trace begins. Raises `InputError`."""
    if not path.exists():
        raise InputError(Fault("no such file", file=str(path)))
    if not path.is_dir():
        return path
    found = sorted(file for file in path.iterdir() if file.name.endswith((".otf2", ".prv", ".prv.gz", ".sgtrace")))
    if len(found) != 1:
        raise InputError(Fault(f"a directory with one trace was expected; {len(found)} were found", file=str(path)))
    return found[0]
