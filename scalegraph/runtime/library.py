"""The simulator core as a static library, built from the shipped C sources with the user's compiler on first use."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, MissingTool
from scalegraph.base.events import Building, EventSink, build_sink
from scalegraph.runtime.cache import cache_root, get_or_make, tidy
from scalegraph.runtime.compiler import INSTALL, Compiler, find_compiler
from scalegraph.runtime.objects import Compilation, Unit
from scalegraph.runtime.unchanged import digest_of

SOURCES = Path(__file__).parent / "csrc"
INCLUDE = Path(__file__).parent / "include"  # headers for the user's programs
ARCHIVE = "libscalegraph-sim.a"
MPI_ARCHIVE = "libscalegraph-mpi.a"
LAUNCHER = "sg-launch"
DESCRIBER = "sg-describe"
SCHEDULE_TEXTS = "schedules.json"
NAMES = "names"
OWN_DATA = ".sg_data"
"""Section of the library's own variables."""
_LAUNCHER_SOURCE = SOURCES / "launch" / "sg_launch.c"
_DESCRIBER_SOURCE = SOURCES / "launch" / "sg_describe.c"
_LAUNCHER_FLAGS = ("-std=gnu11", "-O2", "-fno-pie", "-D_GNU_SOURCE", "-Wall", "-Wextra")
_SHIPPED = (".c", ".S", ".h", ".flags")
_STANDALONE = "sg_standalone.h"
_BINDINGS = "sg_mpi_bindings.c"
_MPI = Path(__file__).parent / "mpi"  # generates them
SCHEDULES = SOURCES / "schedules" / "kinds"
"""Each file here is one loop schedule."""
_SCHEDULE_LIST = "sg_schedule_list.h"
_STANDALONE_MACHINE = "server-2x32-inorder"  # it has no table of block times
_LIMIT_BYTES = 64 * 2**20
_TITLE = "the simulator, once for this version"
_MPI_TITLE = "the simulator's MPI, once for this version"
_DIGEST = "SG_RUNTIME_DIGEST"
# Optimising takes most of the first build's time, so it is reserved for code on the path of simulated references and
# waits.
_OFTEN = {"ground", "core", "heap", "memory", "network", "pipeline", "sync"}
_OF_MPI = {"mpi", "fortran", _BINDINGS}
"""Folders that only MPI programs need: no other code calls them."""
_RARELY = {*_OF_MPI, "posix", "ranks", "schedules"}


@dataclass(frozen=True)
class Library:
    """The built runtime: *archive* to link, *launcher* to start programs with, *include* for the probes' header."""

    archive: Path
    launcher: Path
    include: Path
    link_flags: tuple[str, ...]
    digest: str
    compiler: Compiler

    def names(self) -> frozenset[str]:
        """Return the names of the runtime's functions, including static ones; those of MPI only if it is built."""
        places = (self.archive.parent / NAMES, _mpi_directory(self.archive.parent) / NAMES)
        return frozenset(name for place in places if place.exists() for name in place.read_text("utf-8").split())

    def mpi(self, cancel: CancelToken | None = None) -> Path:
        """Return the archive that MPI programs need before *archive*, building it on this user's first use.

        Progress goes to `build_sink`. Raises the same as `library`.
        """
        directory = _mpi_directory(self.archive.parent)
        tell, token = build_sink(), cancel or CancelToken()
        get_or_make(
            directory,
            lambda where: _build_mpi(self.compiler, where, tell, token),
            lambda _seconds: _wait(_MPI_TITLE, tell, token),
        )
        return directory / MPI_ARCHIVE


def _mpi_directory(directory: Path) -> Path:
    return directory.with_name(f"{directory.name}-mpi")


def _wait(title: str, tell: EventSink, token: CancelToken) -> None:
    """Say that another process is building; raise `Cancelled` when *token* requests it."""
    token.check()
    tell(Building(f"{title} (another process is at it)"))


def library(compiler: Compiler, emit: EventSink | None = None, cancel: CancelToken | None = None) -> Library:
    """Return the runtime built by *compiler*, building it on this user's first use.

    Progress goes to *emit*, otherwise to `build_sink`. Safe if several processes call it at once: one builds, the
    others wait. Raises `BuildError` if our own sources do not compile (the message blames ScaleGraph or the compiler),
    `MissingTool` if ``ar`` or the C library's headers are missing, `Cancelled` when *cancel* requests it.
    """
    digest = _digest(compiler)
    parent = cache_root() / "runtime"
    directory = parent / digest[:24]
    fresh = not directory.is_dir()
    tell, token = emit or build_sink(), cancel or CancelToken()
    get_or_make(
        directory,
        lambda where: _build(compiler, where, tell, token),
        lambda _seconds: _wait(_TITLE, tell, token),
    )
    if fresh:
        tidy(parent, _LIMIT_BYTES, keep=directory)
    flags = _flags("link.flags")
    return Library(directory / ARCHIVE, directory / LAUNCHER, SOURCES / "core", flags, digest, compiler)


def _flags(name: str) -> tuple[str, ...]:
    """Return the compiler options in the runtime's file *name*: words without quotes; comments are skipped."""
    lines = (SOURCES / name).read_text(encoding="utf-8").splitlines()
    return tuple(word for line in lines for word in line.partition("#")[0].split())


def _compile_flags(compiler: Compiler, source: Path) -> tuple[str, ...]:
    """Return the options for *source* of the runtime: general, by architecture, by compiler, by how hot the code is."""
    kinds = [compiler.architecture, "clang" if compiler.clang else "gcc"]
    folder = _folder(source)
    kinds += ["often"] if folder in _OFTEN else ["rarely"] if folder in _RARELY else []
    names = ["compile.flags", *(f"compile.{kind}.flags" for kind in kinds)]
    return tuple(flag for name in names if (SOURCES / name).exists() for flag in _flags(name))


def _files() -> list[Path]:
    found = (f"{folder}/{name}" for folder, _, names in os.walk(SOURCES) for name in names)
    shipped = (Path(name) for name in found if name.endswith(_SHIPPED))
    apart = (_LAUNCHER_SOURCE, _DESCRIBER_SOURCE)
    ours = sorted((path for path in shipped if path not in apart), key=lambda path: path.name)
    return [*ours, *sorted(INCLUDE.glob("*.h")), *apart]


def include_flags() -> list[str]:
    """Return the options with which a source of the runtime can include headers from all its folders."""
    return [f"-I{folder}" for folder in _folders()]


def _folders() -> tuple[Path, ...]:
    """Return the folders that contain headers."""
    return (*sorted({path.parent for path in SOURCES.rglob("*.h")}), INCLUDE)


@cache
def sources_digest() -> str:
    """Return the digest of this version of the simulator; programs linked with it carry it."""
    found = (f"{folder}/{name}" for folder, _, names in os.walk(SOURCES) for name in names)
    own = [name for name in found if name.endswith(_SHIPPED)]
    own += [
        f"{folder}/{name}"
        for folder, ending in ((INCLUDE, ".h"), (_MPI, ".py"))
        for name in os.listdir(folder)  # noqa: PTH208
        if name.endswith(ending)
    ]
    files = digest_of(sorted(own))
    return hashlib.sha256("\0".join((*_LAUNCHER_FLAGS, files)).encode()).hexdigest()


def _digest(compiler: Compiler) -> str:
    archives = f"{ARCHIVE} {MPI_ARCHIVE} {sorted(_OF_MPI)}"
    return hashlib.sha256(f"{compiler.identity}\0{sources_digest()}\0{archives}".encode()).hexdigest()


def write_objects(directory: Path) -> None:
    """Write what a wheel has for whoever has the same compiler, in the folder `runtime.objects.SHIPPED`.

    Raises the same as `library`.
    """
    compiler = find_compiler()
    for made in (_own_sources, _mpi_sources):
        with tempfile.TemporaryDirectory() as place:
            where = Path(place)
            shared, units = _compilation(compiler, where, made(where), CancelToken())
            shared.objects(units, lambda _done, _of, _left: None)
            shared.ship(units, directory)


def _build(compiler: Compiler, where: Path, emit: EventSink, cancel: CancelToken) -> None:
    sources = _own_sources(where)
    objects = _objects(compiler, where, sources, _TITLE, emit, cancel)
    launcher = objects.pop(sources.index(_LAUNCHER_SOURCE))
    linked = compiler.run(["-no-pie", str(launcher), "-o", str(where / LAUNCHER)])
    if linked.returncode != 0:
        raise BuildError(
            "the simulator's own launcher does not link; is the C library complete? " + INSTALL, linked.stderr
        )
    _put_together(compiler, where / ARCHIVE, objects)
    kinds = [str(item) for item, source in zip(objects, _remaining(sources), strict=True) if source.parent == SCHEDULES]
    _describe(compiler, where, ["-include", str(where / _SCHEDULE_LIST), *kinds])
    for item in (*objects, launcher):
        item.unlink()


def _build_mpi(compiler: Compiler, where: Path, emit: EventSink, cancel: CancelToken) -> None:
    objects = _objects(compiler, where, _mpi_sources(where), _MPI_TITLE, emit, cancel)
    _put_together(compiler, where / MPI_ARCHIVE, objects)
    for item in objects:
        item.unlink()


def _own_sources(where: Path) -> list[Path]:
    """Return the sources of everything but MPI, after writing the headers that they need into *where*."""
    (where / _STANDALONE).write_text(_standalone(), encoding="utf-8")
    (where / _SCHEDULE_LIST).write_text(schedule_list(), encoding="utf-8")
    sources = [path for path in _files() if path.suffix in (".c", ".S") and path != _DESCRIBER_SOURCE]
    return [path for path in sources if not _is_of_mpi(path)]


def _mpi_sources(where: Path) -> list[Path]:
    """Return the sources of MPI; one of them is written into *where*."""
    bindings = where / _BINDINGS
    bindings.write_text(_fortran_bindings(), encoding="utf-8")
    return [bindings, *(path for path in _files() if path.suffix == ".c" and _is_of_mpi(path))]


def _folder(source: Path) -> str:
    """Return the folder of our source *source*; for a generated one, its name."""
    return source.relative_to(SOURCES).parts[0] if source.is_relative_to(SOURCES) else source.name


def _is_of_mpi(source: Path) -> bool:
    return _folder(source) in _OF_MPI


def _objects(
    compiler: Compiler, where: Path, sources: list[Path], title: str, emit: EventSink, cancel: CancelToken
) -> list[Path]:
    """Return the objects of *sources*, compiled into *where*."""

    def progress(done: int, of: int, left_s: float | None) -> None:
        emit(Building(title, done, of, left_s))

    shared, units = _compilation(compiler, where, sources, cancel)
    return shared.objects(units, progress)


def _compilation(
    compiler: Compiler, where: Path, sources: list[Path], cancel: CancelToken
) -> tuple[Compilation, list[Unit]]:
    objcopy = _binutil(compiler, "objcopy")
    units = [_unit(compiler, source, objcopy) for source in sources]
    return Compilation(compiler, _folders(), where, cancel), units


def _put_together(compiler: Compiler, archive: Path, objects: list[Path]) -> None:
    """Write *archive* from *objects*, with the names of its functions next to it."""
    command = [_binutil(compiler, "ar"), "rcsD", str(archive), *map(str, objects)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise BuildError("the simulator's own library could not be put together by 'ar'", result.stderr)
    archive.with_name(NAMES).write_text(_functions(archive, _binutil(compiler, "nm")), encoding="utf-8")


def _functions(archive: Path, nm: str) -> str:
    """Return the names of the functions in *archive*, one a line."""
    result = subprocess.run([nm, "-P", "--defined-only", str(archive)], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise BuildError("the simulator's own library could not be read by 'nm'", result.stderr)
    symbols = (line.split() for line in result.stdout.splitlines())
    return "\n".join(sorted({words[0] for words in symbols if len(words) > 1 and words[1] in "tTwWi"}))


def _remaining(sources: list[Path]) -> list[Path]:
    return [source for source in sources if source != _LAUNCHER_SOURCE]


def _describe(compiler: Compiler, where: Path, arguments: list[str]) -> None:
    """Write the schedules' own descriptions; skipped for cross compilers."""
    describer = where / DESCRIBER
    command = ["-std=gnu11", f"-I{INCLUDE}", str(_DESCRIBER_SOURCE), *arguments, "-no-pie", "-o", str(describer)]
    linked = compiler.run([*command, "-lm", "-ldl"])
    if linked.returncode != 0:
        raise BuildError("the list of schedules does not link; this is a fault of ScaleGraph", linked.stderr)
    with suppress(OSError):
        result = subprocess.run([describer], capture_output=True, text=True, check=False)
        if result.returncode == 0:
            (where / SCHEDULE_TEXTS).write_text(result.stdout, encoding="utf-8")


def _standalone() -> str:
    """Return the header with the configuration of programs that run without the simulator."""
    from scalegraph import machine

    values = {
        **machine.load(_STANDALONE_MACHINE).runtime_config(),
        "run.processors": "1",
        "run.arena_bytes": str(2**40),
        "run.stack_bytes": str(2**26),
        "run.quantum_cycles": "1000",
        "run.result_path": "-",
        "run.blocks_path": "-",
    }
    lines = "\n".join(f'    "{key} {value}\\n"' for key, value in values.items())
    return f"static const char standalone_config[] =\n{lines};\n"


def _fortran_bindings() -> str:
    """Return the C source of Fortran's MPI calls."""
    from scalegraph.runtime.mpi import bindings, header  # needed only to build the runtime

    return bindings.bindings(header.functions(header.text_of(INCLUDE)))


def schedule_list() -> str:
    """Return the header that names the schedules: one for each file."""
    names = " ".join(f"KIND({path.stem})" for path in sorted(SCHEDULES.glob("*.c")))
    return f"#define SG_SCHEDULE_KINDS(KIND) {names}\n"


def schedule_names(source: Path) -> list[str]:
    """Return the options that rename the definitions of the schedule in *source* to unique names."""
    if source.parent != SCHEDULES:
        return []
    return [
        f"-Dscalegraph_schedule=sg_schedule_{source.stem}",
        f"-Dscalegraph_schedule_abi=sg_schedule_abi_{source.stem}",
    ]


def _unit(compiler: Compiler, source: Path, objcopy: str) -> Unit:
    """Return how to compile *source*."""
    alone = source == _LAUNCHER_SOURCE
    flags = _LAUNCHER_FLAGS if alone else _compile_flags(compiler, source)
    # Warnings are errors only in development, so that a newer compiler's warnings do not stop a user. Debug information
    # of ours would only slow down the search for the user's lines.
    ours = ["-Wno-error", "-g0", f"-ffile-prefix-map={SOURCES}=scalegraph", *schedule_names(source)]
    if _DIGEST in source.read_text(encoding="utf-8"):  # other objects stay valid for another version
        ours.append(f'-D{_DIGEST}="{sources_digest()}"')
    return Unit(source, (*flags, *ours), None if alone else lambda target: _apart(target, objcopy))


def _apart(target: Path, objcopy: str) -> None:
    """Move our own variables in the object *target* to a separate section, which the ranks of a program share."""
    command = [objcopy, f"--rename-section=.data={OWN_DATA},alloc,load,data,contents", str(target)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise BuildError("the simulator's own objects could not be changed by 'objcopy'", result.stderr)


def _binutil(compiler: Compiler, name: str) -> str:
    path = shutil.which(compiler.tool(name))
    if path is None:
        raise MissingTool(f"'{name}' was not found; install it with: apt-get install binutils")
    return path
