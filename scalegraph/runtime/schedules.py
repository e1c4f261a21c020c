"""The schedules of worksharing loops: those of the runtime, which describe themselves, and the user's own."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scalegraph.base.errors import BuildError, Fault, InputError, near
from scalegraph.base.patterns import pattern
from scalegraph.runtime.cache import cache_root, get_or_make
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.library import DESCRIBER, INCLUDE, SCHEDULE_TEXTS, SCHEDULES, library

_OBJECT = "schedule.so"
_NAMED = pattern(r'SCHEDULE\(\s*\.name = "([^"]+)"')


@dataclass(frozen=True, slots=True)
class Parameter:
    """A numeric parameter of a schedule; *default*: a product of numbers, N (iterations) and P (members)."""

    name: str
    default: str
    minimum: float
    maximum: float
    help: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule's description of itself; *plugin*: the shared object of a user-written one."""

    name: str
    family: str
    title: str
    reference: str
    parameters: tuple[Parameter, ...]
    plugin: Path | None = None

    def document(self) -> dict[str, Any]:
        """Return the fields of ``schedules --list --json``."""
        parameters = [
            {"name": p.name, "default": p.default, "minimum": p.minimum, "maximum": p.maximum, "help": p.help}
            for p in self.parameters
        ]
        texts = {"name": self.name, "title": self.title, "family": self.family, "reference": self.reference}
        return {**texts, "parameters": parameters}


@cache
def names() -> tuple[str, ...]:
    """Return the names of the runtime's schedules; needs no compiler."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(SCHEDULES.glob("*.c")))
    return tuple(match[1] for text in texts for match in _NAMED.finditer(text))


def is_file(name: str) -> bool:
    """Return whether *name* is the path of a user-written schedule."""
    return name.endswith(".c") or "/" in name


@cache
def shipped() -> tuple[Schedule, ...]:
    """Return the schedules of the runtime, OpenMP's first, then by family and name.

    Raises `BuildError` or `MissingTool` if the runtime cannot be built.
    """
    directory = library(find_compiler()).archive.parent
    found = _read((directory / SCHEDULE_TEXTS).read_text(encoding="utf-8"))
    return tuple(sorted(found, key=lambda one: (one.family != "OpenMP", one.family, one.name.lower())))


def own(source: Path) -> Schedule:
    """Return the user's schedule in the C file *source*, compiled once for its contents.

    Raises `BuildError` with the compiler's messages, or if the file is not a schedule.
    """
    compiler = find_compiler()
    directory_of = library(compiler).archive.parent
    try:
        digest = hashlib.sha256(f"{directory_of.name}\0".encode() + source.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError([Fault(f"{source}: {error.strerror}; expected a C file with a schedule")]) from error

    def make(where: Path) -> None:
        flags = ["-std=gnu11", "-O2", "-shared", "-fPIC", f"-I{INCLUDE}", f"-I{directory_of}"]
        result = compiler.run([*flags, str(source), "-o", str(where / _OBJECT), "-lm"])
        if result.returncode != 0:
            raise BuildError(f"the schedule {source} does not compile", result.stderr)

    place = get_or_make(cache_root() / "schedules" / digest[:24], make)
    told = subprocess.run([directory_of / DESCRIBER, place / _OBJECT], capture_output=True, text=True, check=False)
    if told.returncode != 0:
        raise BuildError(f"{source} is not a schedule: expected a file that ends with SCHEDULE(..)", told.stderr)
    named = _read(told.stdout)[-1]
    return Schedule(named.name, named.family or "own", named.title, named.reference, named.parameters, place / _OBJECT)


def _read(text: str) -> list[Schedule]:
    found = []
    for one in json.loads(text):
        parameters = tuple(Parameter(**parameter) for parameter in one.pop("parameters"))
        found.append(Schedule(**one, parameters=parameters))
    return found


def named(name: str, known: Sequence[Schedule] = ()) -> Schedule:
    """Return the schedule *name* (case does not matter), or the one in the C file at that path.

    Raises `InputError` for an unknown name, with similar names.
    """
    if is_file(name):
        return own(Path(name))
    everyone = known or shipped()
    for one in everyone:
        if one.name.lower() == name.lower():
            return one
    raise InputError([Fault(f"there is no schedule '{name}'{near(name, [one.name for one in everyone])}")])
