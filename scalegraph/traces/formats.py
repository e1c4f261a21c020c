"""The interfaces of readers and writers, and the lists of both."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.traces.builder import Builder
from scalegraph.traces.model import Trace

Progress = Callable[[float], None]  # share done, 0 to 1


@dataclass
class Reading:
    """A read in progress: where results go, and who answers questions and sees progress."""

    path: Path
    partial: bool = False
    cancel: CancelToken = field(default_factory=CancelToken)
    progress: Progress = lambda _share: None
    builder: Builder = field(default_factory=Builder)

    def broken(self, message: str, *, line: int | None = None, file: Path | None = None) -> None:
        """Report a fault with its place. Raises `InputError`, or records the fault if readable parts are wanted."""
        fault = Fault(message, file=str(file or self.path), line=line)
        if not self.partial:
            raise InputError(fault)
        self.builder.damage(str(fault))

    def step(self, share: float) -> None:
        """Report the share done (0 to 1). Raises `Cancelled` if the user stopped it."""
        self.cancel.check()
        self.progress(min(share, 1.0))


@dataclass(frozen=True)
class Reader:
    """A format that describes itself.

    *recognises* gets the path and the first 4 KiB, decompressed, and returns whether *read* may succeed. *read* fills
    the builder and finishes it, or raises `InputError` with file, place and what was expected. *endings*: for the open
    dialog; *needs*: an optional package; *order*: which of several is tried first.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    recognises: Callable[[Path, bytes], bool]
    read: Callable[[Reading], Trace]
    order: int = 100
    needs: str = ""


@dataclass
class Writing:
    """A write in progress; *lost* counts what the format cannot hold."""

    trace: Trace
    path: Path
    cancel: CancelToken = field(default_factory=CancelToken)
    progress: Progress = lambda _share: None
    lost: dict[str, int] = field(default_factory=dict)

    def step(self, share: float) -> None:
        """Report the share done (0 to 1). Raises `Cancelled` if the user stopped it."""
        self.cancel.check()
        self.progress(min(share, 1.0))

    def lose(self, what: str, count: int) -> None:
        """Count what is not written."""
        if count:
            self.lost[what] = self.lost.get(what, 0) + count


@dataclass(frozen=True)
class Writer:
    """An output format that describes itself; chosen by the file's ending, the longest match first."""

    name: str
    title: str
    endings: tuple[str, ...]
    write: Callable[[Writing], None]
    needs: str = ""


def _modules(package: ModuleType) -> list[Any]:
    return [
        importlib.import_module(f"{package.__name__}.{module.name}")
        for module in pkgutil.iter_modules(package.__path__)
        if not module.name.startswith("_")
    ]


@cache
def readers() -> Mapping[str, Reader]:
    """Return every reader by name, in the order in which they are tried."""
    from scalegraph.traces import readers as package

    found: list[Reader] = [module.READER for module in _modules(package)]
    return {reader.name: reader for reader in sorted(found, key=lambda reader: (reader.order, reader.name))}


@cache
def writers() -> Mapping[str, Writer]:
    """Return every writer by name."""
    from scalegraph.traces import writers as package

    return {module.WRITER.name: module.WRITER for module in _modules(package)}


def writer_for(path: Path, name: str = "") -> Writer:
    """Return the writer called *name*, or the one for the ending of *path*. Raises `InputError` if there is none."""
    known = writers()
    if name:
        if name not in known:
            raise InputError(Fault(f"unknown format '{name}'{near(name, known)}; known are {', '.join(known)}"))
        return known[name]
    endings = {ending: writer for writer in known.values() for ending in writer.endings}
    for ending in sorted(endings, key=len, reverse=True):
        if path.name.lower().endswith(ending):
            return endings[ending]
    raise InputError(Fault(f"an ending was expected that says the format: {', '.join(endings)}", file=str(path)))
