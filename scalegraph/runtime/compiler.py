"""The user's C compiler: which one, and whether it can do what the simulated target needs."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import MissingTool, WorkError
from scalegraph.runtime.cache import cache_root

MINIMUM_VERSION = 10
_POLL_S = 0.1
INSTALL = "install one with: apt-get install gcc libc6-dev"


@dataclass(frozen=True)
class Compiler:
    """A gcc that was found usable. *command* is how it is called (``CC`` may carry options)."""

    command: tuple[str, ...]
    version: str
    target: str

    @property
    def identity(self) -> str:
        """What tells this compiler from another one: path, version and target."""
        path = shutil.which(self.command[0]) or self.command[0]
        return "\n".join([str(Path(path).resolve()), *self.command[1:], self.version, self.target])

    def run(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path | None = None,
        stdin: str = "",
        cancel: CancelToken | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Call the compiler; messages come untranslated, so that they can be recognised.

        Raises `Cancelled` when *cancel* asks for it (the compiler and what it started are then ended), `WorkError` when
        the disk is full.
        """
        command = [*self.command, *arguments]
        process = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
        )
        given: str | None = stdin
        try:
            while True:
                try:
                    out, err = process.communicate(given, timeout=_POLL_S)
                    if process.returncode and "No space left on device" in err:
                        where = f"the cache in {cache_root()}, temporary files in {tempfile.gettempdir()}"
                        raise WorkError(f"the compiler cannot write its output: the disk is full ({where})")
                    return subprocess.CompletedProcess(command, process.returncode, out, err)
                except subprocess.TimeoutExpired:
                    given = None  # communicate goes on where it was
                    if cancel is not None:
                        cancel.check()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise


def find_compiler() -> Compiler:
    """Return the compiler that ``CC`` names, else ``gcc``.

    Raises `MissingTool` with what to install when there is none, or when it is not gcc 10 or newer for x86-64.
    """
    named = os.environ.get("CC", "").strip()
    command = tuple(shlex.split(named)) if named else ("gcc",)
    what = f"the compiler '{named}' that CC names" if named else "a C compiler (gcc)"
    if shutil.which(command[0]) is None:
        raise MissingTool(f"{what} was not found; {INSTALL}")
    macros = _macros(command, what)
    if "__clang__" in macros:
        raise MissingTool(
            f"'{' '.join(command)}' is clang; gcc {MINIMUM_VERSION} or newer is needed: set CC=gcc; {INSTALL}"
        )
    major = int(macros.get("__GNUC__", "0"))
    version = ".".join(macros.get(name, "0") for name in ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"))
    if major < MINIMUM_VERSION:
        raise MissingTool(
            f"'{' '.join(command)}' is gcc {version}; gcc {MINIMUM_VERSION} or newer is needed; {INSTALL}, or set CC"
        )
    target = subprocess.run([*command, "-dumpmachine"], capture_output=True, text=True, check=False).stdout.strip()
    if "__x86_64__" not in macros or "__linux__" not in macros:
        raise MissingTool(f"'{' '.join(command)}' compiles for {target}; the simulated target needs x86-64 Linux")
    return Compiler(command, version, target)


def _macros(command: tuple[str, ...], what: str) -> dict[str, str]:
    try:
        result = subprocess.run(
            [*command, "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise MissingTool(f"{what} cannot be run: {error}; {INSTALL}") from error
    if result.returncode != 0:
        raise MissingTool(f"{what} does not work: {result.stderr.strip().splitlines()[-1:] or 'no message'}; {INSTALL}")
    words = (line.split(maxsplit=2) for line in result.stdout.splitlines())
    return {word[1]: word[2] if len(word) > 2 else "" for word in words if len(word) > 1}
