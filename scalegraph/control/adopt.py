"""From a linked executable to a `Build`: what its objects record about their sources, and the cost of its blocks."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, Fault, InputError
from scalegraph.base.events import Building, EventSink, ignore
from scalegraph.base.files import reason
from scalegraph.base.run import PROGRAM, Region
from scalegraph.control.apart import places_beside
from scalegraph.control.plain import PLACES, of_units
from scalegraph.instrument.places import shown_name
from scalegraph.instrument.units import MONITOR, RUNTIME, LinkedUnit, read_link, read_units, section
from scalegraph.link import Build, BuiltSource
from scalegraph.link.static_loops import with_schedules
from scalegraph.link.targets.base import Builds
from scalegraph.runtime.cache import cache_root, get_or_make, tidy
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.library import library, sources_digest
from scalegraph.runtime.tools import call
from scalegraph.toolchain.complaints import with_mpi
from scalegraph.toolchain.mpi import is_mpi

if TYPE_CHECKING:
    from scalegraph.instrument.plain import Plain

_LIMIT_BYTES = 256 * 2**20
_SHOWN_LINES = 60  # of a build command's output before it fails
_MANIFEST = "build.json"
_FORM = "6"  # of the output of `describe`
FOR = "SCALEGRAPH_FOR"  # targets of our compilers: simulated, host
_NAMED = 3  # functions without hooks
# Functions of the C library that is linked into the program itself.
_LINKED = frozenset(
    ("atexit", "at_quick_exit", "pthread_atfork", "stat", "fstat", "lstat", "fstatat", "mknod", "mknodat")
)
HOW = (
    "build it with scalegraph-gcc, scalegraph-g++ or scalegraph-gfortran in place of your compilers (make "
    "CC=scalegraph-cc CXX=scalegraph-c++ FC=scalegraph-fc, see docs/BUILD.md), or name its sources"
)
HOW_MPI = (
    "build it with scalegraph-mpicc, scalegraph-mpicxx or scalegraph-mpifort in place of mpicc and its kin (as make "
    "CC=scalegraph-mpicc CXX=scalegraph-mpicxx FC=scalegraph-mpifort, see docs/MPI.md), or name its sources"
)
_OTHER_MPI = re.compile(rb"\0(P?MPI_Init(_thread)?|p?mpi_init_(thread_)?|libmpi[a-z_]*\.so[0-9.]*)\0")


class Manifest(BaseModel):
    """Stored beside an executable's block table. *root*, *mpi*: as in `link.Build`; *content*: `content_digest`."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    regions: tuple[Region, ...]
    sources: tuple[tuple[str, str, str], ...]  # file, text, instrumented
    remarks: tuple[str, ...]
    root: str = ""
    content: str = ""
    mpi: bool = False

    def built_sources(self) -> tuple[BuiltSource, ...]:
        """Return the sources as stored in a build."""
        return tuple(BuiltSource(*source) for source in self.sources)


def describe(
    executable: Path, place: Path, root: str = "", remarks: Sequence[str] = (), *, builds: Builds = "simulated"
) -> None:
    """Write the block table, the places and the manifest of *executable* into the directory *place*.

    *builds*: the target (`Target.builds`); only a simulated program has a block table.
    """
    from scalegraph.instrument.blocks import block_table  # imported only for builds that are not in the cache
    from scalegraph.instrument.content import content_digest

    remarks = list(remarks)
    with places_beside(executable, root, place / PLACES):
        if builds == "simulated":
            table = block_table(executable)
            (place / "blocks").write_bytes(table.content)
            remarks += _without_hooks(table.called)
    units = read_units(executable)
    found = {"content": content_digest(executable, units), "mpi": builds == "mpi" or is_mpi(executable)}
    manifest = _manifest(units, root, remarks).model_copy(update=found)
    (place / _MANIFEST).write_text(manifest.model_dump_json(), encoding="utf-8")


def _without_hooks(called: Sequence[str]) -> list[str]:
    """Return a remark naming the functions *called* that come neither from the program's compiler nor from us."""
    ours = library(find_compiler()).names() | _LINKED
    found = [name for name in called if name not in ours and not name.startswith("_")]  # of the compiler's library
    if not found:
        return []
    shown = ", ".join(found[:_NAMED]) + (f" and {len(found) - _NAMED} more" if len(found) > _NAMED else "")
    remark = (
        f"the program calls functions that were not compiled with hooks: {shown}; what they compute takes no "
        "simulated time (compile their sources with ScaleGraph's compilers, see docs/BUILD.md)"
    )
    return [remark]


def described(place: Path) -> Manifest:
    """Return the manifest written by `describe`."""
    return Manifest.model_validate_json((place / _MANIFEST).read_text(encoding="utf-8"))


def run_build(
    command: str,
    cwd: Path,
    *,
    emit: EventSink = ignore,
    cancel: CancelToken | None = None,
    builds: Builds = "simulated",
) -> None:
    """Run the user's build *command* in a shell in *cwd*, with our compilers found even if not in its PATH.

    They build for the target *builds*. Raises `BuildError` with the end of the command's output if it fails,
    `Cancelled`.
    """
    from scalegraph.toolchain.scripts import wrapper_directory  # including the wrappers' own modules

    emit(Building(command))
    path = {"PATH": os.pathsep.join([str(wrapper_directory()), os.environ.get("PATH", os.defpath)])}
    if builds != "simulated":
        path[FOR] = "host"
    result = call(["/bin/sh", "-c", command], cwd=cwd, cancel=cancel, env=path, merge=True)
    if result.returncode != 0:
        lines = result.stdout.splitlines(keepends=True)
        left_out = f"({len(lines) - _SHOWN_LINES} lines before)\n" if len(lines) > _SHOWN_LINES else ""
        raise BuildError(
            with_mpi(f"the build command ended with exit code {result.returncode}: {command}", result.stdout),
            left_out + "".join(lines[-_SHOWN_LINES:]),
        )


def adopt(
    executable: Path | str, *, cwd: Path | None = None, emit: EventSink = ignore, builds: Builds = "simulated"
) -> Build:
    """Return the `Build` of an executable linked by one of our wrappers; costs are cached by its digest.

    *builds*: the target that it must have been built for, see `Target.builds`.

    Raises `InputError` for any other file, saying how to make one.
    """
    name = str(executable)
    path = (cwd or Path.cwd()).absolute() / name
    try:
        if path.is_dir():
            raise InputError(Fault("is a directory; an executable was expected", file=name))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError as error:
        raise InputError(Fault("no such file", file=name)) from error
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {reason(error)}", file=name)) from error
    parent = cache_root() / "executables"
    whole = hashlib.sha256(f"{digest}\0{path}\0{sources_digest()}\0{_FORM}\0{builds}".encode()).hexdigest()
    place = parent / whole[:32]
    fresh = not place.is_dir()
    if fresh:  # safe to skip the checks: the key covers all bytes of the executable and of the simulator
        (_ours if builds == "simulated" else _monitored)(path, name)
    if not os.access(path, os.X_OK):
        raise InputError(Fault("is not executable (chmod +x)", file=name))
    emit(Building(path.name))
    get_or_make(place, lambda where: describe(path, where, _root(read_units(path)), builds=builds))
    if fresh:
        tidy(parent, _LIMIT_BYTES, keep=place)
    manifest = described(place)
    return Build(
        program=path.stem,
        executable=path,
        launcher=library(find_compiler(), emit).launcher,
        blocks=place / "blocks",
        regions=with_schedules(manifest.regions, manifest.built_sources()),
        sources=manifest.built_sources(),
        remarks=manifest.remarks,
        digest=manifest.content,
        file_digest=digest,
        root=manifest.root,
        places=place / PLACES,
        mpi=manifest.mpi,
        plain=partial(_plain, path, whole) if builds == "simulated" else None,
    )


def _plain(path: Path, key: str, cancel: CancelToken) -> Plain:
    """Return the plain build of the executable at *path*, cached under *key*.

    Raises `BuildError`, `Cancelled`.
    """
    command, units = read_link(path), read_units(path)
    if command is None or not units or not all(linked.unit.options for linked in units):
        raise BuildError("there is no record of how its sources were compiled")
    return of_units(key, units, command, cancel, _root(units))


def _ours(path: Path, name: str) -> None:
    """Raise `InputError` unless the executable was linked by this version of ScaleGraph."""
    try:
        runtime = section(path, RUNTIME)
    except InputError as error:
        raise InputError([replace(fault, file=name) for fault in error.faults]) from error
    if runtime is None:
        how = HOW_MPI if _OTHER_MPI.search(path.read_bytes()) else HOW
        raise InputError(Fault(f"was not built for the simulator; {how}", file=name))
    if runtime.decode("ascii", "replace") != sources_digest():
        raise InputError(
            Fault("was built by another version of ScaleGraph; build it again (make clean first)", file=name)
        )
    if section(path, ".symtab") is None:
        raise InputError(Fault("was stripped; link it without -s and do not run strip on it", file=name))


def _monitored(path: Path, name: str) -> None:
    """Raise `InputError` unless the executable was linked for this computer, with the monitor."""
    try:
        found = section(path, MONITOR)
    except InputError as error:
        raise InputError([replace(fault, file=name) for fault in error.faults]) from error
    if found is None:
        said = (
            f"was not built for this computer; build it with ScaleGraph's compilers and {FOR}=host, or name its sources"
        )
        raise InputError(Fault(f"{said}, or name its sources", file=name))


def _root(units: Sequence[LinkedUnit]) -> str:
    """Return the deepest directory that contains all sources; "/" if there is no other."""
    places = {os.path.dirname(os.path.normpath(os.path.join(u.unit.directory, u.unit.file))) for u in units}  # noqa: PTH118, PTH120
    return os.path.commonpath(places) if places else "/"


def _manifest(units: Sequence[LinkedUnit], root: str, remarks: Sequence[str]) -> Manifest:
    regions = [PROGRAM]
    sources: dict[str, tuple[str, str, str]] = {}
    said = list(remarks)
    for linked in units:
        unit = linked.unit
        name = shown_name(unit.directory, unit.file, root)
        sources.setdefault(name, (name, printable(unit.text), printable(unit.instrumented)))
        said += [
            remark.replace(unit.file, name, 1) if remark.startswith(unit.file) else remark for remark in unit.remarks
        ]
        regions += [
            Region(
                **region._replace(
                    id=region.id + linked.first,
                    parent=region.parent + linked.first if region.parent else region.parent,
                    file=name,
                )._asdict()
            )
            for region in unit.regions
        ]
    return Manifest(
        regions=tuple(regions), sources=tuple(sources.values()), remarks=tuple(dict.fromkeys(said)), root=root
    )


def printable(text: str) -> str:
    """Return *text* with bytes that are not UTF-8 replaced, for display and databases."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
