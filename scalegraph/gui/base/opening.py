"""What kind of file the user opens or drops: it is read, never run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from scalegraph.base.errors import InputError
from scalegraph.base.files import reason
from scalegraph.base.toml import read_text
from scalegraph.runtime.languages import SOURCE_SUFFIXES, is_executable, language_of

if TYPE_CHECKING:
    from scalegraph.measurements.reader import Reader
    from scalegraph.traces.formats import Reader as TraceReader

Kind: TypeAlias = Literal["study", "request", "program", "machine", "source", "executable", "measurements", "trace"]

_ENDINGS = " ".join(f"*{suffix}" for suffix in SOURCE_SUFFIXES)
SOURCES = f"Sources ({_ENDINGS})"
_IN_DIRECTORY = (".otf2", ".prv", ".prv.gz", ".sgtrace")  # what a directory with a trace has
_SQLITE = b"SQLite format 3\x00"


def kind_of(path: Path) -> Kind:
    """Return what *path* is, by its content rather than its name.

    Raises `InputError` with a sentence when it cannot be read or is nothing that can be opened.
    """
    if path.is_dir():
        return _read_by_others(path)
    try:
        with path.open("rb") as file:
            head = file.read(len(_SQLITE))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {reason(error)}") from error
    if head == _SQLITE or path.suffix == ".sgstudy":
        return "study"  # the store reports a damaged one
    if is_executable(path):
        return "executable"
    if language_of(path.name) is not None:
        return "source"
    if path.suffix == ".toml":
        return _toml_kind(path)
    return _read_by_others(path)


def open_filter() -> str:
    """Return what the open dialog offers: everything that has a reader, by kind."""
    readers = [reader for reader in _readers() if not reader.directory]
    endings = {f"*{ending}" for reader in readers for ending in reader.endings}
    endings |= {f"*{ending}" for reader in _trace_readers() for ending in reader.endings}
    kinds = [
        f"All supported files (*.sgstudy *.toml {_ENDINGS} {' '.join(sorted(endings))})",
        "Studies (*.sgstudy)",
        measurement_filter(),
        trace_filter(),
        "Requests (*.toml)",
        SOURCES,
        "Programs and other files (*)",
    ]
    return ";;".join(kinds)


def measurement_filter() -> str:
    """Return what the open dialog offers for measurements: each format, and any file."""
    readers = [reader for reader in _readers() if not reader.directory]
    endings = sorted({f"*{ending}" for reader in readers for ending in reader.endings})
    single = [f"{_plain(reader.title)} ({' '.join('*' + e for e in reader.endings)})" for reader in readers]
    return ";;".join([f"Measurements ({' '.join(endings)})", *single])


def trace_filter() -> str:
    """Return what the open dialog offers for traces: all of them, each format, and any file (anchors have any name)."""
    readers = _trace_readers()
    endings = sorted({f"*{ending}" for reader in readers for ending in reader.endings})
    single = [f"{_plain(reader.title)} ({' '.join('*' + e for e in reader.endings)})" for reader in readers]
    return ";;".join([f"Traces ({' '.join(endings)})", *single, "Any file (*)"])


def _plain(title: str) -> str:
    return title.replace("(", "– ").replace(")", "")


def _readers() -> list[Reader]:
    from scalegraph.measurements.reader import readers

    return list(readers().values())


def _trace_readers() -> list[TraceReader]:
    from scalegraph.traces.formats import readers

    return list(readers().values())


def _read_by_others(path: Path) -> Kind:
    """Return whether *path* holds measurements or a trace: what both could read, by what is in it."""
    from scalegraph.measurements.reader import recognised

    measured = bool(recognised(path))
    if path.is_dir():
        if measured:
            return "measurements"
        if any(file.name.endswith(_IN_DIRECTORY) for file in path.iterdir()):
            return "trace"
        raise InputError(f"{path}: expected measurements or a trace in this directory; its format is unknown")
    from scalegraph.traces import reading

    start = reading.head(path)
    found = reading.recognised(path)
    if found and (not measured or _surely_a_trace(start)):
        return "trace"
    if measured:
        return "measurements"
    raise InputError(
        f"{path}: expected a study (.sgstudy), measurements, a trace, a request (.toml), a source or a program; no"
        " reader knows this file"
    )


def _surely_a_trace(start: bytes) -> bool:
    """Whether a file begins as no measurements do: tables and JSON may hold either."""
    line = start.split(b"\n", 1)[0]
    if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return b'"traceEvents"' in start or b'"ph"' in start
    return start.startswith((b"SGTRACE", b"#Paraver")) or (b"Timestamp (" in line and b"Event Type" in line)


def _toml_kind(path: Path) -> Kind:
    try:
        data = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError:
        return "request"  # reading it as one says where the fault is
    if "program" in data or "processors" in data:
        return "request"
    if "sources" in data and "title" in data:
        return "program"
    if "processor" in data or "cache" in data or "coherence" in data:
        return "machine"
    return "request"
