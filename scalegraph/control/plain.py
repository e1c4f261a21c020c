"""Plain builds: a program compiled as its user does, without hooks. They are disassembled, never run."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, InputError
from scalegraph.runtime.cache import cache_root, get_or_make, tidy
from scalegraph.runtime.compiler import Compiler, find_compiler
from scalegraph.runtime.languages import Language
from scalegraph.runtime.unchanged import digest_of
from scalegraph.toolchain.command import with_arguments
from scalegraph.toolchain.linking import driver
from scalegraph.toolchain.objects import Compilation
from scalegraph.toolchain.preprocessing import about

if TYPE_CHECKING:
    from scalegraph.instrument.plain import Plain
    from scalegraph.instrument.units import LinkCommand, LinkedUnit

PLACES: Final = "places.json"
_PROGRAM: Final = "program"
_LIMIT_BYTES: Final = 512 * 2**20
_OBJECT: Final = "object.o"
_MOST_BYTES: Final = 64 << 20  # of a file that may be one of our objects
# Where optimised code has its local variables is not read, and takes gcc a sixth of its time to find. Without
# assignments its line table would have other rows.
_LINES_ONLY: Final = ("-fno-var-tracking", "-fvar-tracking-assignments")
# Options and statements with which a compiler reads more than a source and its headers, or writes more than an object.
_MORE: Final = re.compile(r"-fprofile|-fauto-profile|-fbranch-prob|-gsplit-dwarf|-m(arch|tune|cpu)=native")
_READS: Final = b".incbin"
_FILES: Final = re.compile(rb'^# \d+ "((?:[^"\\]|\\.)+)"', re.MULTILINE)
# Options for a program that is disassembled but never run: without libraries.
_UNDEFINED: Final = (
    "-nostdlib",
    "-Wl,--unresolved-symbols=ignore-all,--entry=0,--defsym=__dso_handle=0",
)


@dataclass(frozen=True)
class PlainSource:
    """A source of a plain build. *options*: without hooks; *cwd*: base of relative names."""

    file: str
    language: Language
    options: tuple[str, ...]
    cwd: Path


@dataclass(frozen=True)
class Linking:
    """How a plain build is linked: *words* follow its objects, in *cwd*."""

    words: tuple[str, ...]
    cwd: Path


def plain_build(
    key: str, sources: Sequence[PlainSource], linking: Linking, cancel: CancelToken, root: str = ""
) -> Plain:
    """Return the plain build of *sources*, cached under *key*.

    Each instruction has the same address as in the user's own program if *linking* is how that is linked. If libraries
    are missing on this computer, as for MPI, their symbols stay undefined. *root*: as of the user's own program, so
    that both name their files alike, see `shown_name`.

    Raises `BuildError`, `Cancelled`.
    """
    from scalegraph.instrument.plain import Plain  # needed only for machines with a pipeline

    parent = cache_root() / "plain"
    directory = parent / key[:32]
    fresh = not directory.is_dir()
    get_or_make(directory, lambda place: _make(sources, linking, place, cancel, root))
    if fresh:
        tidy(parent, _LIMIT_BYTES, keep=directory)
    return Plain(directory / _PROGRAM, directory / PLACES)


def of_units(key: str, units: Sequence[LinkedUnit], command: LinkCommand, cancel: CancelToken, root: str) -> Plain:
    """Return the plain build of a program from the user's own build, as described by *units* and *command*.

    They are compiled again in place; *root*: see `plain_build`.

    Raises `BuildError` if the result differs from the program's objects, `Cancelled`.
    """
    sources = []
    for linked in units:
        unit = linked.unit
        path = Path(unit.directory) / unit.file
        try:
            text = path.read_bytes().decode("utf-8", "surrogateescape")
        except OSError as error:
            raise BuildError(f"{unit.file}: no longer exists") from error
        if text != unit.text:
            raise BuildError(f"{unit.file}: has changed since the program was built")
        sources.append(PlainSource(unit.file, unit.language, unit.options, Path(unit.directory)))
    cwd = Path(command.directory)
    words = tuple(
        word
        for option in with_arguments(command.words)
        if option[0].startswith("-") or not _is_ours(cwd / option[0])
        for word in option
    )
    return plain_build(key, sources, Linking(words, cwd), cancel, root)


def _is_ours(path: Path) -> bool:
    """Return whether the object or archive at *path* has units, or no longer exists."""
    from scalegraph.instrument.units import UNITS

    try:
        return path.stat().st_size <= _MOST_BYTES and UNITS.encode() in path.read_bytes()
    except OSError:
        return True


def _make(sources: Sequence[PlainSource], linking: Linking, place: Path, cancel: CancelToken, root: str) -> None:
    """Compile *sources* and link them into the program in *place*, with its line table beside it."""
    from scalegraph.instrument.debuginfo import lines
    from scalegraph.instrument.places import Places, save

    objects = _compile(sources, place, cancel)
    compiler: Compiler = find_compiler(driver({source.language for source in sources}))
    for words in ([*objects, *linking.words], [*_UNDEFINED, *objects]):
        command = [*compiler.linking, *words, "-o", str(place / _PROGRAM)]
        result = compiler.run(command, cwd=linking.cwd, cancel=cancel)
        if result.returncode == 0:
            break
    else:
        raise BuildError("it does not link", result.stderr)
    for item in place.glob("*.o"):
        item.unlink()
    try:
        save(Places(lines(place / _PROGRAM, root, moves=True), ()), place / PLACES)
    except InputError as error:
        raise BuildError(str(error)) from error


def _compile(sources: Sequence[PlainSource], place: Path, cancel: CancelToken) -> list[str]:
    """Return the objects of *sources*, made as many at a time as there are processors.

    Fortran sources are compiled one after the other, because they may use modules of those before them.
    """
    from concurrent.futures import ThreadPoolExecutor  # imported late: most commands find the result in the cache

    objects = [place / f"{number}.o" for number in range(len(sources))]

    def compile_all(numbers: Sequence[int]) -> None:
        for number in numbers:
            objects[number] = _object(sources[number], objects[number], cancel)

    fortran = [number for number, source in enumerate(sources) if source.language == "fortran"]
    parts = [fortran, *([number] for number in range(len(sources)) if number not in fortran)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        try:
            list(pool.map(compile_all, parts))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    tidy(_kept(), _LIMIT_BYTES)
    return list(map(str, objects))


def _kept() -> Path:
    return cache_root() / "plain-objects"


def _object(source: PlainSource, target: Path, cancel: CancelToken) -> Path:
    """Return the object of *source*, from the cache if the same was compiled before; *target*: its place if not kept.

    Raises `BuildError`, `Cancelled`.
    """
    compiler = find_compiler(source.language)
    compilation = Compilation(compiler, tuple(_options(source, target.parent)), source.cwd, cancel, native=True)

    def make(to: Path) -> None:
        words = [*compilation.options, "-c", source.file, "-o", str(to)]
        result = compiler.run(words, cwd=source.cwd, cancel=cancel)
        if result.returncode != 0:
            raise BuildError(f"{source.file}: does not compile", result.stderr)

    key = _key(compilation, source)
    if key is None:
        make(target)
        return target
    return get_or_make(_kept() / key, lambda directory: make(directory / _OBJECT)) / _OBJECT


def _key(compilation: Compilation, source: PlainSource) -> str | None:
    """Return what determines an object: how it is compiled, the expanded text, and the files that this comes from.

    Columns of the line table are those of the files. None if more could.
    """
    name = None if any(map(_MORE.match, compilation.options)) else about(compilation, source.file)
    text = compilation.preprocessed(source.file)[0] if name is not None else b""
    if name is None or not text or _READS in text:
        return None
    named = (re.sub(rb"\\(.)", rb"\1", file) for file in _FILES.findall(text))
    paths = (os.path.join(source.cwd, os.fsdecode(file)) for file in dict.fromkeys(named))  # noqa: PTH118
    files = digest_of([path for path in paths if os.path.isfile(path)])  # noqa: PTH113
    total = hashlib.sha256(f"{name}\0{files}".encode("utf-8", "surrogateescape"))
    total.update(text)
    return total.hexdigest()[:32]


def _options(source: PlainSource, place: Path) -> list[str]:
    """Return the options of *source*; Fortran modules are read where they are, and written to *place*."""
    options = [*(() if find_compiler(source.language).clang else _LINES_ONLY), *source.options]
    if source.language != "fortran":
        return options
    return [*("-I" + word[2:] if word.startswith("-J") else word for word in options), f"-J{place}"]
