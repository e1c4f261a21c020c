"""The kind of a file: a study, measurements, a trace, a request, a source, a program. It is read, never run."""

from __future__ import annotations

import tomllib
import zlib
from pathlib import Path
from typing import Final, Literal, TypeAlias

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.files import reason
from scalegraph.base.toml import read_text
from scalegraph.measurements import foreign
from scalegraph.request.imports.graphs import ENDING as GRAPH_ENDING
from scalegraph.runtime.languages import is_executable, language_of

Kind: TypeAlias = Literal[
    "study", "request", "program", "machine", "source", "executable", "measurements", "trace", "graph"
]

NAMES: Final[dict[Kind, str]] = {
    "study": "a study",
    "request": "a request",
    "program": "the description of a program",
    "machine": "the description of a machine",
    "source": "a source",
    "executable": "an executable",
    "measurements": "a file of measurements",
    "trace": "a trace",
    "graph": "a thread graph",
}
_SUFFIX: Final = ".sgstudy"
_SQLITE: Final = b"SQLite format 3\x00"
_FIRST: Final = 16 << 10  # bytes of a file that identify it
_IN_DIRECTORY: Final = (".otf2", ".prv", ".prv.gz", ".sgtrace")  # contents of a directory with a trace
_HEAD: Final = 1 << 20  # bytes of a JSON file searched for events


def kind_of(path: Path) -> Kind:
    """Return the kind of *path*, judged by its content rather than its name.

    Raises `InputError` with a sentence if it cannot be read or opened as anything.
    """
    if path.is_dir():
        return _read_by_others(path)
    if not path.exists():
        raise InputError(Fault("no such file", file=str(path)))
    if not path.is_file():  # reading a pipe would wait for its writer
        raise InputError(Fault("is neither a file nor a directory", file=str(path)))
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {reason(error)}", file=str(path))) from error
    if is_study(path):
        return "study"  # the store reports a damaged one
    if is_executable(path):
        return "executable"
    if language_of(path.name) is not None:
        return "source"
    if path.suffix == ".toml":
        return _toml_kind(path)
    return _read_by_others(path)


def is_trace(path: Path) -> bool:
    """Return whether *path* is a trace rather than a study or measurements."""
    try:
        return kind_of(path) == "trace"
    except InputError:
        return False


def refuse_no_trace(path: Path) -> None:
    """Raise `InputError` saying what *path* is, if no trace reader, or only the one for any JSON, accepts it."""
    from scalegraph.traces import reading

    if {reader.name for reader in reading.recognised(path)} <= {"chrome"}:
        refuse_another(path, "trace")


def refuse_another(path: Path, wanted: Kind) -> None:
    """Raise `InputError` saying what *path* is, if it is known to be something other than *wanted*."""
    try:
        found = kind_of(path)
    except InputError:
        return
    if found != wanted:
        raise InputError(Fault(f"is {NAMES[found]}; {NAMES[wanted]} was expected", file=str(path)))


def is_study(path: Path) -> bool:
    """Return whether *path* is a study, by its ending or its first bytes."""
    if path.suffix.lower() == _SUFFIX:
        return True
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            head = file.read(_FIRST)
        return head.startswith(_SQLITE) and not foreign.told(head)
    except OSError:
        return False


def _read_by_others(path: Path) -> Kind:
    """Return whether *path* holds measurements or a trace; if readers of both accept it, its content decides."""
    from scalegraph.measurements.reader import recognised

    measured = bool(recognised(path))
    if path.is_dir():
        if measured:
            return "measurements"
        try:
            if any(file.name.endswith(_IN_DIRECTORY) for file in path.iterdir()):
                return "trace"
        except OSError as error:
            raise InputError(Fault(f"cannot be read: {reason(error)}", file=str(path))) from error
        what = "expected measurements or a trace in this directory; its format is unknown"
        raise InputError(Fault(what, file=str(path)))
    from scalegraph.traces import reading

    found = reading.recognised(path)
    if found and _holds_events(path, found[0].name, measured=measured):
        return "trace"
    if measured:
        return "measurements"
    with path.open("rb") as file:
        if told := foreign.told(file.read(_FIRST), path.name):
            raise InputError(Fault(told, file=str(path)))
    what = "expected a study (.sgstudy), measurements, a trace, a request (.toml), a source or a program"
    raise InputError(Fault(f"{what}; no reader knows this file", file=str(path)))


def _holds_events(path: Path, reader: str, *, measured: bool) -> bool:
    """Return whether a file that the trace *reader* may accept begins like no measurements do."""
    if reader == "chrome":
        return _has_events(path)
    from scalegraph.traces import reading

    start = reading.head(path)
    line = start.split(b"\n", 1)[0]
    calls = b"Timestamp (" in line and b"Event Type" in line
    return not measured or calls or start.startswith((b"SGTRACE", b"#Paraver"))


def _has_events(path: Path) -> bool:
    """Return whether the beginning of a JSON file holds events, which distinguish a trace from other JSON."""
    try:
        with path.open("rb") as file:
            start = file.read(_HEAD)
        if start[:2] == b"\x1f\x8b":
            start = zlib.decompressobj(wbits=31).decompress(start, _HEAD)
    except (OSError, zlib.error):
        return False
    return b'"traceEvents"' in start or b'"ph"' in start


def _toml_kind(path: Path) -> Kind:
    try:
        data = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError:
        return "graph" if path.name.endswith(GRAPH_ENDING) else "request"  # reading it as one reports the fault
    if "class" in data:
        return "graph"
    if "program" in data or "processors" in data:
        return "request"
    if "sources" in data and "title" in data:
        return "program"
    if "processor" in data or "cache" in data or "coherence" in data:
        return "machine"
    return "request"
