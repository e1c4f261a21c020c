"""The compilers ``scalegraph-cc``, ``scalegraph-c++`` and ``scalegraph-fc``: gcc's command line, simulated programs.

``scalegraph-mpicc``, ``scalegraph-mpicxx`` and ``scalegraph-mpifort`` are the same for MPI programs (`mpi`).

Commands that query the compiler or only preprocess are passed on to it. Compiling goes through `objects`, linking
through `linking`; ``make``, configure scripts and CMake need to know nothing about it. Slow modules are imported where
they are needed: a build calls a wrapper a thousand times.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, Fault, InputError, ScaleGraphError
from scalegraph.runtime.compiler import KINDS, Compiler, compiler_command, find_compiler
from scalegraph.runtime.languages import Language, language_of
from scalegraph.toolchain import mpi
from scalegraph.toolchain.command import Command, Input, is_linked, read_command
from scalegraph.toolchain.complaints import about_mpi
from scalegraph.toolchain.flags import LEFT_OUT, is_dropped, refusal

if TYPE_CHECKING:
    from scalegraph.base.events import Event
    from scalegraph.instrument import Detail

NAMES: dict[Language, str] = {"c": "scalegraph-cc", "c++": "scalegraph-c++", "fortran": "scalegraph-fc"}
# Further names, under which builds search for the compiler.
ALSO: dict[Language, str] = {"c": "scalegraph-gcc", "c++": "scalegraph-g++", "fortran": "scalegraph-gfortran"}
_INSIDE = "SCALEGRAPH_WRAPPER"  # set in the environment of a wrapper's children
DETAIL = "SCALEGRAPH_DETAIL"  # functions, outer, all; none: no probes
FOR = "SCALEGRAPH_FOR"  # simulated, or host: native, with the monitor; like the option --for
LOOPS = "SCALEGRAPH_LOOPS"  # 1: static loops call the runtime, so that runs can choose their schedule


def cc() -> NoReturn:
    """Run as ``scalegraph-cc``."""
    sys.exit(_run("c", sys.argv[1:]))


def cxx() -> NoReturn:
    """Run as ``scalegraph-c++``."""
    sys.exit(_run("c++", sys.argv[1:]))


def fc() -> NoReturn:
    """Run as ``scalegraph-fc``."""
    sys.exit(_run("fortran", sys.argv[1:]))


def mpicc() -> NoReturn:
    """Run as ``scalegraph-mpicc``."""
    sys.exit(_run_mpi("c", sys.argv[1:]))


def mpicxx() -> NoReturn:
    """Run as ``scalegraph-mpicxx``."""
    sys.exit(_run_mpi("c++", sys.argv[1:]))


def mpifort() -> NoReturn:
    """Run as ``scalegraph-mpifort``."""
    sys.exit(_run_mpi("fortran", sys.argv[1:]))


def _run_mpi(language: Language, words: Sequence[str]) -> int:
    """Handle this process's command line as an MPI compiler does."""
    try:
        words, native = _for_host(words)
    except InputError as error:
        sys.stderr.write(f"{mpi.NAMES[language]}: error: {error}\n")
        return 1
    if native and words:
        from scalegraph.toolchain.host_mpi import host_mpi

        compiling, linking = host_mpi().options(language)
        return _run(language, [*compiling, *words], for_host=True, mpi_libraries=linking)
    said = mpi.answer(language, ALSO[language], words)  # builds search the answer for gcc, g++, gfortran
    if said is not None:
        sys.stdout.write(f"{said}\n")
        return 0
    return _run(language, [*mpi.include_options(language, first=True), *words] if words else words)


def _for_host(words: Sequence[str]) -> tuple[list[str], bool]:
    """Return *words* without ``--for X``, and whether X or `FOR` asks for a native program.

    Raises `InputError` for any other X.
    """
    left, given = list(words), os.environ.get(FOR, "")
    for at, word in enumerate(words):
        if word == "--for" or word.startswith("--for="):
            given = word.partition("=")[2] or "".join(words[at + 1 : at + 2])
            del left[at : at + (1 if "=" in word else 2)]
            break
    if given not in ("", "simulated", "host"):
        raise InputError(f"--for {given}: expected simulated or host")
    return left, given == "host"


def _run(language: Language, words: Sequence[str], *, for_host: bool = False, mpi_libraries: Sequence[str] = ()) -> int:
    """Handle this process's command line; refuse to be our own underlying compiler, which would never end."""
    if os.environ.get(_INSIDE) == language:
        behind = " ".join(compiler_command(language))
        sys.stderr.write(
            f"{NAMES[language]}: error: '{behind}', the compiler that {KINDS[language].variable} names, is this "
            f"wrapper again; name the compiler behind it in SCALEGRAPH_{KINDS[language].variable}\n"
        )
        return 1
    os.environ[_INSIDE] = language
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # as gcc: if it is ignored, a compiler's exit code is lost
    return main(language, words, for_host=for_host, mpi_libraries=mpi_libraries)


def main(language: Language, words: Sequence[str], *, for_host: bool = False, mpi_libraries: Sequence[str] = ()) -> int:
    """Do what the compiler of *language* would do with *words*; return the exit code.

    *for_host*: build natively, whatever the words and the environment say; *mpi_libraries*: words that link MPI.
    """
    try:
        words, named = _for_host(words)
        native = for_host or named
        command = read_command(words, language)
        if command.mode in ("ask", "preprocess") or "-r" in command.rest:
            return _pass_on(language, words)
        return _Work(language, command, native=native, mpi_libraries=mpi_libraries).run()
    except BuildError as error:
        sys.stderr.write(error.output or f"{NAMES[language]}: {error}\n")
        if said := about_mpi(error.output):
            sys.stderr.write(f"{NAMES[language]}: {said}\n")
        return 1
    except ScaleGraphError as error:
        for line in str(error).splitlines():
            sys.stderr.write(f"{NAMES[language]}: error: {line}\n")
        return 1
    except OSError as error:  # a full disk
        sys.stderr.write(f"{NAMES[language]}: error: {error.filename or tempfile.gettempdir()}: {error.strerror}\n")
        return 1
    except KeyboardInterrupt:
        return 130


def _said(event: Event) -> None:
    """Say once that a link waits for the first build of the simulator."""
    from scalegraph.base.events import Building
    from scalegraph.base.working_words import building_words

    if isinstance(event, Building) and event.of and not event.done:
        sys.stderr.write(f"scalegraph: {building_words(event)}\n")


def _pass_on(language: Language, words: Sequence[str]) -> int:
    """Pass the command on to the underlying compiler."""
    command = [*compiler_command(language), *words]
    try:
        os.execvp(command[0], command)
    except OSError:
        find_compiler(language)  # says what is missing
        raise


class _Work:
    """One command line that compiles or links."""

    def __init__(
        self, language: Language, command: Command, *, native: bool = False, mpi_libraries: Sequence[str] = ()
    ) -> None:
        self.native = native
        self.mpi_libraries = tuple(mpi_libraries)
        self.name = language
        self.command = command
        self.cwd = Path.cwd()
        self.cancel = CancelToken()
        self.options = tuple(word for word in command.options if not is_dropped(word, linking=False))

    def run(self) -> int:
        """Compile, and link if requested; return the exit code."""
        self._check()
        compiled = [item for item in self.command.inputs if item.compiled]
        if self.command.mode != "link":
            if self.command.output and len(compiled) > 1:
                raise InputError("cannot write several sources to one file (-o with -c and more than one source)")
            for item in compiled:
                self._compile(item, self._target(item))
            return 0
        with tempfile.TemporaryDirectory(prefix="scalegraph-cc-", ignore_cleanup_errors=True) as scratch:
            objects: dict[int, Path] = {}
            for number, item in enumerate(compiled):
                objects[item.index] = Path(scratch) / f"{Path(item.file).stem}-{number}.o"
                self._compile(item, objects[item.index])
            self._link(objects, Path(scratch))
        return 0

    def _check(self) -> None:
        linking = self.command.mode == "link"
        said = {
            word: refusal(word, linking=linking, wrapped=True) for word in self.command.rest if word.startswith("-")
        }
        faults = [Fault(f"{word} cannot be used: {why}") for word, why in said.items() if why]
        if linking:
            faults += [
                Fault("no such file", file=item.file)
                for item in self.command.inputs
                if not item.compiled and not is_linked(item.file) and not (self.cwd / item.file).exists()
            ]
        if faults:
            raise InputError(faults)

    def _target(self, item: Input) -> Path:
        suffix = ".o" if self.command.mode == "compile" else ".s"
        return Path(self.command.output or Path(item.file).with_suffix(suffix).name)  # as given: make rules name it

    def _compile(self, item: Input, target: Path) -> None:
        """Compile one source to *target*, and print the compiler's warnings."""
        from scalegraph.toolchain.objects import Compilation, Source, compile_source

        compiler = find_compiler(item.language or self.name)
        self._refuse_openmp(compiler)
        if target.exists() and (self.cwd / item.file).exists() and target.samefile(self.cwd / item.file):
            raise InputError(f"input file '{item.file}' is the same as output file")
        mode = "-S" if self.command.mode == "assemble" else "-c"
        options = [*self._with_debug(), *self._with_rule(item)]
        loops = os.environ.get(LOOPS, "") == "1"
        compilation = Compilation(compiler, tuple(options), self.cwd, self.cancel, _detail(), mode, loops, self.native)
        text = self._text(item)
        unnamed = item.language == "fortran" and language_of(item.file) != "fortran"  # only -x says what it is
        if item.language is None or text is None or unnamed:
            given = sys.stdin.read() if item.file == "-" else ""
            forced = [word for pair in self._forced(item) for word in pair]
            words = [*options, *compilation.hooks, *forced, mode, item.file, "-o", str(target)]
            result = compiler.run(words, cwd=self.cwd, stdin=given)
            if result.returncode != 0:
                raise BuildError(f"{item.file}: does not compile", result.stderr)
            sys.stderr.write(result.stderr)
            return
        made = compile_source(compilation, Source(item.file, text, item.language), target)
        sys.stderr.write(made.messages)
        if (mode, compilation.detail, loops, self.native) == ("-c", "outer", False, False):
            from scalegraph.toolchain.launching import offer

            offer(compiler)

    def _forced(self, item: Input) -> list[tuple[str, str]]:
        """Return the ``-x`` option for *item*, which is compiled unchanged."""
        rest = self.command.rest[: item.index]
        return [(word, rest[at + 1]) for at, word in enumerate(rest[:-1]) if word == "-x"][-1:]

    def _text(self, item: Input) -> str | None:
        """Return the source's text, None if only the compiler can read it or report the error."""
        try:
            content = (self.cwd / item.file).read_bytes()
        except OSError:
            return None
        return None if b"\0" in content else content.decode("utf-8", "surrogateescape")

    def _refuse_openmp(self, compiler: Compiler) -> None:
        if not self.native and compiler.clang and any(word.startswith("-fopenmp") for word in self.command.options):
            raise InputError(
                "clang's OpenMP cannot be simulated (its calls __kmpc_.. are not served): compile with gcc "
                "(SCALEGRAPH_CC=gcc), or without -fopenmp"
            )

    def _with_debug(self) -> list[str]:
        """Return the options with debug information added, which lines need."""
        return ["-g", *(word for word in self.options if word != "-g0")]

    def _with_rule(self, item: Input) -> list[str]:
        """Return the option that names the file for the make rule as gcc does; empty if no rule is requested."""
        asked = {"-MD", "-MMD"} & set(self.options)
        if not asked or "-MF" in self.options:
            return []
        return ["-MF", str(Path(self.command.output or Path(item.file).name).with_suffix(".d"))]

    def _link(self, objects: dict[int, Path], scratch: Path) -> None:
        from scalegraph.runtime.library import library
        from scalegraph.toolchain.linking import link, link_host

        compiler = find_compiler(self.name)
        for word in dict.fromkeys(self.command.rest):
            if word in LEFT_OUT:
                sys.stderr.write(f"{NAMES[self.name]}: warning: {word} is left out: {LEFT_OUT[word]}\n")
        arguments = [
            str(objects[index]) if index in objects else word
            for index, word in enumerate(self.command.rest)
            if not is_dropped(word, linking=True) and not self._is_forced(index)
        ]
        inputs = {item.index: item.file for item in self.command.inputs}
        target = Path(self.command.output or "a.out")
        names = {path: inputs[index] for index, path in objects.items()}
        if self.native:
            from scalegraph.runtime.monitor.library import monitor
            from scalegraph.toolchain.host_mpi import host_mpi

            observed = monitor(find_compiler(), host_mpi().options("c")[0] if self.mpi_libraries else ()).link
            output = link_host(
                compiler,
                [*arguments, *self.mpi_libraries],
                target,
                names=names,
                cwd=self.cwd,
                cancel=self.cancel,
                observed=observed,
            )
        else:
            arguments.append(str(self._record(scratch)))
            output = link(
                compiler,
                library(find_compiler(), _said, self.cancel),
                arguments,
                target,
                names=names,
                cwd=self.cwd,
                cancel=self.cancel,
            )
        sys.stderr.write(output)

    def _record(self, scratch: Path) -> Path:
        """Return a source in *scratch* that records how the program would be linked without us, for `control.plain`."""
        from scalegraph.instrument.units import LinkCommand, link_record

        compiled = {item.index for item in self.command.inputs if item.compiled}
        words = [
            word
            for index, word in enumerate(self.command.rest)
            if index not in compiled and word not in LEFT_OUT and not self._is_forced(index)
        ]
        path = scratch / "record.s"
        path.write_text(link_record(LinkCommand(str(self.cwd), tuple(words))), encoding="utf-8")
        return path

    def _is_forced(self, index: int) -> bool:
        """Return whether a word is part of an ``-x`` option: objects are not sources."""
        rest = self.command.rest
        return rest[index] == "-x" or (index > 0 and rest[index - 1] == "-x") or rest[index].startswith("-xc")


def _detail() -> Detail | None:
    """Return which loops get probes, from the environment."""
    given = os.environ.get(DETAIL, "outer")
    if given not in ("functions", "outer", "all", "none"):
        raise InputError(f"{DETAIL}={given}: expected functions, outer, all or none")
    return None if given == "none" else cast("Detail", given)


if __name__ == "__main__":
    for_mpi, name = sys.argv[1].startswith("mpi-"), cast("Language", sys.argv[1].removeprefix("mpi-"))
    sys.exit((_run_mpi if for_mpi else _run)(name, sys.argv[2:]))
