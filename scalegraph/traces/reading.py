"""Opening a trace of any format."""

from __future__ import annotations

import zlib
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.files import reason
from scalegraph.traces.formats import Progress, Reader, Reading, readers
from scalegraph.traces.model import Trace


def head(path: Path) -> bytes:
    """Return the first 4 KiB of *path*, decompressed where it is gzip. Raises `InputError` if it cannot be read."""
    try:
        with path.open("rb") as file:
            start = file.read(4096)
        if start[:2] == b"\x1f\x8b":
            return zlib.decompressobj(wbits=31).decompress(start, 4096)
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {reason(error)}", file=str(path))) from error
    except zlib.error as error:
        raise InputError(Fault(f"is damaged: it begins like gzip but is none ({error})", file=str(path))) from error
    return start


def recognised(path: Path) -> list[Reader]:
    """Return the readers that may understand *path*, the likeliest first."""
    start = head(path)
    return [reader for reader in readers().values() if reader.recognises(path, start)]


def read(
    path: Path,
    *,
    name: str = "",
    partial: bool = False,
    cancel: CancelToken | None = None,
    progress: Progress = lambda _share: None,
) -> Trace:
    """Return the trace in *path*; of a directory, the one anchor file in it. Close it when done.

    *name* chooses the reader. With *partial* a damaged file gives what could be read, and `Meta.damage` says what was
    wrong. Raises `InputError` with file, place and what was expected; `MissingTool` if a package has to be installed.
    """
    path = anchor(path)
    if name and name not in readers():
        raise InputError(Fault(f"unknown format '{name}'{near(name, readers())}; known are {', '.join(readers())}"))
    chosen = [readers()[name]] if name else recognised(path)
    if not chosen:
        raise InputError(Fault(f"no trace that is understood; known are {', '.join(readers())}", file=str(path)))
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
    trace.meta.source = trace.meta.source or path.name
    trace.meta.format = chosen[0].name if chosen[0].name != "sgtrace" else trace.meta.format
    return trace


def anchor(path: Path) -> Path:
    """Return *path*, or of a directory the one file in it that a trace begins with. Raises `InputError`."""
    if not path.exists():
        raise InputError(Fault("no such file", file=str(path)))
    if not path.is_dir():
        return path
    found = sorted(file for file in path.iterdir() if file.name.endswith((".otf2", ".prv", ".prv.gz", ".sgtrace")))
    if len(found) != 1:
        raise InputError(Fault(f"a directory with one trace was expected; {len(found)} were found", file=str(path)))
    return found[0]
