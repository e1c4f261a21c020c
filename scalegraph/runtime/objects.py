"""Objects of the simulator's own sources: compiled in parallel and cached, so that a change recompiles only part.

A wheel has those that the computer's compiler made when the wheel was built, for whoever has the same compiler.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, MissingTool
from scalegraph.runtime.cache import cache_root, tidy, touch
from scalegraph.runtime.compiler import INSTALL, Compiler

Progress = Callable[[int, int, float | None], None]
"""Called with the number of files compiled, their total, and the seconds left (None: not known yet)."""

SHIPPED: Final = Path(__file__).parent / "compiled"
"""What the wheel has: a folder for each `_tools`, see `Compilation.ship`."""
_INCLUDE: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
_LIMIT_BYTES: Final = 64 * 2**20
_KNOWN: Final = 10  # files after which the time left can be estimated


@dataclass(frozen=True)
class Unit:
    """A source and its compiler options; *finish* modifies the object that the compiler wrote."""

    source: Path
    options: tuple[str, ...]
    finish: Callable[[Path], None] | None = None


@dataclass(frozen=True)
class Compilation:
    """The common settings of a build's objects: compiler, header folders, and the output folder."""

    compiler: Compiler
    folders: tuple[Path, ...]
    where: Path
    cancel: CancelToken

    def objects(self, units: Sequence[Unit], progress: Progress) -> list[Path]:
        """Return the objects of *units*, in order; previously compiled ones come from the cache.

        Raises `BuildError` (a source of ours does not compile), `MissingTool`, `Cancelled`.
        """
        from concurrent.futures import ThreadPoolExecutor  # imported late: the compiler wrappers rarely get here

        places = [_kept()]
        if SHIPPED.is_dir():
            places.append(SHIPPED / _tools(self.compiler))
        missing = [unit for unit in units if not _taken(self._key(unit), self._target(unit), places)]
        progress(len(units) - len(missing), len(units), None)
        began = time.monotonic()
        largest = sorted(missing, key=lambda unit: -unit.source.stat().st_size)  # no long one is left at the end
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                for done, _ in enumerate(pool.map(self._compile, largest), start=1):
                    passed = time.monotonic() - began
                    left = passed / done * (len(missing) - done) if done >= _KNOWN else None
                    progress(len(units) - len(missing) + done, len(units), left)
                    self.cancel.check()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        tidy(_kept(), _LIMIT_BYTES)
        return [self._target(unit) for unit in units]

    def ship(self, units: Sequence[Unit], directory: Path) -> None:
        """Copy the objects of *units*, which `objects` compiled, to *directory*, which the wheel has as `SHIPPED`."""
        place = directory / _tools(self.compiler)
        place.mkdir(parents=True, exist_ok=True)
        for unit in units:
            content = self._target(unit).read_bytes()
            (place / _name(self._key(unit), content)).write_bytes(content)

    def _target(self, unit: Unit) -> Path:
        return self.where / f"{unit.source.stem}.o"

    def _compile(self, unit: Unit) -> None:
        target = self._target(unit)
        folders = [f"-I{folder}" for folder in (self.where, *self.folders)]
        arguments = [*unit.options, *folders, "-c", str(unit.source), "-o", str(target)]
        result = self.compiler.run(arguments, cancel=self.cancel)
        if result.returncode != 0:
            raise _failure(self.compiler, unit.source, result.stderr)
        if unit.finish is not None:
            unit.finish(target)
        _keep(self._key(unit), target)

    def _key(self, unit: Unit) -> str:
        """Return what determines the object: compiler, options, the source and all our headers that it includes."""
        # The option that strips this copy's folder from names differs for every copy, but not its result.
        options = [option for option in unit.options if not option.startswith("-ffile-prefix-map")]
        total = hashlib.sha256("\0".join([self.compiler.identity, *options]).encode())
        included: dict[str, bytes] = {}
        waiting = [unit.source.read_bytes(), *(self._headers[name] for name in options if name in self._headers)]
        for text in waiting:
            for name in _INCLUDE.findall(text):
                header = name.decode()
                if header in self._headers and header not in included:
                    included[header] = self._headers[header]
                    waiting.append(included[header])
        for text in (unit.source.name.encode(), *waiting):
            total.update(hashlib.sha256(text).digest())
        return total.hexdigest()[:40]

    @cached_property
    def _headers(self) -> dict[str, bytes]:
        folders = (self.where, *self.folders)
        return {path.name: path.read_bytes() for folder in folders for path in folder.glob("*.h")}


def _kept() -> Path:
    return cache_root() / "objects"


def _tools(compiler: Compiler) -> str:
    """Return what decides about an object beside its key if it was compiled on another computer.

    That is the package's version of the compiler, the assembler, and the C library with its headers. The processor does
    not: our sources are compiled for any of its architecture.
    """
    assembler = subprocess.run([compiler.tool("as"), "--version"], capture_output=True, text=True, check=False).stdout
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else ""
    said = (compiler.run(["--version"]).stdout, assembler)
    first = [text.partition("\n")[0] for text in said]
    return hashlib.sha256("\0".join([*first, libc or ""]).encode()).hexdigest()[:16]


def _taken(key: str, target: Path, places: Sequence[Path]) -> bool:
    """Copy the object kept for *key* in one of *places* to *target*; return False if there is no intact one."""
    for path in (path for place in places for path in place.glob(f"{key}-*.o")):
        with suppress(OSError):
            content = path.read_bytes()
            if path.name == _name(key, content):
                target.write_bytes(content)
                if path.parent == places[0]:
                    touch(path)
                return True
    return False


def _keep(key: str, target: Path) -> None:
    """Keep a copy of *target* for *key*; do nothing if the cache is read-only."""
    content = target.read_bytes()
    fresh = _kept() / f".{key}-{os.getpid()}"
    with suppress(OSError):
        fresh.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(content)
        fresh.replace(_kept() / _name(key, content))


def _name(key: str, content: bytes) -> str:
    """Return the file name of an object: the digest in it reveals damage."""
    return f"{key}-{hashlib.sha256(content).hexdigest()[:16]}.o"


def _failure(compiler: Compiler, source: Path, output: str) -> Exception:
    if "fatal error" in output and ".h: No such file" in output:
        return MissingTool(f"the compiler lacks the C library's headers; {INSTALL}")
    return BuildError(
        f"the simulator's own source {source.name} does not compile with {compiler.command[0]} {compiler.version}; "
        "this is a fault of ScaleGraph, not of your program",
        output,
    )
