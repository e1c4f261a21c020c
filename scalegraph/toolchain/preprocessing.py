"""A digest of a preprocessed source, computed without running the preprocessor while its inputs are unchanged.

A note records the last run: the files that were read, and the directories searched for them, with the relevant names
that they contained. A new header that the search would find earlier changes such a directory, so it is noticed like a
changed header.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph.runtime.cache import cache_root, tidy
from scalegraph.runtime.unchanged import Stamp, is_settled, keep, kept, stamp

if TYPE_CHECKING:
    from scalegraph.toolchain.objects import Compilation

_KIND = "preprocessed"
_LIMIT_BYTES = 16 * 2**20
_TICK_NS = 100_000_000  # the kernel's clock for files may lag by this much
# Variables by which gcc and clang find headers, or which change how they preprocess a source.
_VARIABLES = (
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "OBJC_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "SOURCE_DATE_EPOCH",
    "DEPENDENCIES_OUTPUT",
    "SUNPRO_DEPENDENCIES",
)
# Options that make the compiler read files that it does not list, or list them elsewhere.
_UNLISTED = ("@", "-M", "-Wp,", "-X", "-specs", "--specs", "-fplugin", "-wrapper", "-fmodule", "-fdeps")
# What a source may query besides the content of headers: the time, and whether other files exist.
_ASKS = re.compile(rb"__has_include|__has_embed|__DATE__|__TIME__|__TIMESTAMP__")


def preprocessed(compilation: Compilation, file: str) -> bytes:
    """Return the digest of *file* with headers and macros expanded, as `compilation` compiles it.

    Raises `Cancelled`, `WorkError`.
    """
    name = about(compilation, file)
    if name is None:
        return _digest(compilation.preprocessed(file)[0])
    note = kept(_KIND, name)
    if note is not None and _holds(note):
        return str(note["digest"]).encode()
    began = time.time_ns()
    place = cache_root() / _KIND  # not among temporary files: directories of sources must not change meanwhile
    try:
        place.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(dir=place, prefix=".rule-", ignore_cleanup_errors=True)
    except OSError:  # a read-only cache
        return _digest(compilation.preprocessed(file)[0])
    with scratch as directory:
        rule = Path(directory) / "rule"
        # with -v the compiler prints where it searches
        text, said = compilation.preprocessed(file, "-v", "-MD", "-MF", str(rule))
        read = _listed(rule)
    digest = _digest(text)
    note = _note(compilation.cwd, file, text, read, said, began) if text and read else None
    if note is not None:
        keep(_KIND, name, {**note, "digest": digest.decode()})
        tidy(place, _LIMIT_BYTES)
    return digest


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()


def about(compilation: Compilation, file: str) -> str | None:
    """Return what decides about a compilation of *file* beside the text of files, None if that cannot be known.

    That is the compiler, its options and its environment: the name under which a note is filed.
    """
    compiler = compilation.compiler
    path = shutil.which(compiler.command[0])
    words = (*compiler.command[1:], *compilation.options)
    if compiler.language == "fortran" or path is None or any(word.startswith(_UNLISTED) for word in words):
        return None
    path = os.path.realpath(path)
    if not _is_binary(path):  # a script may do anything with its environment
        return None
    variables = [os.environ.get(name) for name in _VARIABLES]
    about = [compiler.identity, path, stamp(path), words, str(compilation.cwd), file, variables]
    return json.dumps(about)


def _is_binary(path: str) -> bool:
    try:
        with open(path, "rb") as program:  # noqa: PTH123
            return program.read(4) == b"\x7fELF"
    except OSError:
        return False


def _holds(note: dict[str, object]) -> bool:
    """Return whether everything that the preprocessor would read is as recorded in *note*."""
    try:
        names = frozenset(note["names"])  # type: ignore[call-overload]
        return all(stamp(path) == was for path, was in note["files"]) and all(  # type: ignore[attr-defined]
            stamp(path) == was or _held(path, names) == held
            for path, was, held in note["places"]  # type: ignore[attr-defined]
        )
    except (KeyError, TypeError, ValueError):
        return False


def _held(path: str, names: frozenset[str]) -> list[str]:
    """Return which of *names* are in the directory at *path*."""
    try:
        return sorted(names.intersection(os.listdir(path)))  # noqa: PTH208 - names are wanted
    except OSError:
        return []


def _listed(rule: Path) -> list[str]:
    """Return the files listed by the make rule in the file *rule*, the source first."""
    try:
        text = rule.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    _, _, rest = text.replace("\\\n", " ").partition(": ")
    words = re.findall(r"(?:\\[ #]|\$\$|[^\s])+", rest.partition("\n")[0])
    return [word.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$") for word in words]


def _searched(said: str) -> list[str]:
    """Return the compiler's search directories for headers, from its output with ``-v``, including missing ones."""
    _, _, after = said.partition('#include "..." search starts here:')
    there = [line.strip() for line in after.partition("End of search list.")[0].splitlines() if line.startswith(" ")]
    return [*there, *re.findall(r'^ignoring nonexistent directory "(.*)"$', said, re.MULTILINE)] if after else []


def _note(cwd: Path, file: str, text: bytes, read: list[str], said: str, began: int) -> dict[str, object] | None:
    """Return a note that shows when the preprocessor's output would stay the same, None if nothing can show that.

    *read*: the files that it read; *said*: its messages; *began*: when it was started, in ns.
    """
    searched = [os.path.join(cwd, item) for item in _searched(said)]  # noqa: PTH118 - as the compiler joins them
    paths = list(dict.fromkeys(os.path.join(cwd, item) for item in read))  # noqa: PTH118
    files: list[tuple[str, Stamp]] = [(path, stamp(path)) for path in paths]
    if not searched or any(not was or not is_settled(was, began) for _, was in files):
        return None
    of_the_system = _of_the_system(cwd, text)
    if any(_asks(path) for path in paths if path not in of_the_system):
        return None
    roots = dict.fromkeys([os.path.dirname(os.path.join(cwd, file)), str(cwd), *searched, *map(os.path.dirname, paths)])  # noqa: PTH118, PTH120
    names = frozenset(part for path in paths for part in path.split("/") if part)
    places: list[tuple[str, Stamp | None, list[str]]] = []
    for place, was in _places(roots, paths):
        if not is_settled(was, began, _TICK_NS):
            return None  # a header may have appeared while the preprocessor ran
        places.append((place, was if is_settled(was, began) else None, _held(place, names)))
    return {"files": files, "names": sorted(names), "places": places}


def _of_the_system(cwd: Path, text: bytes) -> frozenset[str]:
    """Return the system headers among those that the preprocessed *text* marks as entered."""
    found = re.findall(rb'^# \d+ "([^"\n]+)" 1 3', text, re.MULTILINE)
    return frozenset(os.path.join(cwd, os.fsdecode(name)) for name in found)  # noqa: PTH118


def _asks(path: str) -> bool:
    try:
        return _ASKS.search(Path(path).read_bytes()) is not None
    except OSError:
        return True


def _places(roots: Iterable[str], paths: list[str]) -> Iterator[tuple[str, Stamp]]:
    """Yield each directory where a header of *paths* could be found from one of *roots*, with its stamp.

    A header found as ``ROOT/a/b.h`` may have been included as ``a/b.h``, so ``a`` counts in every other root. A missing
    directory is skipped unless it is a root: if it appears, its parent changes.
    """
    known = list(roots)
    below = {""}
    for path in paths:
        for root in known:
            if path.startswith(f"{root}/"):
                below.add(os.path.dirname(path[len(root) + 1 :]))  # noqa: PTH120
    seen: dict[str, Stamp] = {}
    for root in known:
        for more in sorted(below):
            place = root
            for part in ("", *more.split("/")):
                place = f"{place}/{part}" if part else place
                if place not in seen:
                    seen[place] = stamp(place)
                    if seen[place] or place == root:
                        yield place, seen[place]
                if not seen[place]:
                    break
