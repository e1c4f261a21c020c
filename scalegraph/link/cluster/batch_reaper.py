"""Deletes a cluster's batch jobs, running or queued, when the process that submitted them was killed.

``python -m scalegraph.link.cluster.batch_reaper KIND`` reads job numbers from standard input. End of input means that
the submitter is gone: it deletes those jobs and exits.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from typing import Any, Final, Self

from scalegraph.link.cluster.batch_workers import delete, living

_MODULE: Final = "scalegraph.link.cluster.batch_reaper"
_LOOKS: Final = 10  # attempts to list the batch jobs, while the system does not answer or some are left
_LOOK_S: Final = 5.0


class Reaper:
    """The reaper's process, told of each batch job of the system *kind*; close it once they are deleted."""

    def __init__(self, kind: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", _MODULE, kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # survives what ends a terminal or a process group
            text=True,
        )

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(self, *_error: object) -> None:
        """End the process: the batch jobs are already deleted."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def hear(self, number: str) -> None:
        """Tell the process about the batch job *number*."""
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.write(f"{number}\n")
            self._process.stdin.flush()

    def jobs_of(self, kind: Any) -> Any:
        """Return dask-jobqueue's job class for the cluster class *kind*, extended to report job numbers here."""
        hear = self.hear

        class Heard(kind.job_cls):  # type: ignore[misc]
            async def start(self) -> None:
                await super().start()
                hear(str(self.job_id))

        return Heard


def main() -> None:
    """Read batch job numbers until standard input ends, then delete those jobs."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    kind, numbers = sys.argv[1], {line.strip() for line in sys.stdin}
    for look in range(_LOOKS if numbers else 0):
        if look:
            time.sleep(_LOOK_S)
        there = living(kind)
        if there is not None and not there & numbers:
            return
        delete(kind, numbers)


if __name__ == "__main__":
    main()
