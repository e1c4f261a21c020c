"""One run through a pipe: a command that starts `main` on another computer gets the order and gives the answer.

``ssh HOST python -m scalegraph.link.cluster.piped`` or ``srun python -m ..``: no files, no network of our own, no Dask.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import RunError
from scalegraph.base.files import reason
from scalegraph.base.run import RunRecord
from scalegraph.link.cluster import frames
from scalegraph.link.cluster.answers import accepted
from scalegraph.link.cluster.order import Parcel, pack_order
from scalegraph.link.job import Job, cancelled

VARIABLE: Final = "SCALEGRAPH_REMOTE_PYTHON"
_MODULE: Final = "scalegraph.link.cluster.piped"
_POLL_S: Final = 0.2
_SHOWN: Final = 500  # characters of what the command says when it fails


def python() -> list[str]:
    """Return the words that start the other end: Python there is what the variable says, or at the path of this one."""
    return [*shlex.split(os.environ.get(VARIABLE, sys.executable)), "-m", _MODULE]


def measured_there(command: Sequence[str], job: Job, cancel: CancelToken | None) -> RunRecord:
    """Return the record of *job*, measured by target ``host`` of the computer where *command* starts `main`.

    The record's machine is the name of that computer. Raises `RunError` when the command fails or its answer is not
    accepted.
    """
    parcel = Parcel(job.build)
    with tempfile.TemporaryFile() as given:  # through a pipe, `communicate` forgets what is left at a time-out
        given.write(frames.pack({}, pack_order(job, parcel, target="host"), parcel.data))
        given.seek(0)
        try:
            child = subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            raise RunError(f"'{command[0]}' cannot be started: {reason(error)}") from error
    with child:
        while True:
            try:
                out, err = child.communicate(timeout=_POLL_S)
                break
            except subprocess.TimeoutExpired:
                if cancel is not None and cancel.cancelled:
                    child.terminate()
                    child.communicate()
                    return cancelled(job)
    at = out.find(frames.MAGIC)  # a shell's greeting may come first
    if child.returncode or at < 0:
        lines = err.decode("utf-8", "replace").strip().splitlines()
        raise RunError(f"'{command[0]}' failed: {lines[-1][-_SHOWN:] if lines else f'exit code {child.returncode}'}")
    return accepted(out[at:], job, source="measured")


def main() -> None:
    """Read an order and its program from standard input, carry it out, write the answer to standard output."""
    from scalegraph.link.cluster.worker import answered

    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _head, (order, parcel) = frames.unpack(sys.stdin.buffer.read())
    with out:
        out.write(answered(order, parcel, CancelToken()))


if __name__ == "__main__":
    main()
