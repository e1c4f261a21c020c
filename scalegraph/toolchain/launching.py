"""Builds the launcher, which compiles the common C source without Python, and writes its plan.

The plan holds what the wrapper would find out at each start: the compiler, its options for hooks, and stamps of the
files on which these depend. See csrc/launcher/launcher.c, which reads it, and `start`, which runs it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from scalegraph.base.errors import BuildError, InputError, WorkError
from scalegraph.base.private import write_private
from scalegraph.instrument import headers, source, syntax, units
from scalegraph.runtime import compiler as compilers
from scalegraph.runtime.cache import cache_root, get_or_make
from scalegraph.runtime.compiler import Compiler
from scalegraph.toolchain import inlining, objects, start

_SOURCES: Final = tuple(sorted((Path(__file__).parent / "csrc" / "launcher").glob("*.[ch]")))
_FLAGS: Final = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-ldl")
# Changes of these may change what is compiled, and how.
_MODULES: Final = (compilers, headers, inlining, objects, source, start, syntax, units)


def offer(compiler: Compiler) -> None:
    """Let the launcher do the next common compilations by *compiler*; do nothing if it cannot be built here."""
    usual = compiler.command == (compilers.KINDS["c"].usual,)  # the plan does not say for which one it was asked
    if compiler.language != "c" or not usual or not inlining.in_line(compiler):
        return
    place = Path(start.plan_path(str(cache_root())))
    with suppress(BuildError, InputError, WorkError, OSError):
        text = _plan(compiler, _launcher(compiler))
        if "\n\n" in text or (place.exists() and place.read_text(encoding="utf-8") == text):
            return
        write_private(place, text)


def _launcher(compiler: Compiler) -> Path:
    known = b"\0".join([compiler.identity.encode(), *(path.read_bytes() for path in _SOURCES)])
    where = cache_root() / "launchers" / hashlib.sha256(known).hexdigest()[:24]
    return get_or_make(where, lambda place: build_launcher(compiler, place / "launcher")) / "launcher"


def build_launcher(compiler: Compiler, target: Path) -> None:
    """Build the launcher in *target*; raise `BuildError`."""
    sources = [str(path) for path in _SOURCES if path.suffix == ".c"]
    made = compiler.run([*sources, *_FLAGS, "-o", str(target)])
    if made.returncode != 0:
        raise BuildError("the launcher does not compile for this computer", made.stderr)


def _plan(compiler: Compiler, launcher: Path) -> str:
    hooks = inlining.hooks(compiler)
    behind = shutil.which(compiler.command[0]) or compiler.command[0]
    assembler = [f"{word[2:]}as" for word in hooks if word.startswith("-B")]
    files = [behind, *assembler, str(objects.PROBE_HEADER), *(str(module.__file__) for module in _MODULES)]
    lines = [f"package {Path(start.__file__).parents[1]}", f"launcher {launcher}"]
    lines += [f"stamp {_stamp(file)} {file}" for file in files]
    lines += [f"path {os.environ.get('PATH', '')}", f"header {objects.PROBE_HEADER}"]
    lines += [*(f"word {word}" for word in compiler.command), *(f"hook {word}" for word in hooks)]
    return "\n".join([*lines, ""])


def _stamp(file: str) -> str:
    status = os.stat(file)  # noqa: PTH116
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
