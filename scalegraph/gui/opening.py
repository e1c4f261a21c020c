"""What a file is that somebody opens or drops: looked at, never run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal, TypeAlias

from scalegraph.base.errors import InputError
from scalegraph.base.files import reason
from scalegraph.base.toml import read_text
from scalegraph.runtime.languages import SOURCE_SUFFIXES, is_executable, language_of

Kind: TypeAlias = Literal["study", "request", "program", "machine", "source", "executable"]

_ENDINGS = " ".join(f"*{suffix}" for suffix in SOURCE_SUFFIXES)
SOURCES = f"Sources ({_ENDINGS})"
FILTER = (
    f"All that can be opened (*.sgstudy *.toml {_ENDINGS});;Studies (*.sgstudy);;Requests (*.toml);;{SOURCES};;"
    "Programs and other files (*)"
)
_SQLITE = b"SQLite format 3\x00"


def kind_of(path: Path) -> Kind:
    """Return what *path* is, by its content rather than its name.

    Raises `InputError` with a sentence when it cannot be read or is nothing that can be opened.
    """
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
    if path.suffix in (".csv", ".tsv"):
        raise InputError(f"{path}: 'scalegraph import' makes a study of a table of runs, which can be opened")
    raise InputError(f"{path}: expected a study (.sgstudy), a request (.toml), a source or a program")


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
