"""Builds of the user's sources for a target, cached by everything that affects them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import scalegraph
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, Fault, InputError
from scalegraph.base.events import Building, EventSink, ignore
from scalegraph.base.files import reason
from scalegraph.base.patterns import pattern
from scalegraph.control.adopt import describe, described
from scalegraph.control.plain import PLACES, Linking, PlainSource, plain_build
from scalegraph.link import Build
from scalegraph.link.static_loops import with_schedules
from scalegraph.link.targets.base import Builds
from scalegraph.runtime.cache import cache_root, get_or_make, tidy
from scalegraph.runtime.compiler import Compiler, find_compiler
from scalegraph.runtime.languages import EXPECTED, LINKED, PLAIN, Language, is_program_part, language_of
from scalegraph.runtime.library import Library, library
from scalegraph.runtime.monitor.library import Monitor, monitor
from scalegraph.runtime.native.library import schedule_library
from scalegraph.runtime.unchanged import digest_of
from scalegraph.toolchain.flags import Flags, read_flags
from scalegraph.toolchain.host_mpi import host_mpi
from scalegraph.toolchain.inlining import is_inlining
from scalegraph.toolchain.linking import driver, libraries, link, link_host
from scalegraph.toolchain.mpi import include_options
from scalegraph.toolchain.native import schedule_words
from scalegraph.toolchain.objects import Compilation, Source, compile_source
from scalegraph.toolchain.preprocessing import preprocessed

if TYPE_CHECKING:
    from scalegraph.instrument import Detail
    from scalegraph.instrument.plain import Plain

_LIMIT_BYTES = 512 * 2**20
_SOURCE_LIMIT = 32 * 2**20
_SHOWN_LINES = 40  # of the compiler's output; a missing header alone can cause thousands of lines
_OMP = pattern(r"^\s*#\s*pragma\s+omp\b", re.MULTILINE)
_SHOWN_WARNINGS = 10  # per source


@dataclass(frozen=True)
class _Request:
    sources: tuple[Source, ...]
    plain: tuple[str, ...]  # assembler, preprocessed text
    linked: tuple[str, ...]  # objects and archives
    flags: Flags
    detail: Detail | None
    cwd: Path
    runtime: Library
    cancel: CancelToken
    loops: bool
    builds: Builds = "simulated"

    def compilation(self, language: Language) -> Compilation:
        """Return how sources of *language* in this request are compiled."""
        served = self.builds == "simulated" and (language != "fortran" or self.may_use_mpi)
        ours = include_options(language, first=False) if served else ()
        options = ["-O2", "-g", *self.flags.compile, *(f"-I{item}" for item in self.flags.include), *ours]
        compiler = find_compiler(language)
        openmp = () if compiler.clang else ("-fopenmp",)
        native = self.builds != "simulated"
        if self.builds == "mpi":
            options += host_mpi().options(language)[0]
        return Compilation(
            compiler, (*options, *openmp), self.cwd, self.cancel, self.detail, loops=self.loops, native=native
        )

    @property
    def may_use_mpi(self) -> bool:
        """Whether a Fortran source mentions MPI: then its headers and modules have to be generated."""
        return any(source.language == "fortran" and "mpi" in source.text.lower() for source in self.sources)

    @property
    def languages(self) -> set[Language]:
        """The languages of the sources; C if there are none."""
        return {source.language for source in self.sources} or {"c"}


def build(
    sources: Sequence[Path | str],
    *,
    cflags: str | Sequence[str] = "",
    ldflags: str | Sequence[str] = "",
    include: Sequence[Path | str] = (),
    detail: Detail = "outer",
    instrument: bool = True,
    loops: bool = False,
    builds: Builds = "simulated",
    cwd: Path | None = None,
    emit: EventSink = ignore,
    cancel: CancelToken | None = None,
) -> Build:
    """Instrument, compile and link *sources* for a target; an earlier build is taken from the cache.

    *sources*: C, C++, Fortran, assembler, objects and archives; *cflags*, *ldflags*: the user's own, as a shell string
    or a list of words, the same for every language; *include*: directories for headers; *detail*: see
    `instrument.instrument_source`; *instrument*: without it there are only lines, no regions; *loops*: static
    worksharing loops also call the runtime, so that a run can choose any schedule; *builds*: the target, see
    `Target.builds`; *cwd*: base of relative names (by default the process's). ``__FILE__`` in sources is as named here.

    Raises `InputError` (missing source, flags that cannot work), `BuildError` (the program does not compile; the
    message names the first error's file and line, the output is the compiler's), `MissingTool`, `Cancelled`.
    """
    cancel = cancel or CancelToken()
    where = (cwd or Path.cwd()).absolute()
    names = [str(name) for name in sources]
    texts = read_sources(names, where)
    request = _Request(
        texts,
        tuple(name for name in names if Path(name).suffix in PLAIN),
        tuple(name for name in names if Path(name).suffix in LINKED),
        read_flags(cflags, ldflags, [str(directory) for directory in include]),
        detail if instrument else None,
        where,
        library(find_compiler(), emit, cancel),
        cancel,
        loops,
        builds,
    )
    cancel.check()
    program = Path(names[0]).stem
    emit(Building(program))
    digest = _digest(request)
    parent = cache_root() / "builds"
    directory = parent / digest[:32]
    fresh = not directory.is_dir()
    try:
        get_or_make(directory, lambda place: _make(request, place))
    except BuildError as error:
        raise BuildError(str(error), _beginning(error.output)) from error
    if fresh:
        tidy(parent, _LIMIT_BYTES, keep=directory)
    return _built(directory, program, digest, request)


def _built(directory: Path, program: str, digest: str, request: _Request) -> Build:
    """Return the build in *directory* of the cache."""
    manifest = described(directory)
    return Build(
        program=program,
        executable=directory / "program",
        launcher=request.runtime.launcher,
        blocks=directory / "blocks",
        regions=with_schedules(manifest.regions, manifest.built_sources()),
        sources=manifest.built_sources(),
        remarks=manifest.remarks,
        digest=digest,
        places=directory / PLACES,
        mpi=manifest.mpi,
        plain=partial(_plain, request, digest) if request.builds == "simulated" else None,
    )


def _plain(request: _Request, digest: str, cancel: CancelToken) -> Plain:
    """Return the plain build of *request*, whose build has *digest*; it is cached.

    Raises `BuildError`, `Cancelled`.
    """
    asked = replace(request, detail=None, loops=False)
    sources = [
        PlainSource(source.file, source.language, asked.compilation(source.language).options, request.cwd)
        for source in request.sources
    ]
    words = (*request.plain, *request.linked, *request.flags.link, *libraries(request.languages))
    return plain_build(digest, sources, Linking(("-fopenmp", *words), request.cwd), cancel)


def read_sources(names: Sequence[str], where: Path) -> tuple[Source, ...]:
    """Read every source with its language; raise `InputError` with all unusable names."""
    faults: list[Fault] = [] if names else [Fault("no source was named; expected one file or more")]
    found: list[Source] = []
    for name in names:
        path = where / name
        language = language_of(name)
        if path.is_dir():
            faults.append(Fault("is a directory; a source was expected", file=name))
        elif not path.exists():
            faults.append(Fault("no such file", file=name))
        elif not is_program_part(name):
            faults.append(Fault(f"ends in '{path.suffix}'; expected {EXPECTED}", file=name))
        elif path.suffix in PLAIN and b"\0" in path.read_bytes()[:4096]:
            faults.append(Fault("is not text, as it contains zero bytes; a source was expected", file=name))
        elif language is not None:
            if isinstance(read := _read(path, name, language), Fault):
                faults.append(read)
            else:
                found.append(read)
    if faults:
        raise InputError(faults)
    return tuple(found)


def _read(path: Path, name: str, language: Language) -> Source | Fault:
    if path.stat().st_size > _SOURCE_LIMIT:
        return Fault("is larger than 32 MiB; a source was expected", file=name)
    try:
        content = path.read_bytes()
    except OSError as error:
        return Fault(f"cannot be read: {reason(error)}", file=name)
    if b"\0" in content:
        return Fault("is not text, as it contains zero bytes; a source was expected", file=name)
    return Source(name, content.decode("utf-8", "surrogateescape"), language)


def _digest(request: _Request) -> str:
    """Return a digest of everything that affects this build, including headers."""
    flags = request.flags
    compilers = [find_compiler(language).identity for language in sorted(request.languages)]
    settings = [*compilers, request.runtime.digest, _own_digest(), request.detail, request.loops, request.builds]
    settings.append(is_inlining())
    if request.builds != "simulated":
        settings += [_monitor(request.builds).digest, *_schedules(request)]
    total = hashlib.sha256(json.dumps([*settings, str(request.cwd), flags.compile, flags.link, flags.include]).encode())
    for source in request.sources:
        total.update(json.dumps([source.file, source.text]).encode())
        total.update(preprocessed(request.compilation(source.language), source.file))
    for word in (*request.plain, *request.linked, *flags.link):  # including the user's own libraries, given by path
        path = request.cwd / word
        if not word.startswith("-") and path.is_file():
            total.update(json.dumps(word).encode() + path.read_bytes())
    return total.hexdigest()


def _own_digest() -> str:
    """Return a digest of our code that makes builds."""
    root = Path(scalegraph.__file__).parent
    places = [f"{root}/{package}" for package in ("instrument", "toolchain", "control")]
    own = [f"{place}/{name}" for place in places for name in os.listdir(place) if name.endswith(".py")]  # noqa: PTH208
    return digest_of([*sorted(own), f"{root}/runtime/format.py", f"{root}/runtime/accounts.py"])


def _make(request: _Request, place: Path) -> None:
    """Compile and link into ``place/program``, with its block table and manifest beside it."""
    remarks: list[str] = []
    objects: dict[Path, str] = {}
    for number, source in enumerate(request.sources):
        target = place / f"{number}.o"
        made = compile_source(request.compilation(source.language), source, target)
        remarks += [*made.remarks, *_warnings(source.file, made.messages)]
        if request.builds == "simulated" and find_compiler(source.language).clang and _OMP.search(source.text):
            remarks.append(f"{source.file}: compiled by clang, whose OpenMP is not supported: pragmas have no effect")
        objects[target] = source.file
    for number, name in enumerate(request.plain, len(objects)):
        target = place / f"{number}.o"
        result = request.compilation("c").compile(name, target)
        if result.returncode != 0:
            raise BuildError(f"{name}: does not compile", result.stderr)
        objects[target] = name
    remarks += _link(request, objects, place / "program")
    for item in objects:
        item.unlink()
    describe(place / "program", place, remarks=remarks, builds=request.builds)


def _link(request: _Request, objects: Mapping[Path, str], target: Path) -> list[str]:
    compiler: Compiler = find_compiler(driver(request.languages))
    arguments = [*map(str, objects), *request.linked, *request.flags.link, *libraries(request.languages)]
    if request.builds != "simulated":
        mpi = host_mpi().options(driver(request.languages))[1] if request.builds == "mpi" else ()
        observed = (*_monitor(request.builds).link, *_schedules(request))
        made = link_host(
            compiler,
            [*arguments, *mpi],
            target,
            names=objects,
            cwd=request.cwd,
            cancel=request.cancel,
            observed=observed,
        )
        return [line for line in made.splitlines() if ": warning: " in line]
    output = link(compiler, request.runtime, arguments, target, names=objects, cwd=request.cwd, cancel=request.cancel)
    return [line for line in output.splitlines() if ": warning: " in line]


def _monitor(builds: Builds) -> Monitor:
    """Return the monitor for programs on this computer, including MPI calls for MPI programs."""
    return monitor(find_compiler(), host_mpi().options("c")[0] if builds == "mpi" else ())


def _schedules(request: _Request) -> tuple[str, ...]:
    """Return linker options for our library of schedules, before libgomp, if the program's loops use it."""
    return schedule_words(schedule_library(find_compiler())) if request.loops else ()


def _beginning(output: str) -> str:
    """Return the first lines of *output*, and how many are omitted."""
    lines = output.splitlines(keepends=True)
    if len(lines) <= _SHOWN_LINES:
        return output
    return "".join(lines[:_SHOWN_LINES]) + f"... and {len(lines) - _SHOWN_LINES} more lines\n"


def _warnings(file: str, output: str) -> list[str]:
    """Return the first warnings of a source, and how many are omitted."""
    found = [line for line in output.splitlines() if ": warning: " in line]
    more = len(found) - _SHOWN_WARNINGS
    return found if more <= 0 else [*found[:_SHOWN_WARNINGS], f"{file}: {more} more warnings"]
