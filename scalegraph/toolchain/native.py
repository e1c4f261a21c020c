"""Native programs whose loops accept any schedule: sources to an executable, without a simulator."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError
from scalegraph.runtime.compiler import Compiler
from scalegraph.runtime.languages import FIXED_FORM
from scalegraph.toolchain.flags import Flags
from scalegraph.toolchain.loops import compile_asking, fortran_asking, name_static_loops
from scalegraph.toolchain.objects import Source, first_error

_SUFFIX = {"c": ".c", "c++": ".cpp"}
_OPTIONS = ("-O2", "-g", "-fopenmp", "-fno-pie")
_APART = "-fno-ipa-icf"  # keeps loops with the same text as separate functions: each is identified by its own


def compile_native(
    compiler: Compiler, source: Source, flags: Flags, target: Path, *, loops: bool, cwd: Path, cancel: CancelToken
) -> None:
    """Compile *source* to the object *target*; *loops*: make its static worksharing loops call the runtime, too.

    Raises `BuildError` with the compiler's output.
    """
    options = [
        *_OPTIONS,
        *([] if compiler.clang else [_APART]),
        *flags.compile,
        *(f"-I{item}" for item in flags.include),
    ]
    if not loops:
        _good(compiler.run([*options, "-c", source.file, "-o", str(target)], cwd=cwd, cancel=cancel), source)
        return
    with tempfile.TemporaryDirectory(prefix="scalegraph-cc-", ignore_cleanup_errors=True) as place:
        named = Path(source.file)
        named, where = Path(source.file), ["-c", "-o", str(target)]
        copy = Path(place) / f"{named.stem}{_SUFFIX.get(source.language, named.suffix)}"
        mapped = f"-ffile-prefix-map={copy}={cwd / named}"
        if source.language == "fortran":
            fixed = named.suffix in FIXED_FORM
            free = [] if fixed else ["-ffree-line-length-none"]
            copy.write_bytes(_encoded(fortran_asking(source.text, options, fixed=fixed)))
            words = [*options, "-I", str(cwd / named.parent), mapped, *free, *where, str(copy)]
            result = compiler.run(words, cwd=cwd, cancel=cancel)
        else:
            copy.write_bytes(_encoded(source.text))
            words = [*options, "-iquote", str(cwd / named.parent), mapped]
            result = compile_asking(
                compiler, copy, source.language, words, where, target=target, cwd=cwd, cancel=cancel
            )
        _good(result, source)
    if not name_static_loops(compiler, target, cancel):
        raise BuildError(f"{source.file}: objcopy could not name its static loops", "")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def link_native(
    compiler: Compiler, arguments: Sequence[str], library: Path, target: Path, *, cwd: Path, cancel: CancelToken
) -> None:
    """Link objects and libraries (*arguments*) into *target*, with the schedule *library* before libgomp.

    Raises `BuildError` with the linker's output.
    """
    command = ["-no-pie", *compiler.linking, *schedule_words(library), *arguments, "-fopenmp"]
    result = compiler.run([*command, "-o", str(target)], cwd=cwd, cancel=cancel)
    if result.returncode != 0:
        raise BuildError("the program does not link for this computer", result.stderr)


def schedule_words(library: Path) -> tuple[str, ...]:
    """Return the words that link the schedule *library*; they come before the program's own libraries."""
    return "-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{library.parent}"


def _good(result: subprocess.CompletedProcess[str], source: Source) -> None:
    if result.returncode != 0:
        raise BuildError(first_error(result.stderr, source.file), result.stderr)
