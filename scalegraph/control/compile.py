"""Calls the compiler: instrumented source to object, objects to program, messages back in the user's own terms."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError
from scalegraph.base.run import Region
from scalegraph.control.flags import Flags
from scalegraph.instrument import Detail, blocks, instrument_source
from scalegraph.runtime.compiler import Compiler
from scalegraph.runtime.library import Library

# What makes the compiler plant the hooks of the simulated target (design of the target: see docs/ARCHITECTURE.md).
# Large frames are touched page by page, so that none jumps over the guard page of a simulated processor's stack.
HOOKS = (
    "-fopenmp",
    "-fsanitize=thread",
    "-fsanitize-coverage=trace-pc",
    "-fno-pie",
    "-fstack-clash-protection",
)
_ERROR = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_SHOWN_LINES = 40  # of what the compiler says; a missing header alone can make thousands
_SHOWN_WARNINGS = 10  # of one source
_UNDEFINED = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+): undefined reference to [`'](?P<name>[^`']+)'")


@dataclass(frozen=True)
class Source:
    """A source of the user: *file* as named, *text* with undecodable bytes as surrogates."""

    file: str
    text: str


def printable(text: str) -> str:
    """Return *text* with bytes that are no UTF-8 replaced, for people and databases."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@dataclass(frozen=True)
class Compiled:
    """What came out: ``program`` and ``blocks`` lie in the directory, this is the rest."""

    regions: tuple[Region, ...]
    instrumented: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Compilation:
    """The tools and flags that all sources of a program share."""

    compiler: Compiler
    runtime: Library
    flags: Flags
    cwd: Path
    cancel: CancelToken

    @property
    def options(self) -> list[str]:
        """Options of every compilation: ours, overridden by the user's, and last those that must hold."""
        include = [f"-I{directory}" for directory in self.flags.include]
        return ["-O2", "-g", *self.flags.compile, *include, *HOOKS, "-Wno-tsan"]

    def preprocessed(self, source: Source) -> bytes:
        """Return the source with its headers and macros in place; empty when that fails (compiling will say why)."""
        result = self.compiler.run(["-E", *self.options, source.file], cwd=self.cwd, cancel=self.cancel)
        return result.stdout.encode("utf-8", "surrogateescape") if result.returncode == 0 else b""

    def compile(self, path: str, target: Path, *more: str) -> subprocess.CompletedProcess[str]:
        """Compile the file at *path* to the object *target*."""
        return self.compiler.run(
            [*self.options, *more, "-c", path, "-o", str(target)], cwd=self.cwd, cancel=self.cancel
        )


def compile_program(
    compilation: Compilation, sources: Sequence[Source], place: Path, detail: Detail | None
) -> Compiled:
    """Compile and link *sources* into ``place/program`` with its block table ``place/blocks``.

    *detail* is that of the region probes, ``None`` for none. Raises `BuildError`.
    """
    regions: list[Region] = []
    instrumented: list[str] = []
    remarks: list[str] = []
    objects: list[Path] = []
    for number, source in enumerate(sources):
        target = place / f"{number}.o"
        first = 1 + max((region.id for region in regions), default=0)
        text, found = _compile_source(compilation, source, target, (detail, first), remarks)
        regions += [region for region in found if region.id != 0 or number == 0]
        instrumented.append(printable(text))
        objects.append(target)
    _link(compilation, dict(zip(objects, sources, strict=True)), place / "program", remarks)
    for item in objects:
        item.unlink()
    (place / "blocks").write_bytes(blocks.block_table(place / "program"))
    if not any(region.id == 0 for region in regions):
        regions.insert(0, Region(id=0, kind="program", name="program"))
    return Compiled(tuple(regions), tuple(instrumented), tuple(dict.fromkeys(remarks)))


def _compile_source(
    compilation: Compilation, source: Source, target: Path, probes: tuple[Detail | None, int], remarks: list[str]
) -> tuple[str, list[Region]]:
    """Compile one source, with probes if they do no harm; return the text compiled and its regions."""
    detail, first = probes
    if detail is not None:
        made = instrument_source(source.text, source.file, detail=detail, first_id=first)
        remarks += [str(fault) for fault in made.faults]
        copy = target.with_suffix(".c")
        copy.write_bytes(made.text.encode("utf-8", "surrogateescape"))
        beside = str((compilation.cwd / source.file).parent)
        probe = str(compilation.runtime.include / "sg_probe.h")
        result = compilation.compile(str(copy), target, "-include", probe, "-iquote", beside, "-Wno-error")
        copy.unlink()
        if result.returncode == 0 and not result.stderr.strip():
            return made.text, made.regions
        worked = result.returncode == 0
    else:
        worked = False
    # What the compiler has to say, it shall say about the source as the user wrote it.
    plain = target.with_suffix(".plain.o") if worked else target
    result = compilation.compile(source.file, plain)
    if result.returncode != 0:
        raise BuildError(_first_error(result.stderr, source.file), _beginning(result.stderr))
    remarks += _warnings(source.file, result.stderr)
    if worked:
        plain.unlink()
        return made.text, made.regions
    if detail is not None:
        remarks.append(f"{source.file}: does not compile with region probes and went in without them")
    return source.text, []


def _link(compilation: Compilation, objects: Mapping[Path, Source], target: Path, remarks: list[str]) -> None:
    runtime = compilation.runtime
    arguments = [
        "-no-pie",
        *map(str, objects),
        *compilation.flags.link,
        str(runtime.archive),
        *runtime.link_flags,
        "-o",
        str(target),
    ]
    result = compilation.compiler.run(arguments, cwd=compilation.cwd, cancel=compilation.cancel)
    output = result.stderr
    for item, source in objects.items():
        for made in (item, item.with_suffix(".c")):
            output = output.replace(str(made), source.file)
    if result.returncode != 0:
        raise BuildError(_link_error(output), _beginning(_without_ours(output, runtime)))
    remarks += [line for line in output.splitlines() if ": warning: " in line]


def _beginning(output: str) -> str:
    """Return the first lines of *output*, and how many more there are."""
    lines = output.splitlines(keepends=True)
    if len(lines) <= _SHOWN_LINES:
        return output
    return "".join(lines[:_SHOWN_LINES]) + f"... and {len(lines) - _SHOWN_LINES} more lines\n"


def _warnings(file: str, output: str) -> list[str]:
    """Return the first warnings of a source, and how many more there are."""
    found = [line for line in output.splitlines() if ": warning: " in line]
    more = len(found) - _SHOWN_WARNINGS
    return found if more <= 0 else [*found[:_SHOWN_WARNINGS], f"{file}: {more} more warnings"]


def _without_ours(output: str, runtime: Library) -> str:
    """Return the linker's *output* without its lines about our library, which the user has not written."""
    lines = output.splitlines(keepends=True)
    kept = [line for line in lines if str(runtime.archive) not in line and not line.startswith("sg_")]
    return "".join(kept) if len(kept) < len(lines) else output


def _first_error(output: str, file: str) -> str:
    match = _ERROR.search(output)
    if match is None:
        last = output.strip().splitlines()[-1:] or ["the compiler gave no message"]
        return f"{file}: does not compile: {last[0]}"
    errors = len(_ERROR.findall(output))
    more = f" (and {errors - 1} more)" if errors > 1 else ""
    return f"{match['file']}:{match['line']}: {match['text']}{more}"


def _link_error(output: str) -> str:
    """Return the first complaint of the linker in a sentence."""
    if "undefined reference to `main'" in output:
        return "the program has no function main; expected it in one of the sources"
    if (twice := re.search(r"multiple definition of [`']([^`']+)'", output)) is not None:
        return f"the program does not link: '{twice[1]}' is defined more than once"
    if (match := _UNDEFINED.search(output)) is not None:
        return f"{match['file']}:{match['line']}: '{match['name']}' is used but defined nowhere; does a library lack?"
    if (bare := re.search(r"undefined reference to [`']([^`']+)'", output)) is not None:
        return f"'{bare[1]}' is used but defined nowhere; does a library lack?"
    lines = [line for line in output.splitlines() if "error:" in line or "cannot find" in line]
    return f"the program does not link: {(lines or output.strip().splitlines() or ['no message'])[0]}"
