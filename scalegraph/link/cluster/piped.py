"""One run through a pipe: a command that starts `main` on another computer gets the order and returns the answer.

``ssh HOST python -m scalegraph.link.cluster.piped`` or ``srun python -m ..``: no files, no network of our own, no Dask.
The other end sends a greeting before it runs anything: without it, the place is at fault, not the run. The pipe to the
other end stays open while the answer is wanted. When it closes, the program there is stopped, so none outlives a
ScaleGraph that was interrupted or killed.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Final

import scalegraph
from scalegraph.base.cancel import AnyToken, CancelToken
from scalegraph.base.errors import LinkLost, RunError
from scalegraph.base.files import reason
from scalegraph.base.run import RunRecord
from scalegraph.link.cluster import frames
from scalegraph.link.cluster.answers import accepted
from scalegraph.link.cluster.order import Parcel, measured_by, pack_order
from scalegraph.link.cluster.sentences import Sentences
from scalegraph.link.job import Job, cancelled

VARIABLE: Final = "SCALEGRAPH_REMOTE_PYTHON"
_MODULE: Final = "scalegraph.link.cluster.piped"
_GREETING: Final = b"ScaleGraph begins\n"
_DESCRIBE: Final = "--describe"
_DESCRIBED_S: Final = 30
_POLL_S: Final = 0.2
_GRACE_S: Final = 10.0  # for a command to end by itself
_SHOWN: Final = 500  # characters of a failed command's output
_LINES: Final = 3  # .. and its last lines
_NO_PYTHON: Final = re.compile(r"No module named '?scalegraph|No such file|not found", re.IGNORECASE)
_SILENT: Final = Sentences()


def python() -> list[str]:
    """Return the words that start the other end: the Python named by the variable, or the path of this one."""
    return [*shlex.split(os.environ.get(VARIABLE, sys.executable)), "-m", _MODULE]


def python_here() -> list[str]:
    """Return the words that start the other end on this computer, in a batch job whose nodes run the ranks."""
    return [sys.executable, "-m", _MODULE]


def measured_there(
    command: Sequence[str],
    job: Job,
    cancel: CancelToken | None,
    place: str,
    lost: int | None = None,
    *,
    settings: Mapping[str, str] | None = None,
    sentences: Sentences = _SILENT,
) -> RunRecord:
    """Return the record of *job*, measured by target ``host``, or ``mpi``, where *command* starts `main`.

    The record's machine is the name of that computer, or of the nodes of the command's batch job. *place*: its name in
    sentences; *lost*: the command's exit code for a lost connection; *settings*: of the target there; *sentences*:
    messages that the command itself may print. Raises `LinkLost` if other runs would fail too: the command reaches no
    ScaleGraph, or loses the connection. Raises `RunError` if the run was ended there or its answer is rejected.
    """
    parcel = Parcel(job.build)
    order = frames.pack({}, pack_order(job, parcel, measured_by(job), settings), parcel.data)
    said = _said(command, order, cancel or CancelToken(), sentences)
    if said is None:
        return cancelled(job)
    if not said.begun and (refused := sentences.refused.search(said.words)):
        raise RunError(f"{place}: the run gets no nodes: {said.words[refused.start() :].partition(';')[0]}")
    if said.code != lost and (said.code if said.begun else sentences.ended.search(said.words)):
        raise RunError(f"{place}: the run was ended there: {said.words}")
    return accepted(_whole(said, place), job, source="measured")


def describe(command: Sequence[str], place: str, cancel: CancelToken | None = None) -> str:
    """Return what *command*, which starts `main`, finds there: ScaleGraph's version, architecture, processors, host.

    Raises `LinkLost` if there is none, or another version, or no answer within half a minute; `Cancelled`.
    """
    stop = AnyToken(cancel or CancelToken())
    late = threading.Timer(_DESCRIBED_S, stop.cancel)
    late.start()
    said = _said([*command, _DESCRIBE], None, stop)
    late.cancel()
    if cancel is not None:
        cancel.check()
    if said is None:
        raise LinkLost(f"{place}: no answer in {_DESCRIBED_S} s")
    head, _blobs = frames.unpack(_whole(said, place))
    if head["version"] != scalegraph.__version__:
        raise LinkLost(f"{place}: it has ScaleGraph {head['version']}; {scalegraph.__version__} was expected, as here")
    return f"{head['host']}: ScaleGraph {head['version']}, {head['architecture']}, {head['processors']} processors"


@dataclass(frozen=True)
class _Said:
    """How a command ended: its exit *code*, whether the other end had *begun*, its *answer*, its last *words*."""

    code: int
    begun: bool
    answer: bytes
    words: str


def _said(
    command: Sequence[str], order: bytes | None, stop: CancelToken, sentences: Sentences = _SILENT
) -> _Said | None:
    """Run *command* with *order* as input; return how it ended, or None after a request to *stop*, which ends it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with _started(command, order, out, err) as child:
            while child.poll() is None and not stop.cancelled and not sentences.hopeless.search(_written(err)):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(_POLL_S)
        if stop.cancelled:
            return None
        out.seek(0)
        err.seek(0)
        _login, greeting, answer = out.read().partition(_GREETING)  # a login may print something first
        words = last_lines(err.read(), sentences.progress) or f"'{command[0]}' ended with exit code {child.returncode}"
        return _Said(child.returncode, bool(greeting), answer, words)


def _whole(said: _Said, place: str) -> bytes:
    """Return the answer of a command that ended normally; raise `LinkLost` otherwise."""
    if said.begun and not said.code:
        return said.answer
    hint = f"; set {VARIABLE} to a Python there that has ScaleGraph" if _NO_PYTHON.search(said.words) else ""
    what = "the connection was lost" if said.begun else "no ScaleGraph answers there"
    raise LinkLost(f"{place}: {what}: {said.words}{hint}")


@contextlib.contextmanager
def _started(
    command: Sequence[str], order: bytes | None, out: IO[bytes], err: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """Yield *command*, which gets *order* through a pipe that stays open; stop it at the end if it still runs.

    It has its own session: Ctrl+C in the terminal goes to ScaleGraph only, which then ends it.
    """
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err, start_new_session=True)
    except OSError as error:
        raise RunError(f"'{command[0]}' cannot be started: {reason(error)}") from error
    pipe = child.stdin
    assert pipe is not None

    def write() -> None:
        with contextlib.suppress(OSError):  # a command that has ended reads nothing
            frames.write(pipe, order or b"")

    writer = threading.Thread(target=write, daemon=True, name="order")
    writer.start()
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        writer.join()
        with contextlib.suppress(OSError):
            pipe.close()


def _written(file: IO[bytes]) -> str:
    """Return the beginning of what a command wrote into *file*, without moving the file position."""
    return os.pread(file.fileno(), 4096, 0).decode("utf-8", "replace")


def last_lines(data: bytes, progress: re.Pattern[str]) -> str:
    """Return the last lines of a command's output, without its *progress*."""
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    lines = [line for line in lines if not progress.search(line)]
    return "; ".join(lines[-_LINES:])[-_SHOWN:]


def main() -> None:
    """Read an order and its program from standard input, carry it out, write the answer to standard output."""
    from scalegraph.link.cluster.worker import answered

    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if sys.argv[1:] == [_DESCRIBE]:
        processors = len(os.sched_getaffinity(0))
        values = {"host": socket.gethostname(), "architecture": platform.machine(), "processors": processors}
        out.write(_GREETING + frames.pack({"version": scalegraph.__version__, **values}))
        out.flush()
        return
    data = frames.read(sys.stdin.buffer)
    if not data:
        sys.exit("the order of a run is cut off")
    _head, (order, parcel) = frames.unpack(data)
    stop = CancelToken()
    revoked = threading.Event()

    def revoke(_signal: int, _frame: object) -> None:
        revoked.set()
        stop.cancel()

    def listen() -> None:
        while os.read(0, 1):
            pass
        stop.cancel()

    signal.signal(signal.SIGTERM, revoke)
    threading.Thread(target=listen, daemon=True, name="listener").start()
    with out:
        out.write(_GREETING)
        out.flush()
        answer = answered(order, parcel, stop)
        if revoked.is_set():
            sys.exit(128 + signal.SIGTERM)
        out.write(answer)


if __name__ == "__main__":
    main()
