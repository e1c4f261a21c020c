"""A Dask scheduler or worker on a computer reached by SSH: ``python -m scalegraph.link.cluster.attended``.

The first line of standard input says which of the two it is and carries the certificates: other accounts can read a
process's arguments, but not its standard input. Further lines are heartbeats. When they stop, or the connection ends,
this process ends with everything it started: nothing keeps running on a computer that ScaleGraph can no longer reach.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
import warnings
from typing import IO, Any, Final

from scalegraph.base.workplaces import workplace
from scalegraph.link.cluster.certificates import Certificates

BEAT_S: Final = 5.0  # between two heartbeats
READY: Final = "scalegraph-ready"  # prefix of the line with the address
DIRECTORY: Final = "scalegraph-worker"  # prefix of Dask's working directory
_SILENCE_S: Final = 45.0  # without a heartbeat
_CLOSING_S: Final = 10.0
CONFIG: Final = {
    "distributed.admin.large-graph-warning-threshold": "4 GiB",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "500ms",
    "distributed.comm.timeouts.connect": "20s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.allowed-failures": 20,  # of schedulers started here: a run is not to blame for a lost worker
    "distributed.scheduler.unknown-task-duration": "1s",
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.scheduler.worker-ttl": "30s",  # a stopped worker is given up after one to two times this
    "distributed.scheduler.http.routes": [],  # web pages that need no certificate
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,  # nobody reads the profile, and it samples every thread each 10 ms
    "distributed.worker.memory.terminate": False,  # the request limits the program's memory
}
"""Dask's settings in every process that ScaleGraph starts."""


async def _serve(order: dict[str, Any], over: asyncio.Event, out: IO[str]) -> None:
    from distributed import Nanny, Scheduler

    options = dict(order["options"])
    found = Certificates.of(order)
    if found is None:
        raise ValueError("the order has no certificates")
    more = {"security": found.security(), "protocol": "tls://"}
    import dask

    with workplace(DIRECTORY) as place:
        dask.config.set({"temporary-directory": str(place)})
        if order["what"] == "scheduler":
            made: Any = Scheduler(dashboard=False, port=0, **options, **more)
        else:
            made = Nanny(order["scheduler"], dashboard=False, **options, **more)
        async with made:
            out.write(f"{READY} {made.address}\n")
            out.flush()
            ended = [asyncio.create_task(over.wait()), asyncio.create_task(made.finished())]
            await asyncio.wait(ended, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.cancel()


def _attend(over: threading.Event) -> None:
    """Return when standard input ends."""
    while sys.stdin.readline():
        _heard[0] = time.monotonic()
    over.set()


_heard = [0.0]  # time of the last heartbeat


async def _main(order: dict[str, Any], out: IO[str]) -> None:
    ended, over = threading.Event(), asyncio.Event()
    threading.Thread(target=_attend, args=(ended,), daemon=True).start()

    async def watch() -> None:
        while not ended.is_set() and time.monotonic() - _heard[0] < _SILENCE_S:
            await asyncio.sleep(0.5)
        over.set()
        await asyncio.sleep(_CLOSING_S)
        os._exit(1)  # whatever has not closed by then is killed: its processes watch this one

    watching = asyncio.create_task(watch())
    await _serve(order, over, out)
    watching.cancel()


def main() -> None:
    """Be the scheduler or worker that the first line of standard input describes, as long as heartbeats come."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    import dask

    dask.config.set(CONFIG)
    _heard[0] = time.monotonic()
    order = json.loads(sys.stdin.readline() or "{}")
    if order:
        asyncio.run(_main(order, out))


if __name__ == "__main__":
    main()
