"""The interface of readers, and their list."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.model import MeasurementSet

Progress = Callable[[float], None]  # share done, 0 to 1


@dataclass(frozen=True)
class Reader:
    """A format that describes itself.

    *recognises* gets the path and the first 4 KiB (empty for a directory) and returns whether *read* may succeed; it
    opens nothing else. *read* returns the whole set or raises `InputError` with file, place and what was expected,
    never half of it. *together* reads several files at once, for formats in which parameters are the differences
    between files. *endings*: for the open dialog; *looks*: a short description of a file; *needs*: an optional package.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    recognises: Callable[[Path, bytes], bool]
    read: Callable[[Path, CancelToken, Progress], MeasurementSet]
    order: int = 100  # of several that recognise a file, the lowest is tried first
    directory: bool = False
    needs: str = ""
    looks: str = ""
    together: Callable[[Sequence[Path], CancelToken, Progress], MeasurementSet] | None = None


@cache
def readers() -> Mapping[str, Reader]:
    """Return every reader by name, in the order in which they are tried."""
    from scalegraph.measurements import readers as package

    found = [
        importlib.import_module(f"{package.__name__}.{module.name}").READER
        for module in pkgutil.iter_modules(package.__path__)
        if not module.name.startswith("_")
    ]
    return {reader.name: reader for reader in sorted(found, key=lambda reader: (reader.order, reader.name))}


def recognised(path: Path) -> list[Reader]:
    """Return the readers that may accept *path*, the likeliest first. Raises `InputError` if it cannot be read."""
    head = b""
    if not path.is_dir():
        try:
            with path.open("rb") as file:
                head = file.read(4096)
        except OSError as error:
            raise InputError(Fault(f"cannot be read: {error.strerror}", file=str(path))) from error
    return [
        reader for reader in readers().values() if reader.directory == path.is_dir() and reader.recognises(path, head)
    ]
