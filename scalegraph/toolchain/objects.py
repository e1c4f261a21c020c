"""Compiles one source to one object with region probes and block hooks, and with messages in the user's terms."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError
from scalegraph.base.patterns import pattern
from scalegraph.instrument.units import Unit, embedded
from scalegraph.runtime.compiler import Compiler
from scalegraph.runtime.languages import FIXED_FORM, Language
from scalegraph.runtime.tools import call
from scalegraph.toolchain.command import without_rules
from scalegraph.toolchain.complaints import with_mpi, with_standard
from scalegraph.toolchain.inlining import hooks
from scalegraph.toolchain.loops import compile_asking, fortran_asking, name_static_loops

if TYPE_CHECKING:
    from scalegraph.base.source_regions import SourceRegion
    from scalegraph.instrument import Detail

_ERROR = pattern(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_FORTRAN_ERROR = pattern(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):\d+:\n.*?^(?:Fatal )?Error: (?P<text>.*?)$", re.MULTILINE | re.DOTALL
)
PROBE_HEADER = Path(__file__).parents[1] / "runtime" / "csrc" / "core" / "sg_probe.h"
_PRELUDE = '#define SCALEGRAPH_SEPARATE 1\n#line 1 "/scalegraph/sg_probe.h"\n'
_SUFFIX: dict[Language, str] = {"c": ".c", "c++": ".cpp"}


@dataclass(frozen=True)
class Source:
    """A user's source: *file* as named, *text* with undecodable bytes as surrogates."""

    file: str
    text: str
    language: Language


@dataclass(frozen=True)
class Compilation:
    """How to compile the sources of one language: *compiler* and *options* (hooks are added), in *cwd*."""

    compiler: Compiler
    options: tuple[str, ...]
    cwd: Path
    cancel: CancelToken
    detail: Detail | None = "outer"  # None: no probes
    mode: str = "-c"  # or -S
    loops: bool = False  # static loops call the runtime for iterations, see `instrument.schedules`
    native: bool = False  # native: without the hooks of the simulated target

    @property
    def hooks(self) -> tuple[str, ...]:
        """The options that the target needs: hooks if simulated, region numbers as constants always."""
        return self.compiler.native if self.native else hooks(self.compiler)

    def preprocessed(self, file: str, *more: str) -> tuple[bytes, str]:
        """Return the preprocessed source, and the compiler's messages.

        The text is empty if that fails (compiling will say why). *more*: further options.
        """
        result = self.compiler.run(["-E", *self.options, *more, file], cwd=self.cwd, cancel=self.cancel)
        text = result.stdout.encode("utf-8", "surrogateescape") if result.returncode == 0 else b""
        return text, result.stderr

    def compile(self, path: str, target: Path, *more: str) -> subprocess.CompletedProcess[str]:
        """Compile the file at *path* to *target*."""
        return self.compiler.run(
            [*self.options, *self.hooks, *more, self.mode, path, "-o", str(target)],
            cwd=self.cwd,
            cancel=self.cancel,
        )


@dataclass(frozen=True)
class Compiled:
    """The results of compiling an object: the compiler's *messages* (warnings) and our remarks."""

    messages: str
    remarks: tuple[str, ...]


def compile_source(compilation: Compilation, source: Source, target: Path) -> Compiled:
    """Compile *source* to *target*, with probes if they do no harm, and with its record (see `instrument.units`).

    Raises `BuildError` with the compiler's whole output.
    """
    if source.language == "fortran":
        return _fortran(compilation, source, target)
    text = source.text
    with tempfile.TemporaryDirectory(prefix="scalegraph-cc-", ignore_cleanup_errors=True) as scratch:
        place = Path(scratch)
        remarks: tuple[str, ...] = ()
        worked = False
        if compilation.detail is not None:
            from scalegraph.instrument import instrument_source

            made = instrument_source(
                text,
                source.file,
                detail=compilation.detail,
                language=source.language,
                working=_working(compilation, source),
                hiding=_hiding(compilation, source),
            )
            remarks = tuple(map(str, made.faults))
            unit = _unit(compilation, source, made.text, tuple(made.marked[1:]), remarks)
            result = _compile_text(compilation, source, place, target, _probe_header() + made.text + embedded(unit))
            worked = result.returncode == 0 and _static_loops_named(compilation, target)
            if worked and not result.stderr.strip():
                return Compiled("", remarks)
        # The compiler's messages must refer to the source as the user wrote it.
        result = compilation.compile(source.file, place / "plain" if worked else target)
        if result.returncode != 0:
            if worked:  # warnings count as errors: make must not find the object
                (compilation.cwd / target).unlink(missing_ok=True)
            raise BuildError(first_error(result.stderr, source.file), result.stderr)
        if worked:
            return Compiled(result.stderr, remarks)
        if compilation.detail is not None:
            remarks += (f"{source.file}: does not compile with region probes and went in without them",)
        unit = _unit(compilation, source, source.text, (), remarks)
        line = f'#line 1 "{_escaped(source.file)}"\n'
        if _compile_text(compilation, source, place, target, line + text + embedded(unit)).returncode != 0:
            compilation.compile(source.file, target)  # without its record, then: lines are still known
            remarks += _left_static(compilation, source)
        else:
            _static_loops_named(compilation, target)
        return Compiled(result.stderr, remarks)


def _working(compilation: Compilation, source: Source) -> frozenset[str]:
    """Return the functions of the program's headers whose calls in *source* are regions."""
    from scalegraph.instrument.headers import working

    path = compilation.cwd / source.file
    return working(path, source.text, compilation.options, compilation.cwd, source.language)


def _hiding(compilation: Compilation, source: Source) -> frozenset[str]:
    from scalegraph.instrument.headers import hiding

    return hiding(compilation.cwd / source.file, source.text, compilation.options, compilation.cwd)


def _left_static(compilation: Compilation, source: Source) -> tuple[str, ...]:
    said = "its copy for schedules does not compile: static loops stay as they are written"
    return (f"{source.file}: {said}",) if compilation.loops else ()


def _static_loops_named(compilation: Compilation, item: Path) -> bool:
    """Rename the functions called by static loops of the object *item*, if needed; return whether that worked."""
    return (
        not compilation.loops
        or compilation.mode != "-c"
        or name_static_loops(compilation.compiler, item, compilation.cancel)
    )


def _unit(
    compilation: Compilation, source: Source, text: str, regions: Sequence[SourceRegion], remarks: tuple[str, ...]
) -> Unit:
    return Unit(
        str(compilation.cwd),
        source.file,
        source.text,
        text,
        tuple(regions),
        remarks,
        source.language,
        without_rules(compilation.options),
    )


def _probe_header() -> str:
    return _PRELUDE + PROBE_HEADER.read_text(encoding="utf-8")


def _compile_text(
    compilation: Compilation, source: Source, place: Path, target: Path, text: str
) -> subprocess.CompletedProcess[str]:
    """Compile *text* instead of the source, with the source's headers and name."""
    copy = place / f"{Path(source.file).stem}{_SUFFIX[source.language]}"
    copy.write_bytes(text.encode("utf-8", "surrogateescape"))
    ours = ["-iquote", str(Path(source.file).parent), "-Wno-error"]
    ours.append(f"-fdebug-prefix-map={copy}={compilation.cwd / source.file}")  # where debuggers find the source
    ours.append(f"-fmacro-prefix-map={copy}={source.file}")  # __BASE_FILE__
    if compilation.loops:
        result = compile_asking(
            compilation.compiler,
            copy,
            source.language,
            [*compilation.options, *compilation.hooks, *ours],
            [compilation.mode, "-o", str(target)],
            target=target,
            cwd=compilation.cwd,
            cancel=compilation.cancel,
        )
    else:
        result = compilation.compile(str(copy), target, *ours)
    for option, name in zip(compilation.options, compilation.options[1:], strict=False):
        path = compilation.cwd / name
        if option == "-MF" and path.is_file():  # the make rule names the copy
            rule = path.read_text(encoding="utf-8", errors="surrogateescape")
            rule = rule.replace(str(copy), source.file.replace(" ", "\\ "))
            path.write_text(rule, encoding="utf-8", errors="surrogateescape")
    return result


def _as_source(compilation: Compilation, source: Source, copy: Path) -> str:
    """Return the option by which linker and debuggers find the user's source for an object, not its *copy*."""
    return f"-ffile-prefix-map={copy}={compilation.cwd / source.file}"


def _fortran(compilation: Compilation, source: Source, target: Path) -> Compiled:
    """Compile Fortran: its probes call by reference, so functions in the object map to region numbers."""
    remarks: tuple[str, ...] = ()
    messages = ""
    with tempfile.TemporaryDirectory(prefix="scalegraph-cc-", ignore_cleanup_errors=True) as scratch:
        place = Path(scratch)
        worked = False
        changes = compilation.detail is not None or compilation.loops
        if changes and compilation.mode == "-c":
            worked, messages, remarks = _with_fortran_probes(compilation, source, place)
        if not worked or messages:
            # The compiler's messages must refer to the source as the user wrote it.
            plain = compilation.compile(source.file, place / "plain.o" if worked else target)
            if plain.returncode != 0:
                raise BuildError(first_error(plain.stderr, source.file), plain.stderr)
            messages = plain.stderr
        if worked:
            target.write_bytes((place / "local.o").read_bytes())
        elif compilation.mode == "-c":
            if compilation.detail is not None:
                remarks += (f"{source.file}: does not compile with region probes and went in without them",)
            if changes:
                remarks += _left_static(compilation, source)
            if _add_record(compilation, _unit(compilation, source, source.text, (), remarks), target, place):
                target.write_bytes((place / "local.o").read_bytes())
    return Compiled(messages, remarks)


def _with_fortran_probes(compilation: Compilation, source: Source, place: Path) -> tuple[bool, str, tuple[str, ...]]:
    """Compile to ``local.o`` in *place* with probes and a record.

    Return whether that worked, the compiler's messages and remarks.
    """
    text, regions, remarks = _fortran_probes(compilation, source)
    copy = place / Path(source.file).name
    copy.write_bytes(_asking(compilation, source, text).encode("utf-8", "surrogateescape"))
    beside = ["-I", str(Path(source.file).parent), "-Wno-error", "-ffree-line-length-none"]
    beside.append(_as_source(compilation, source, copy))
    result = compilation.compile(str(copy), place / "probes.o", *beside)
    worked = result.returncode == 0 and _static_loops_named(compilation, place / "probes.o")
    unit = _unit(compilation, source, text, regions, remarks)
    worked = worked and _add_record(compilation, unit, place / "probes.o", place)
    return worked, result.stderr.strip(), remarks


def _fortran_probes(compilation: Compilation, source: Source) -> tuple[str, Sequence[SourceRegion], tuple[str, ...]]:
    """Return the source's text, with probes if wanted, their regions, and remarks."""
    if compilation.detail is None:
        return f'# 1 "{source.file}"\n{source.text}', (), ()
    from scalegraph.instrument import instrument_source

    made = instrument_source(source.text, source.file, detail=compilation.detail, language="fortran")
    return made.text, made.marked[1:], tuple(map(str, made.faults))


def _asking(compilation: Compilation, source: Source, text: str) -> str:
    if not compilation.loops:
        return text
    return fortran_asking(text, compilation.options, fixed=Path(source.file).suffix in FIXED_FORM)


_NUMBERING = """
void __scalegraph_enter(unsigned);
void __scalegraph_leave(unsigned);
extern const char __scalegraph_ids[] __attribute__((visibility("hidden")));
void scalegraph_enter_(const int *id) { __scalegraph_enter((unsigned)(unsigned long)&__scalegraph_ids[*id]); }
void scalegraph_leave_(const int *id) { __scalegraph_leave((unsigned)(unsigned long)&__scalegraph_ids[*id]); }
"""


def _add_record(compilation: Compilation, unit: Unit, item: Path, place: Path) -> bool:
    """Write the object *item* with the record of *unit* to ``local.o`` in *place*; return whether that worked."""
    record, whole = place / "record.c", place / "whole.o"
    record.write_text((_NUMBERING if unit.regions else "") + embedded(unit), encoding="utf-8")
    steps = (
        ["-O2", "-fno-pic", "-fno-pie", "-c", str(record), "-o", str(place / "record.o")],
        ["-r", "-nostdlib", str(item), str(place / "record.o"), "-o", str(whole)],
    )
    for step in steps:
        if compilation.compiler.run(step, cwd=compilation.cwd, cancel=compilation.cancel).returncode != 0:
            return False
    local = [(f"scalegraph_{name}_", f"__scalegraph_{name}_here") for name in ("enter", "leave")]
    names = [word for old, new in local for word in ("--redefine-sym", f"{old}={new}", "-L", new)]
    command = [compilation.compiler.tool("objcopy"), *names, str(whole), str(place / "local.o")]
    return call(command, cancel=compilation.cancel).returncode == 0


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def first_error(output: str, file: str) -> str:
    """Return the first error in a compiler's *output* as a sentence with its place."""
    match, errors = _ERROR.search(output), len(_ERROR.findall(output))
    if match is None:
        match, errors = _FORTRAN_ERROR.search(output), len(_FORTRAN_ERROR.findall(output))
    if match is None:
        last = output.strip().splitlines()[-1:] or ["the compiler gave no message"]
        return f"{file}: does not compile: {last[0]}"
    more = f" (and {errors - 1} more)" if errors > 1 else ""
    return with_standard(with_mpi(f"{match['file']}:{match['line']}: {match['text']}{more}", output), output)
