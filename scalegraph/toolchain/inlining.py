"""Compiler options for the hooks of the simulated target, inlined where possible and wanted."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from scalegraph.base.errors import BuildError, InputError
from scalegraph.runtime.cache import cache_root, get_or_make
from scalegraph.runtime.compiler import Compiler
from scalegraph.runtime.tools import call

INLINE: Final = "SCALEGRAPH_INLINE"
"""Environment: 1 (default) inlines most hooks, 0 compiles every hook as a call."""
SLOTS: Final = "scalegraph_slots"
"""The section of the counters of code with hooks in line, see csrc/rewriting.c."""
_FILES: Final = tuple(Path(__file__).with_name("csrc") / name for name in ("assembler.c", "rewriting.c", "assembler.h"))
_FLAGS: Final = ("-std=gnu11", "-O2", "-Wall", "-Wextra")


def is_inlining() -> bool:
    """Return whether hooks should be inlined; raise `InputError` if the environment variable is neither 0 nor 1."""
    given = os.environ.get(INLINE, "1")
    if given not in ("0", "1"):
        raise InputError(f"{INLINE}={given}: expected 0 or 1")
    return given == "1"


def may_inline(compiler: Compiler) -> bool:
    """Return whether *compiler* can inline hooks: gcc for x86-64."""
    return not compiler.clang and compiler.architecture == "x86_64"


def hooks(compiler: Compiler) -> tuple[str, ...]:
    """Return the options that make *compiler* plant hooks, inlined if wanted and possible."""
    return (*compiler.hooks, *in_line(compiler))


def in_line(compiler: Compiler) -> tuple[str, ...]:
    """Return the option that makes *compiler*'s assembler inline hooks; empty if that is not possible."""
    if not is_inlining() or not may_inline(compiler):
        return ()
    place = _assembler(compiler)
    return () if place is None else (f"-B{place}{os.sep}",)


def _assembler(compiler: Compiler) -> Path | None:
    """Return a directory in which ``as`` is our assembler, which calls *compiler*'s; None if that cannot be built."""
    known = b"\0".join([compiler.identity.encode(), *(path.read_bytes() for path in _FILES)])
    where = cache_root() / "assemblers" / hashlib.sha256(known).hexdigest()[:24]
    try:
        return get_or_make(where, lambda place: build_assembler(compiler, compiler.tool("as"), place / "as"))
    except BuildError:  # a cross compiler, or one without the C library's headers
        return None


def build_assembler(compiler: Compiler, behind: str, target: Path) -> None:
    """Build our assembler in *target*, which calls the assembler *behind*; raise `BuildError`."""
    defined = [f'-D{name}="{text}"' for name, text in (("ASSEMBLER", behind), ("SLOTS", SLOTS))]
    sources = [word for path in _FILES[:2] for word in ("-x", "c", str(path))]  # g++ forgets -x after a file
    made = compiler.run([*_FLAGS, *defined, *sources, "-o", str(target)])
    if made.returncode != 0 or call([str(target), "--version"]).returncode != 0:
        raise BuildError("the assembler of hooks does not compile for this computer", made.stderr)
