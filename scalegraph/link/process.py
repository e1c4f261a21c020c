"""A child process with limits, whose outcome is data: nothing here knows what it computes."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from scalegraph.base.cancel import CancelToken
from scalegraph.link.emulator import emulator

_POLL_S = 0.05  # how long a request to stop, or the time limit, may go unnoticed
_GRACE_S = 2.0  # between SIGTERM and SIGKILL
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Command:
    """What to start: *launcher* starts *executable*, which gets *arguments* (the first is its name).

    Either may be for another architecture than the host's; it then runs under an emulator, see `emulator`.
    """

    launcher: Path
    executable: Path
    arguments: Sequence[str]
    env: Mapping[str, str]
    cwd: Path | None = None
    stdin: Path | bytes | None = None


@dataclass(frozen=True)
class Outcome:
    """How a child ended. *exit_code* or *signal* is set, the other is ``None``.

    *host_cpu_s*, *host_bytes*: its processor time and peak memory on the host.
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    cancelled: bool
    stdout: str
    stderr: str
    truncated: tuple[str, ...]  # names of truncated streams
    host_s: float
    host_cpu_s: float | None = None
    host_bytes: int | None = None


@dataclass
class _Child:
    """A started process; *cpu_s*, *memory_bytes*: its processor time and largest memory, once it has ended."""

    process: subprocess.Popen[bytes]
    cpu_s: float | None = None
    memory_bytes: int | None = None

    def ended(self, *, wait: bool = False) -> bool:
        """Return whether the process has ended; *wait* until it has."""
        if self.process.returncode is not None:
            return True
        try:
            pid, status, usage = os.wait4(self.process.pid, 0 if wait else os.WNOHANG)
        except ChildProcessError:  # where SIGCHLD is ignored
            self.process.wait()
            return True
        if not pid:
            return False
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.memory_bytes = usage.ru_maxrss * 1024
        return True


class _Stream:
    """The kept beginning of an output stream."""

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.limit = limit
        self.kept = bytearray()
        self.truncated = False

    def add(self, data: bytes) -> None:
        room = self.limit - len(self.kept)
        self.kept += data[:room]
        self.truncated |= len(data) > room

    def text(self) -> str:
        return self.kept.decode("utf-8", "replace")


def run(command: Command, *, time_s: float, output_bytes: int, cancel: CancelToken) -> Outcome:
    """Run *command* to its end, its time limit or a request to stop; never leaves a child behind.

    At *time_s* host seconds the child gets SIGTERM, and SIGKILL two seconds later; a request to stop kills at once. The
    first *output_bytes* of each output stream are kept. Raises `OSError` if it cannot be started.
    """
    streams = (_Stream("standard output", output_bytes), _Stream("standard error", output_bytes))
    begin = time.monotonic()
    child = _start(command)
    try:
        timed_out, cancelled = _follow(child, streams, begin + time_s, cancel)
    finally:
        _kill(child, signal.SIGKILL)  # including anything the program may have started
        child.ended(wait=True)
        for pipe in (child.process.stdout, child.process.stderr):
            if pipe is not None:
                pipe.close()
    code = child.process.returncode
    return Outcome(
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        timed_out=timed_out,
        cancelled=cancelled,
        stdout=streams[0].text(),
        stderr=streams[1].text(),
        truncated=tuple(stream.name for stream in streams if stream.truncated),
        host_s=time.monotonic() - begin,
        host_cpu_s=child.cpu_s,
        host_bytes=child.memory_bytes,
    )


def _start(command: Command) -> _Child:
    with contextlib.ExitStack() as stack:
        source: IO[bytes] | int = subprocess.DEVNULL
        if isinstance(command.stdin, Path):
            source = stack.enter_context(command.stdin.open("rb"))
        elif command.stdin is not None:
            source = stack.enter_context(_memory_file(command.stdin))
        return _Child(
            subprocess.Popen(
                _words(command),
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=command.cwd,
                env=dict(command.env),
                start_new_session=True,
            )
        )


def _words(command: Command) -> list[str]:
    """Return the command line; under an emulated launcher, the program's emulator is started as a host program."""
    launcher = [*emulator(command.launcher), str(command.launcher), str(os.getpid())]
    emulated = emulator(command.executable)
    if not emulated:
        return [*launcher, str(command.executable), *command.arguments]
    name, *arguments = command.arguments
    return [*launcher, emulated[0], *emulated, "-0", name, str(command.executable), *arguments]


def _memory_file(data: bytes) -> IO[bytes]:
    handle = os.fdopen(os.memfd_create("stdin"), "w+b")
    handle.write(data)
    handle.seek(0)
    return handle


def _follow(child: _Child, streams: tuple[_Stream, _Stream], deadline: float, cancel: CancelToken) -> tuple[bool, bool]:
    """Collect output until the child ends; return whether the time limit, and whether the user, stopped it."""
    timed_out = False
    with selectors.DefaultSelector() as selector:
        for pipe, stream in zip((child.process.stdout, child.process.stderr), streams, strict=True):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, stream)
        while True:
            ended = _wait(child, selector)
            if ended:
                _kill(child, signal.SIGKILL)  # a process that it started may hold the pipes open
                _drain(selector)
                return timed_out, False
            if cancel.cancelled:
                return timed_out, True
            if time.monotonic() >= deadline:
                if timed_out:
                    return True, False
                timed_out = True
                deadline = time.monotonic() + _GRACE_S
                _kill(child, signal.SIGTERM)


def _wait(child: _Child, selector: selectors.BaseSelector) -> bool:
    """Wait a moment for output or the end; return whether the child ended."""
    if selector.get_map():
        _read(selector)
    elif not child.ended():  # it closed its streams
        time.sleep(_POLL_S)
    return child.ended()


def _read(selector: selectors.BaseSelector, wait_s: float = _POLL_S) -> bool:
    """Read available output, waiting up to *wait_s*; return whether there was any."""
    ready = selector.select(wait_s)
    for key, _ in ready:
        data = os.read(key.fd, _CHUNK)
        if data:
            key.data.add(data)
        else:
            selector.unregister(key.fileobj)
    return bool(ready)


def _drain(selector: selectors.BaseSelector) -> None:
    """Read what is left in the pipes; bounded, since a runaway process might keep filling them."""
    for _ in range(64):
        if not selector.get_map() or not _read(selector, 0):
            return


def _kill(child: _Child, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.process.pid, number)
