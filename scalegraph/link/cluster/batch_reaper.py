"""What deletes a cluster's batch jobs when the process that submitted them was killed, also those that still wait.

``python -m scalegraph.link.cluster.batch_reaper KIND`` reads numbers of batch jobs from standard input. When that ends,
whoever submitted them is gone; it deletes those that wait or run, and ends.
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
_LOOKS: Final = 10  # at the list of batch jobs, while the system does not answer or still has some
_LOOK_S: Final = 5.0


class Reaper:
    """A process of its own that hears of each batch job of the system *kind*; to be closed when they are deleted."""

    def __init__(self, kind: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", _MODULE, kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # what ends a terminal or a group of processes does not end it
            text=True,
        )

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(self, *_error: object) -> None:
        """End the process: the batch jobs are deleted already."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def hear(self, number: str) -> None:
        """Let the process know of the batch job *number*."""
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.write(f"{number}\n")
            self._process.stdin.flush()

    def jobs_of(self, kind: Any) -> Any:
        """Return the class of dask-jobqueue's jobs of the cluster class *kind*, which report their numbers to this."""
        hear = self.hear

        class Heard(kind.job_cls):  # type: ignore[misc]
            async def start(self) -> None:
                await super().start()
                hear(str(self.job_id))

        return Heard


def main() -> None:
    """Delete the batch jobs whose numbers were read, once standard input has ended."""
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
