"""What a file is that somebody opens or drops: looked at, never run."""

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

Kind: TypeAlias = Literal["study", "request", "program", "machine", "source", "executable", "measurements"]

_ENDINGS = " ".join(f"*{suffix}" for suffix in SOURCE_SUFFIXES)
SOURCES = f"Sources ({_ENDINGS})"
_SQLITE = b"SQLite format 3\x00"


def kind_of(path: Path) -> Kind:
    """Return what *path* is, by its content rather than its name.

    Raises `InputError` with a sentence when it cannot be read or is nothing that can be opened.
    """
    if path.is_dir():
        return _measured(path)
    try:
        with path.open("rb") as file:
            head = file.read(len(_SQLITE))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {reason(error)}") from error
    if head == _SQLITE or path.suffix == ".sgstudy":
        return "study"  # a damaged one is told by the store
    if is_executable(path):
        return "executable"
    if language_of(path.name) is not None:
        return "source"
    if path.suffix == ".toml":
        return _toml_kind(path)
    return _measured(path)


def open_filter() -> str:
    """Return what the open dialog offers: everything that has a reader, by kind."""
    readers = [reader for reader in _readers() if not reader.directory]
    endings = sorted({f"*{ending}" for reader in readers for ending in reader.endings})
    kinds = [
        f"All that can be opened (*.sgstudy *.toml {_ENDINGS} {' '.join(endings)})",
        "Studies (*.sgstudy)",
        measurement_filter(),
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


def _plain(title: str) -> str:
    return title.replace("(", "– ").replace(")", "")


def _readers() -> list[Reader]:
    from scalegraph.measurements.reader import readers

    return list(readers().values())


def _measured(path: Path) -> Kind:
    from scalegraph.measurements.reader import recognised

    if recognised(path):
        return "measurements"
    if path.is_dir():
        raise InputError(f"{path}: expected measurements in this directory; no reader knows what it holds")
    raise InputError(
        f"{path}: expected a study (.sgstudy), measurements, a request (.toml), a source or a program; no reader knows"
        " this file"
    )


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
