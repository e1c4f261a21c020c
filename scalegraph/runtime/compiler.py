"""The user's compilers: which ones there are, and whether they meet the simulated target's needs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import MissingTool
from scalegraph.base.patterns import pattern
from scalegraph.runtime.cache import cache_root
from scalegraph.runtime.languages import Language
from scalegraph.runtime.tools import call

MINIMUM_VERSION = 10
_FOREIGN = pattern(r"/usr/(?:local/)?(?:[^/]+/)?(?:include|lib)/|.*/include/c\+\+/|.*/lib/gcc/")
INSTALL = "install one with: apt-get install gcc libc6-dev"


def is_foreign(file: str) -> bool:
    """Return whether *file* belongs to the compiler or the system, judged by its name, not to the program."""
    return _FOREIGN.match(file) is not None


@dataclass(frozen=True)
class _Kind:
    """How to find a language's compiler: by an environment variable, or else by its usual name."""

    variable: str
    usual: str
    words: str
    package: str

    @property
    def install(self) -> str:
        return f"install one with: apt-get install {self.package}"


KINDS: dict[Language, _Kind] = {
    "c": _Kind("CC", "gcc", "C compiler", "gcc libc6-dev"),
    "c++": _Kind("CXX", "g++", "C++ compiler", "g++"),
    "fortran": _Kind("FC", "gfortran", "Fortran compiler", "gfortran"),
}


@dataclass(frozen=True)
class Compiler:
    """A compiler found usable. *command*: how to call it (``CC`` may include options)."""

    command: tuple[str, ...]
    version: str
    target: str
    language: Language = "c"
    clang: bool = False

    @property
    def identity(self) -> str:
        """Identifies this compiler: path, version and target."""
        path = shutil.which(self.command[0]) or self.command[0]
        return "\n".join([str(Path(path).resolve()), *self.command[1:], self.version, self.target])

    @property
    def architecture(self) -> str:
        """The architecture that it compiles for, in the target's spelling: ``x86_64``, ``aarch64``."""
        return self.target.partition("-")[0]

    @property
    def hooks(self) -> tuple[str, ...]:
        """Options that make this compiler plant the hooks of the simulated target (see docs/ARCHITECTURE.md).

        Large frames are touched page by page, so that none skips the guard page of a simulated thread's stack.
        ipa-reference must be off: with it gcc assumes that the instrumentation's fence leaves a file's static variables
        alone, and moves the read out of a loop that waits for one to change. The program must not see that a
        sanitizer's hooks are used: some behave differently then. Only lines and static variables are read from debug
        information: finding out where optimized code has its local variables takes gcc a sixth of its time.
        """
        inline = ("-mno-outline-atomics",) if self.architecture == "aarch64" else ()
        if self.clang:
            return ("-fsanitize=thread", "-fsanitize-coverage=trace-pc", "-fno-pic", "-fno-pie", *inline)
        return (
            "-fsanitize=thread",
            "-fsanitize-coverage=trace-pc",
            "-fno-pic",
            "-fno-pie",
            "-fno-lto",
            "-fno-ipa-reference",
            "-fstack-clash-protection",
            "-fno-var-tracking",
            "-fno-var-tracking-assignments",
            *self.linking,
            *inline,
            *(() if self.language == "fortran" else ("-Wno-tsan", "-U__SANITIZE_THREAD__")),
        )

    @property
    def native(self) -> tuple[str, ...]:
        """Options for native programs: region numbers are linker constants."""
        return ("-fno-pic", "-fno-pie", *self.linking)

    @property
    def linking(self) -> tuple[str, ...]:
        """Linker options: OpenMP target regions run on the host, so no compilers for other devices are searched."""
        return () if self.clang else ("-foffload=disable",)

    def tool(self, name: str) -> str:
        """Return the binary utility *name* that can read this compiler's objects: a cross compiler has its own."""
        return _tool(self, name)

    def run(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path | None = None,
        stdin: str = "",
        cancel: CancelToken | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run the compiler; its messages are untranslated, so that they can be recognised.

        Raises `Cancelled` when *cancel* requests it (the compiler and its children are then ended), `WorkError` if the
        disk is full.
        """
        return call([*self.command, *arguments], cwd=cwd, stdin=stdin, cancel=cancel, env={"LC_ALL": "C"})


@cache
def _tool(compiler: Compiler, name: str) -> str:
    return compiler.run([f"-print-prog-name={name}"]).stdout.strip() or name


def compiler_command(language: Language) -> tuple[str, ...]:
    """Return the command of the compiler of *language*: from ``SCALEGRAPH_CC`` or ``CC``, otherwise ``gcc``.

    The same with ``CXX`` and ``FC``. Our own wrappers are skipped: they need the compiler behind them.
    """
    kind = KINDS[language]
    for variable in (f"SCALEGRAPH_{kind.variable}", kind.variable):
        command = tuple(shlex.split(os.environ.get(variable, "")))
        if command and not Path(command[0]).name.startswith("scalegraph-"):
            return command
    return (kind.usual,)


def find_compiler(language: Language = "c") -> Compiler:
    """Return the compiler of *language*, see `compiler_command`; the result is cached.

    Raises `MissingTool`, saying what to install, if there is none or it is unsuitable. Suitable are gcc 10 and newer
    for x86-64 and aarch64, and clang for C and C++ programs without OpenMP.
    """
    kind = KINDS[language]
    command = compiler_command(language)
    path = shutil.which(command[0])
    if path is None:
        named = (
            f"the {kind.words} '{' '.join(command)}'" if command != (kind.usual,) else f"a {kind.words} ({kind.usual})"
        )
        raise MissingTool(f"{named} was not found; {kind.install}")
    status = Path(path).resolve().stat()
    known = json.dumps([language, command, path, status.st_ino, status.st_mtime_ns, status.st_size, 1])
    note = cache_root() / "compilers" / f"{hashlib.sha256(known.encode()).hexdigest()[:24]}.json"
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads(note.read_text(encoding="utf-8"))
        return Compiler(command, found["version"], found["target"], language, found["clang"])
    compiler = _examined(language, command)
    with contextlib.suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        fresh = note.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(asdict(compiler)), encoding="utf-8")
        fresh.replace(note)
    return compiler


def _examined(language: Language, command: tuple[str, ...]) -> Compiler:
    """Ask the compiler for its identity; raise `MissingTool` if it is unsuitable."""
    kind = KINDS[language]
    shown = " ".join(command)
    macros = _macros(command, kind)
    if "__clang__" in macros:
        if language == "fortran":
            raise MissingTool(f"'{shown}' is flang; gfortran {MINIMUM_VERSION} or newer is needed; {kind.install}")
        version = ".".join(macros.get(f"__clang_{part}__", "0") for part in ("major", "minor", "patchlevel"))
    else:
        version = ".".join(macros.get(name, "0") for name in ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"))
        if int(macros.get("__GNUC__", "0")) < MINIMUM_VERSION:
            raise MissingTool(
                f"'{shown}' is gcc {version}; gcc {MINIMUM_VERSION} or newer is needed; {kind.install}, "
                f"or set {kind.variable}"
            )
    target = subprocess.run([*command, "-dumpmachine"], capture_output=True, text=True, check=False).stdout.strip()
    if macros.keys().isdisjoint(("__x86_64__", "__aarch64__")) or "__linux__" not in macros:
        raise MissingTool(f"'{shown}' compiles for {target}; the simulated target needs x86-64 or aarch64 Linux")
    return Compiler(command, version, target, language, "__clang__" in macros)


def _macros(command: tuple[str, ...], kind: _Kind) -> dict[str, str]:
    what = f"the {kind.words} '{' '.join(command)}'"
    try:
        result = subprocess.run(
            [*command, "-dM", "-E", "-x", "c" if kind.variable != "CXX" else "c++", "/dev/null"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise MissingTool(f"{what} cannot be run: {error}; {kind.install}") from error
    if result.returncode != 0:
        said = result.stderr.strip().splitlines()[-1:] or ["no message"]
        raise MissingTool(f"{what} does not work: {said[0]}; {kind.install}")
    words = (line.split(maxsplit=2) for line in result.stdout.splitlines())
    return {word[1]: word[2] if len(word) > 2 else "" for word in words if len(word) > 1}
