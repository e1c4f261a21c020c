"""Objects to a program: linked with the simulator in place of OpenMP's and the sanitizer's run-time libraries."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError
from scalegraph.runtime.compiler import Compiler
from scalegraph.runtime.languages import Language
from scalegraph.runtime.library import Library

_UNDEFINED = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+): undefined reference to [`'](?P<name>[^`']+)'")


def link(
    compiler: Compiler,
    runtime: Library,
    arguments: Sequence[str],
    target: Path,
    *,
    names: Mapping[Path, str],
    cwd: Path,
    cancel: CancelToken,
) -> str:
    """Link objects and libraries (*arguments*, in the user's order) into the program *target*; return the messages.

    *names*: the sources that temporary objects stand for. Raises `BuildError` with the linker's output.
    """
    command = ["-no-pie", *compiler.linking, *arguments, str(runtime.archive), *runtime.link_flags, "-o", str(target)]
    result: subprocess.CompletedProcess[str] = compiler.run(command, cwd=cwd, cancel=cancel)
    output = result.stderr
    for item, name in names.items():
        output = output.replace(str(item), name)
    if result.returncode != 0:
        raise BuildError(_link_error(output), _without_ours(output, runtime))
    return output


def driver(languages: Collection[Language]) -> Language:
    """Return whose compiler links a program of *languages*: C++ before Fortran before C."""
    return "c++" if "c++" in languages else "fortran" if "fortran" in languages else "c"


def libraries(languages: Collection[Language]) -> tuple[str, ...]:
    """Return the libraries that the linking compiler does not add by itself."""
    return ("-lgfortran",) if {"c++", "fortran"} <= set(languages) else ()


def _without_ours(output: str, runtime: Library) -> str:
    """Return the linker's *output* without its lines about our library, which the user has not written."""
    lines = output.splitlines(keepends=True)
    kept = [line for line in lines if str(runtime.archive) not in line and not line.startswith("sg_")]
    return "".join(kept) if len(kept) < len(lines) else output


def _link_error(output: str) -> str:
    """Return the first complaint of the linker in a sentence."""
    if "undefined reference to `main'" in output:
        return "the program has no function main; expected it in one of the sources"
    if (twice := re.search(r"multiple definition of [`']([^`']+)'", output)) is not None:
        return f"the program does not link: '{twice[1]}' is defined more than once"
    if "undefined reference to `__kmpc_" in output:
        return (
            "the program was compiled by clang with -fopenmp, whose calls (__kmpc_..) the simulator does not serve: "
            "compile OpenMP programs with gcc"
        )
    if (match := _UNDEFINED.search(output)) is not None:
        return f"{match['file']}:{match['line']}: '{match['name']}' is used but defined nowhere; does a library lack?"
    if (bare := re.search(r"undefined reference to [`']([^`']+)'", output)) is not None:
        return f"'{bare[1]}' is used but defined nowhere; does a library lack?"
    lines = [line for line in output.splitlines() if "error:" in line or "cannot find" in line]
    return f"the program does not link: {(lines or output.strip().splitlines() or ['no message'])[0]}"
