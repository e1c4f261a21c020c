"""Options of compilers and linkers: those that only change the code, or may run, load or overwrite something.

The list names the harmless ones. An unknown option counts as a risk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from scalegraph.base.patterns import pattern
from scalegraph.toolchain.command import TAKES_WORD

# Optimisation, debugging, language, definitions, directories of headers and libraries, and libraries by name. Their
# values are not paths, which an option that writes a file or starts a program needs.
_HARMLESS: Final = pattern(
    r"""-O(?:[0-3sgz]|fast)? | -g[a-z]*[0-9]* | -gdwarf-[2-5]
    | -std=[\w+.:-]+ | -ansi | -pedantic(?:-errors)? | -w | -pthread | -pipe | -s | -rdynamic | -traditional-cpp
    | -[DUAIL].+ | -l[\w+.-]+ | -cpp | -nocpp | -undef | -static-lib(?:gcc|gfortran|stdc\+\+)
    | -W[a-z][\w+-]*(?:=[\w.+-]*)?
    | -m(?!llvm)[a-z][\w.+-]*(?:=[\w.,+-]*)?
    | -f[a-z][\w.+-]*(?:=[\w.,+-]*)?
    | --param=[\w.-]+=\d+
    """,
    re.VERBOSE,
)
# -f options that load a plugin, start another program, or write a file.
_RISKS_OF_F: Final = (
    "-fplugin", "-fpass-plugin", "-fuse-ld", "-fmodule", "-fdeps", "-fdump", "-fopt-info", "-fsave-optimization",
    "-fcallgraph-info", "-fstack-usage", "-fprofile", "-fauto-profile", "-fdiagnostics-add-output",
    "-fdiagnostics-set-output", "-fdiagnostics-format", "-fcompare-debug", "-foffload", "-flto", "-fcrash-diagnostics",
    "-ftime-trace", "-fsanitize", "-fproc-stat", "-fada", "-fgo", "-fresolution", "-ftest-coverage", "-fintegrated-cc1",
    "-fno-integrated", "-femit", "-fxray", "-fthinlto", "-fcs-profile", "-fgnat", "-fdmd", "-fpre-include",
)  # fmt: skip
_WITH_WORD: Final = frozenset(("-D", "-U", "-A", "-I", "-L", "-isystem", "-iquote", "-idirafter", "-z", "-u"))
_LANGUAGES: Final = frozenset(("c", "c++", "f77", "f77-cpp-input", "f95", "f95-cpp-input", "none"))
_LINKER: Final = pattern(
    r"""(?:,(?:-O[0-3] | -z,[a-z0-9=-]+ | -[Es] | --(?:no-)?as-needed | --(?:no-)?gc-sections | --(?:start|end)-group
    | --export-dynamic | --(?:no-)?whole-archive | --(?:no-)?allow-multiple-definition | --build-id(?:=[a-z0-9]+)?
    | --hash-style=[a-z]+ | --sort-common | --(?:no-)?warn-[a-z-]+ | -B(?:symbolic|static|dynamic) | --wrap[,=]\w+))+
    """,
    re.VERBOSE,
)


def risky_options(words: Sequence[str]) -> Iterator[str]:
    """Yield the *words* that are options which may run, load or overwrite something, each with its argument."""
    for option in _with_arguments(words):
        if not _is_harmless(option):
            yield " ".join(option)


def _with_arguments(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    rest = iter(words)
    for word in rest:
        argument = next(rest, None) if word in TAKES_WORD else None
        yield (word,) if argument is None else (word, argument)


def _is_harmless(option: tuple[str, ...]) -> bool:
    word = option[0]
    if word.startswith("-Wl,"):
        return _LINKER.fullmatch(word.removeprefix("-Wl")) is not None
    if len(option) > 1:
        if word == "-Xlinker":
            return _LINKER.fullmatch(f",{option[1]}") is not None
        if word == "-l":
            return _HARMLESS.fullmatch(f"-l{option[1]}") is not None
        if word == "-x":
            return option[1] in _LANGUAGES
        return word in _WITH_WORD or (word == "--param" and _HARMLESS.fullmatch(f"--param={option[1]}") is not None)
    return _HARMLESS.fullmatch(word) is not None and not word.startswith(_RISKS_OF_F)
