"""Copies of sources whose static worksharing loops call the runtime for iterations, see `instrument.schedules`."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.patterns import pattern
from scalegraph.runtime.tools import call

if TYPE_CHECKING:
    from scalegraph.runtime.compiler import Compiler
    from scalegraph.runtime.languages import Language

_SUFFIX: Final[dict[Language, str]] = {"c": ".i", "c++": ".ii"}
# Options for the preprocessor alone, which must not apply twice: make rules, and files read before the source.
_ONCE: Final = frozenset(("-M", "-MM", "-MD", "-MMD", "-MG", "-MP"))
_ONCE_WITH_NAME: Final = frozenset(("-MF", "-MT", "-MQ", "-include", "-imacros"))
_RULE: Final = frozenset(("-MD", "-MMD"))
_RULE_NAME: Final = frozenset(("-MT", "-MQ"))
_WIDTH = pattern(r"-ffixed-line-length-(none|\d+)")


def compile_asking(
    compiler: Compiler,
    copy: Path,
    language: Language,
    options: Sequence[str],
    end: Sequence[str],
    *,
    target: Path,
    cwd: Path,
    cancel: CancelToken,
) -> subprocess.CompletedProcess[str]:
    """Preprocess the C or C++ file *copy*, make its static loops call the runtime, headers included, and compile it.

    *options*: for both steps, *end*: for the second (``-c -o ..``); *target*: the target in a make rule. Returns the
    result of the step that failed, or of the second.
    """
    from scalegraph.instrument.schedules import at_run_time

    named = ["-MQ", str(target)] if _RULE & set(options) and not _RULE_NAME & set(options) else []
    first = compiler.run(["-E", *options, *named, str(copy)], cwd=cwd, cancel=cancel)
    if first.returncode != 0:
        return first
    whole = copy.with_suffix(_SUFFIX[language])
    whole.write_bytes(at_run_time(first.stdout, language).encode("utf-8", "surrogateescape"))
    return compiler.run([*_without_preprocessor(options), *end, str(whole)], cwd=cwd, cancel=cancel)


def _without_preprocessor(options: Sequence[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in options:
        if skip:
            skip = False
        elif word in _ONCE_WITH_NAME:
            skip = True
        elif word not in _ONCE and not word.startswith("-MF"):
            kept.append(word)
    return kept


def fortran_asking(text: str, options: Sequence[str], *, fixed: bool) -> str:
    """Return Fortran *text* with static loops that call the runtime. *options* may set the width of a fixed form."""
    from scalegraph.instrument.fortran_schedules import FIXED_WIDTH, fixed_form, free_form

    if not fixed:
        return free_form(text)
    widths = [match[1] for word in options if (match := _WIDTH.fullmatch(word))]
    width = FIXED_WIDTH if not widths else 0 if widths[-1] == "none" else int(widths[-1])
    return fixed_form(text, width)


def name_static_loops(compiler: Compiler, item: Path, cancel: CancelToken) -> bool:
    """Make static loops of the object *item* call the runtime's functions, by renaming; return whether that worked."""
    from scalegraph.instrument.schedules import RENAMED

    names = [word for old, new in RENAMED.items() for word in ("--redefine-sym", f"{old}={new}")]
    return call([compiler.tool("objcopy"), *names, str(item)], cancel=cancel).returncode == 0
