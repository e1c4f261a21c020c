"""From the user's sources to a program that the simulated target can run, kept in the cache by what went into it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

import scalegraph
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.events import Building, EventSink, ignore
from scalegraph.base.files import reason
from scalegraph.base.run import Region
from scalegraph.control.compile import Compilation, Source, compile_program, printable
from scalegraph.control.flags import Flags, read_flags
from scalegraph.instrument import Detail
from scalegraph.link import Build, BuiltSource
from scalegraph.runtime.cache import cache_root, get_or_make, trim
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.library import library

_LIMIT_BYTES = 512 * 2**20
_SOURCE_LIMIT = 32 * 2**20
_MANIFEST = "build.json"


class _Manifest(BaseModel):
    """What the cache keeps beside the executable and its block table."""

    model_config = ConfigDict(frozen=True)

    regions: tuple[Region, ...]
    instrumented: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class _Request:
    sources: tuple[Source, ...]
    flags: Flags
    detail: Detail
    instrument: bool
    cwd: Path


def build(
    sources: Sequence[Path | str],
    *,
    cflags: str | Sequence[str] = "",
    ldflags: str | Sequence[str] = "",
    include: Sequence[Path | str] = (),
    detail: Detail = "outer",
    instrument: bool = True,
    cwd: Path | None = None,
    emit: EventSink = ignore,
    cancel: CancelToken | None = None,
) -> Build:
    """Instrument, compile and link C *sources* for the simulated target; a build made before is taken from the cache.

    *cflags*, *ldflags*: the user's own, as one string of a shell or as words; *include*: directories for headers;
    *detail*: see `instrument.instrument_source`; *instrument*: without it there are no regions, only lines; *cwd*: what
    relative names are relative to (the process's if ``None``). Sources keep ``__FILE__`` as named here.

    Raises `InputError` (missing source, flags that cannot work), `BuildError` (the program does not compile; the
    message names the first error's file and line, the output is the compiler's), `MissingTool`, `Cancelled`.
    """
    cancel = cancel or CancelToken()
    where = (cwd or Path.cwd()).absolute()
    request = _Request(
        _read_sources(sources, where),
        read_flags(cflags, ldflags, [str(directory) for directory in include]),
        detail,
        instrument,
        where,
    )
    compiler = find_compiler()
    runtime = library(compiler)
    cancel.check()
    program = Path(request.sources[0].file).stem
    emit(Building(program))
    compilation = Compilation(compiler, runtime, request.flags, where, cancel)
    digest = _digest(request, compilation)
    parent = cache_root() / "builds"
    directory = parent / digest[:32]
    fresh = not directory.is_dir()
    get_or_make(directory, lambda place: _make(request, compilation, place))
    if fresh:
        trim(parent, _LIMIT_BYTES, keep=directory)
    manifest = _Manifest.model_validate_json((directory / _MANIFEST).read_text(encoding="utf-8"))
    return Build(
        program=program,
        executable=directory / "program",
        launcher=runtime.launcher,
        blocks=directory / "blocks",
        regions=manifest.regions,
        sources=tuple(
            BuiltSource(source.file, printable(source.text), instrumented)
            for source, instrumented in zip(request.sources, manifest.instrumented, strict=True)
        ),
        remarks=manifest.remarks,
        digest=digest,
    )


def _read_sources(sources: Sequence[Path | str], where: Path) -> tuple[Source, ...]:
    """Read every source; raise `InputError` with all that cannot be used."""
    faults: list[Fault] = [] if sources else [Fault("no source was named; expected one C file or more")]
    found: list[Source] = []
    for name in map(str, sources):
        path = where / name
        if path.is_dir():
            faults.append(Fault("is a directory; a C source (.c) was expected", file=name))
        elif not path.exists():
            faults.append(Fault("no such file", file=name))
        elif path.suffix != ".c":
            faults.append(Fault(f"ends in '{path.suffix}'; a C source (.c) was expected", file=name))
        elif path.stat().st_size > _SOURCE_LIMIT:
            faults.append(Fault("is larger than 32 MiB; a C source was expected", file=name))
        else:
            try:
                content = path.read_bytes()
            except OSError as error:
                faults.append(Fault(f"cannot be read: {reason(error)}", file=name))
                continue
            if b"\0" in content:
                faults.append(Fault("is no text, it has zero bytes; a C source (.c) was expected", file=name))
            else:
                found.append(Source(name, content.decode("utf-8", "surrogateescape")))
    if faults:
        raise InputError(faults)
    return tuple(found)


def _digest(request: _Request, compilation: Compilation) -> str:
    """Return what tells this build from every other: all that goes into it, headers included."""
    flags = request.flags
    settings = [compilation.compiler.identity, compilation.runtime.digest, _own_digest(), request.detail]
    total = hashlib.sha256(
        json.dumps([*settings, request.instrument, str(request.cwd), flags.compile, flags.link, flags.include]).encode()
    )
    for source in request.sources:
        total.update(json.dumps([source.file, source.text]).encode())
        total.update(compilation.preprocessed(source))
    for word in flags.link:  # libraries of the user's own, named by path
        path = request.cwd / word
        if not word.startswith("-") and path.is_file():
            total.update(path.read_bytes())
    return total.hexdigest()


def _own_digest() -> str:
    """Return a digest of the code of ours that makes a build."""
    root = Path(scalegraph.__file__).parent
    total = hashlib.sha256()
    for package in ("instrument", "control"):
        for path in sorted((root / package).glob("*.py")):
            total.update(path.read_bytes())
    total.update((root / "runtime" / "format.py").read_bytes())
    return total.hexdigest()


def _make(request: _Request, compilation: Compilation, place: Path) -> None:
    result = compile_program(compilation, request.sources, place, request.detail if request.instrument else None)
    manifest = _Manifest(regions=result.regions, instrumented=result.instrumented, remarks=result.remarks)
    (place / _MANIFEST).write_text(manifest.model_dump_json(), encoding="utf-8")
