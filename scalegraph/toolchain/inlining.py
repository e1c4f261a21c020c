"""Compiler options for the hooks of the simulated target, inlined where possible and wanted."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from pathlib import Path
from typing import Final

from scalegraph.base.errors import InputError
from scalegraph.runtime.cache import cache_root, get_or_make
from scalegraph.runtime.compiler import Compiler

INLINE: Final = "SCALEGRAPH_INLINE"
"""Environment: 1 (default) inlines most hooks, 0 compiles every hook as a call."""
_SCRIPT: Final = Path(__file__).with_name("assembler.py")


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
    return (f"-B{_assembler(compiler)}{os.sep}",)


def _assembler(compiler: Compiler) -> Path:
    """Return a directory in which ``as`` is our assembler, which calls *compiler*'s."""
    known = f"{compiler.identity}\0{sys.executable}\0{_SCRIPT}"
    where = cache_root() / "assemblers" / hashlib.sha256(known.encode()).hexdigest()[:24]

    def make(place: Path) -> None:
        words = shlex.join([sys.executable, "-I", "-S", str(_SCRIPT), compiler.tool("as")])
        script = place / "as"
        script.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        script.chmod(0o755)

    get_or_make(where, make)
    return where
