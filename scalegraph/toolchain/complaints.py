"""Errors of compilers and linkers, as sentences that name the user's own files and functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from scalegraph.base.patterns import pattern

_HOW = (
    "compile MPI programs with ScaleGraph's compilers scalegraph-mpicc, scalegraph-mpicxx and scalegraph-mpifort "
    "(make CC=scalegraph-mpicc, or name its sources)"
)
_LACKS = "ScaleGraph's MPI, which is MPI 3.1, has no such function"
_MPI = pattern(
    r"\bmpi(cxx|\+\+)?\.h: No such file|[`'\"](mpif\.h|mpi(_f08)?\.mod)['\"]"
    r"|undefined reference to [`'](P?MPI_\w+|p?mpi_\w+_)'"
    r"|\bmpi(cc|cxx|c\+\+|CC|f77|f90|fort|run|exec): (command )?(not found|No such file)",
)
# g++'s messages for features newer than its standard (C++17); for library features they only say that a name is
# missing.
_NEWER_NAMES = (
    "barrier|latch|jthread|stop_token|counting_semaphore|binary_semaphore|span|ranges|views|source_location|atomic_ref|"
    "bit_cast|popcount|endian|strong_ordering|partial_ordering|convertible_to|integral|floating_point|coroutine_handle|"
    "suspend_always|numbers|midpoint|lerp|erase_if|ssize|to_array|osyncstream"
)
_NEWER = pattern(
    r"only available with .-std=c\+\+(?P<said>\d\d)|only available from C\+\+(?P<from>\d\d) onwards|<=>"
    r"|error: .(requires|concept|co_await|co_return|co_yield|consteval|constinit)\W"
    rf"|error: .(std::)?({_NEWER_NAMES}). (is not a member of|was not declared|in namespace|has not been declared)"
)
# Suffixes that compilers add to parts of a function, outlined or specialised.
_PARTS = pattern(
    r"(in function [`'][^`'\s.]+)(?:\.(?:_omp_fn|_omp_cpyfn|cold|constprop|isra|part|lto_priv)(?:\.\d+)?)+(')"
)
_UNDEFINED = pattern(
    r"(?:(?P<file>[^\s:]+):(?:(?P<line>\d+)|\([^)\n]*\)): )?undefined reference to [`'](?P<name>[^`'\n]+)'"
)
_FUNCTION = pattern(r"in function [`'](?P<function>[^`'\n]+)'")
_TWICE = pattern(
    r"(?P<second>[^\s:]+:\d+): multiple definition of [`'](?P<name>[^`'\n]+)'; "
    r"(?:[^\s:]+:)?(?P<first>[^\s:]+:\d+): first defined"
)
_SHOWN_NAMES = 3
_HINT = "; is a library missing?"


def about_mpi(output: str) -> str:
    """Return advice on MPI if *output* shows that a compiler, linker or shell misses it, otherwise ""."""
    found = _MPI.search(output)
    if found is None:
        return ""
    return _LACKS if found[0].startswith("undefined") else _HOW


def with_mpi(sentence: str, output: str) -> str:
    """Return *sentence*, with advice on MPI if *output* shows that it is missing."""
    said = about_mpi(output)
    return f"{sentence.removesuffix(_HINT)}: {said}" if said else sentence


def with_standard(sentence: str, output: str) -> str:
    """Return *sentence*, with the option for a newer C++ standard if *output* shows that the program needs it."""
    if "std=" in sentence or (found := _NEWER.search(output)) is None:
        return sentence
    standard = found["said"] or found["from"] or "20"
    return f"{sentence}: this is C++{standard}: add --cflags=-std=c++{standard} (CXXFLAGS with your own build)"


def in_users_terms(output: str, names: Mapping[Path, str], cwd: Path) -> str:
    """Return the linker's *output* in the user's terms: sources for objects, functions for their parts.

    *names*: the sources of temporary objects; names below *cwd* become relative to it.
    """
    for item, name in names.items():
        output = output.replace(f"{item}:{cwd}/{name}:", f"{name}:").replace(str(item), name)
    return _PARTS.sub(r"\1\2", output.replace(f"{cwd}/", ""))


def of_linker(output: str) -> str:
    """Return the linker's first error as a sentence; *output* comes from `in_users_terms`."""
    if "undefined reference to `main'" in output:
        return "the program has no function main; expected it in one of the sources"
    if (twice := _TWICE.search(output)) is not None:
        places = f"{twice['first']} and {twice['second']}"
        return f"the program does not link: '{twice['name']}' is defined more than once: {places}"
    if (twice := re.search(r"multiple definition of [`'](?P<name>[^`']+)'", output)) is not None:
        return f"the program does not link: '{twice['name']}' is defined more than once"
    if "undefined reference to `__kmpc_" in output:
        return (
            "the program was compiled by clang with -fopenmp, whose calls (__kmpc_..) the simulator does not serve: "
            "compile OpenMP programs with gcc"
        )
    if (match := _UNDEFINED.search(output)) is not None:
        return with_mpi(_undefined(output, match), output)
    lines = [line for line in output.splitlines() if "error:" in line or "cannot find" in line]
    return f"the program does not link: {(lines or output.strip().splitlines() or ['no message'])[0]}"


def _undefined(output: str, first: re.Match[str]) -> str:
    """Return a sentence about the *first* undefined name, and the number of others."""
    where = f"{first['file']}:{first['line']}: " if first["line"] else f"{first['file']}: " if first["file"] else ""
    within = [match["function"] for match in _FUNCTION.finditer(output, 0, first.start())]
    used = f"is used in {within[-1]}" if within else "is used"
    others = dict.fromkeys(match["name"] for match in _UNDEFINED.finditer(output) if match["name"] != first["name"])
    more = ""
    if others:
        shown = ", ".join(f"'{name}'" for name in list(others)[:_SHOWN_NAMES])
        left = len(others) - _SHOWN_NAMES
        more = f" (so {'is' if len(others) == 1 else 'are'} {shown}{f' and {left} more' if left > 0 else ''})"
    return f"{where}'{first['name']}' {used} but defined nowhere{more}{_HINT}"
