"""Programs on this computer, with their loops under any schedule: built, run with threads, and timed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.control.build import read_sources
from scalegraph.control.ending import await_end
from scalegraph.link import Build, loops
from scalegraph.link.build import BuiltSource
from scalegraph.runtime import schedules
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.languages import LINKED, PLAIN, Language
from scalegraph.runtime.native.library import schedule_library
from scalegraph.toolchain.flags import Flags, read_flags
from scalegraph.toolchain.linking import driver, libraries
from scalegraph.toolchain.native import compile_native, link_native
from scalegraph.toolchain.objects import Source

LIMIT_S: Final = 600.0


@dataclass(frozen=True)
class Native:
    """A program for this host; *plain*: as written, *asking*: static loops also get their schedule from the runtime."""

    plain: Build
    asking: Build


@contextmanager
def built(
    sources: Sequence[Path | str],
    *,
    cflags: str | Sequence[str] = "",
    ldflags: str | Sequence[str] = "",
    include: Sequence[Path | str] = (),
    cwd: Path | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[Native]:
    """Compile *sources* for this host in both ways, into a directory that lives as long as the context.

    The arguments are those of `control.build`. Raises `InputError`, `BuildError`, `MissingTool`, `Cancelled`.
    """
    where = (cwd or Path.cwd()).absolute()
    names = [str(name) for name in sources]
    texts = read_sources(names, where)
    flags = read_flags(cflags, ldflags, [str(item) for item in include])
    clang = [" ".join(one.command) for one in map(find_compiler, sorted(_languages(texts))) if one.clang]
    if clang:
        said = f"schedules on this host need gcc; '{clang[0]}' is clang, whose OpenMP runtime is not supported"
        raise InputError([Fault(said)])
    others = tuple(name for name in names if Path(name).suffix in {*PLAIN, *LINKED})
    with tempfile.TemporaryDirectory(prefix="scalegraph-native-", ignore_cleanup_errors=True) as place:
        parts = _Parts(Path(names[0]).stem, texts, others, flags, where, cancel or CancelToken())
        yield Native(_make(parts, Path(place) / "plain", loops=False), _make(parts, Path(place) / "loops", loops=True))


@dataclass(frozen=True)
class _Parts:
    program: str
    sources: tuple[Source, ...]
    others: tuple[str, ...]  # assembler, objects, archives
    flags: Flags
    cwd: Path
    cancel: CancelToken


def _languages(sources: Sequence[Source]) -> set[Language]:
    return {source.language for source in sources} or {"c"}


def _make(parts: _Parts, directory: Path, *, loops: bool) -> Build:
    directory.mkdir()
    objects = [str(directory / f"{number}.o") for number in range(len(parts.sources))]
    for source, target in zip(parts.sources, objects, strict=True):
        compiler = find_compiler(source.language)
        compile_native(compiler, source, parts.flags, Path(target), loops=loops, cwd=parts.cwd, cancel=parts.cancel)
    languages = _languages(parts.sources)
    words = [*objects, *parts.others, *parts.flags.link, *libraries(languages)]
    program, library = directory / "program", schedule_library(find_compiler())
    link_native(find_compiler(driver(languages)), words, library, program, cwd=parts.cwd, cancel=parts.cancel)
    sources = tuple(BuiltSource(one.file, one.text, one.text) for one in parts.sources)
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    return Build(parts.program, program, program, program, (), sources, (), digest)


@dataclass(frozen=True)
class Measured:
    """One run on this computer; *wall_s* of the whole process."""

    wall_s: float
    exit_code: int
    stdout: str
    stderr: str


def run(
    program: Native,
    schedule: str,
    threads: int,
    arguments: Sequence[str] = (),
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    cancel: CancelToken | None = None,
) -> Measured:
    """Run *program* with *threads* threads under *schedule* (for `loops.parse`; empty: as written).

    Raises `InputError` for unknown schedules and loops, `RunError` after `LIMIT_S`, `Cancelled`.
    """
    choices = loops.parse(schedule)
    asks = loops.chosen(schedule)
    build = program.asking if asks else program.plain
    text = loops.loops_file(build, choices)
    with tempfile.TemporaryDirectory(prefix="scalegraph-native-", ignore_cleanup_errors=True) as place:
        ours = ("OMP_", "GOMP_", "SCALEGRAPH_SCHEDULE")
        whole = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        whole |= {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"} | dict(env or {})
        if text:
            rules = Path(place) / "loops"
            rules.write_text(text, encoding="utf-8")
            whole["SCALEGRAPH_SCHEDULE_FILE"] = str(rules)
        if runtime := _of_runtime(choices):
            whole["SCALEGRAPH_SCHEDULE_RUNTIME"] = runtime
        return _run([str(build.executable), *arguments], whole, cwd, cancel or CancelToken())


def _of_runtime(choices: tuple[loops.Choice, ...]) -> str:
    """Return the name, as known to the library, of the schedule for loops with ``schedule(runtime)``."""
    text = loops.of_runtime(choices)
    name, _, rest = text.partition(",")
    return ",".join(filter(None, (schedules.named(name).name, rest))) if text else ""


def _run(command: Sequence[str], env: Mapping[str, str], cwd: Path | None, cancel: CancelToken) -> Measured:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=dict(env), cwd=cwd)
        try:
            await_end(child, command[0], LIMIT_S, cancel)
            taken = time.perf_counter() - start
        finally:
            child.kill()
            code = child.wait()
        return Measured(taken, code, _text(out), _text(err))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
