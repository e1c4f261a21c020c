"""Block times of a large program, found as a run first executes its functions."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scalegraph.instrument.functions.known import known_table
from scalegraph.link.build import Build
from scalegraph.link.timing import LARGE, digest, timed
from scalegraph.machine import Machine
from scalegraph.runtime.cache import cache_root, get_or_make, tidy, touch

if TYPE_CHECKING:
    from scalegraph.instrument.plain import Plain

_LIMIT_BYTES: Final = 256 * 2**20
_TABLE: Final = "blocks"
_MODULE: Final = "scalegraph.instrument.functions.answers"
_LONGEST: Final = 100  # bytes of a socket's path
_PATIENCE_S: Final = 60.0  # for a process that has answered, to keep what it knows


def may_ask(build: Build, machine: Machine, plain: Plain | None, place: Path) -> bool:
    """Return whether a run in the directory *place* may ask for block times: if all of them would take long."""
    return (
        machine.processor.pipeline.is_given
        and machine.branches.penalty_cycles > 0
        and build.executable.stat().st_size >= LARGE
        and (plain is None or build.places is not None)
        and len(os.fsencode(place / "rows")) <= _LONGEST
        and timed(build, machine, plain) is None
    )


@contextlib.contextmanager
def asked_rows(build: Build, machine: Machine, plain: Plain | None, place: Path) -> Iterator[dict[str, str]]:
    """Give a run's configuration: a block table with what is known of the times, and where it asks for the rest.

    Its files are in the directory *place*. Raises as `timing.timed_blocks`.
    """
    key = digest(build, machine, plain)[:32]
    base = _unknown(build, key)
    known = cache_root() / "known" / key
    fresh = known_table(known) is None
    request = {
        "table": str(base),
        "known": str(known),
        "program": str(build.executable),
        "processor": machine.processor.model_dump(mode="json"),
        "lines": None if plain is None else str(build.places),
        "plain": None if plain is None else [str(plain.executable), str(plain.places)],
    }
    if not fresh:
        touch(known)
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listening.bind(str(place / "rows"))
        listening.listen(1)
        server = _Server(request, listening)
        stack.callback(server.end)
        if fresh:  # the program asks at once; its time limit should not include reading it
            server.start()
            server.wait()
        else:
            server.start_when_asked()
        yield {"run.blocks_path": str(base if fresh else known), "run.rows_path": str(place / "rows")}
    tidy(known.parent, _LIMIT_BYTES, keep=known)


def _unknown(build: Build, key: str) -> Path:
    """Return the block table of *build* in which no times are known, from the cache."""

    def make(place: Path) -> None:
        from scalegraph.instrument.functions.rows import unknown_table  # imports numpy and the reader of executables
        from scalegraph.instrument.image import Image

        sites = Image(build.executable).hook_sites()
        (place / _TABLE).write_bytes(unknown_table(build.blocks.read_bytes(), [int(site) for site in sites]))

    parent = cache_root() / "unknown"
    directory = get_or_make(parent / key, make)
    tidy(parent, _LIMIT_BYTES, keep=directory)
    return directory / _TABLE


class _Server:
    """A process that answers on the socket *listening*, started at most once."""

    def __init__(self, request: dict[str, Any], listening: socket.socket) -> None:
        self._request, self._listening = request, listening
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._stop, self._stopped = os.pipe()

    def start(self) -> None:
        """Start it; if that fails, the run says that it cannot be reached."""
        number = self._listening.fileno()
        try:
            process = self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", _MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(number,),
            )
            assert process.stdin is not None
            process.stdin.write(json.dumps({**self._request, "socket": number}).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            pass
        finally:
            self._listening.close()  # so that the run notices when the process ends

    def wait(self) -> None:
        """Wait until it has read the program, or has failed to."""
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.readline()

    def start_when_asked(self) -> None:
        """Start it when the run connects."""
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        stop = self._stop
        ready, _, _ = select.select([self._listening.fileno(), stop], [], [])
        if stop not in ready:
            self.start()

    def end(self) -> None:
        """Let it end: if the run has asked, after it has kept what it knows."""
        os.close(self._stopped)
        if self._thread is not None:
            self._thread.join()
        os.close(self._stop)
        process = self._process
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        with process, contextlib.suppress(OSError):
            process.stdin.close()
            has_answered = bool(select.select([process.stdout], [], [], 0)[0])
            if has_answered:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_PATIENCE_S)
            process.kill()
