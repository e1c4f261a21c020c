"""The library that runs libgomp's loops under the simulator's schedules, built on first use."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from scalegraph.base.errors import BuildError
from scalegraph.runtime.cache import cache_root, get_or_make
from scalegraph.runtime.compiler import Compiler
from scalegraph.runtime.library import (
    INCLUDE,
    SCHEDULES,
    SOURCES,
    include_flags,
    schedule_list,
    schedule_names,
)

NAME: Final = "libscalegraph-loops.so"
_OWN: Final = Path(__file__).parent
_SHARED: Final = SOURCES / "schedules" / "sg_schedules.c"
_LIST: Final = "sg_schedule_list.h"
_FLAGS: Final = (
    *("-std=gnu11", "-O2", "-g", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"),
    *("-D_GNU_SOURCE", "-include", "pthread.h"),
)


def schedule_library(compiler: Compiler, more: Sequence[str] = ()) -> Path:
    """Return the shared library for programs of gcc and gfortran, built by *compiler* if necessary.

    It is linked before libgomp, or loaded by ``LD_PRELOAD``; sgn_wanted.c documents its environment variables. *more*:
    additional options, for sanitizers. Raises `BuildError`.
    """
    if compiler.clang:
        raise BuildError("schedules on this computer need gcc: the OpenMP runtime of clang is not served", "")
    digest = hashlib.sha256("\0".join([compiler.identity, *_FLAGS, *more]).encode())
    for path in _files():
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    place = cache_root() / "loops" / digest.hexdigest()[:24]
    return get_or_make(place, lambda where: _build(compiler, where, more)) / NAME


def _files() -> Iterator[Path]:
    for folder in (_OWN, SOURCES, INCLUDE):
        yield from sorted(path for path in folder.rglob("*.h"))
    yield from (*sorted(_OWN.glob("*.c")), *sorted(SCHEDULES.glob("*.c")), _SHARED)


def _build(compiler: Compiler, where: Path, more: Sequence[str]) -> None:
    (where / _LIST).write_text(schedule_list(), encoding="utf-8")
    sources = [path for path in _files() if path.suffix == ".c"]

    def compiled(source: Path) -> str:
        target = str(where / f"{source.stem}.o")
        places = [*include_flags(), f"-I{_OWN}", f"-I{where}"]
        _must(compiler, [*_FLAGS, *more, *places, *schedule_names(source), "-c", str(source), "-o", target])
        return target

    with ThreadPoolExecutor() as pool:
        objects = list(pool.map(compiled, sources))
    _must(compiler, ["-shared", "-fopenmp", *more, *objects, "-o", str(where / NAME), "-lm", "-ldl"])
    for item in objects:
        Path(item).unlink()


def _must(compiler: Compiler, arguments: Sequence[str]) -> None:
    result = compiler.run(arguments)
    if result.returncode != 0:
        raise BuildError("the schedules do not compile for this computer; is libgomp complete?", result.stderr)
