"""A Dask scheduler and two workers in one process, for tests: prints its address, ends with its standard input.

A worker is hostile to programs whose first argument begins with ``hostile:``, see `HOSTILE`. With the argument ``one``
the worker "two" refuses every run, with ``both`` both do; ``early`` lets "two" say so when it is asked.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable

import dask
from distributed import Scheduler, Worker, get_worker

from scalegraph.base.cancel import CancelToken
from scalegraph.link.cluster import answers, worker
from scalegraph.link.cluster.attended import CONFIG
from scalegraph.link.cluster.order import unpack_order

_honest = worker.answered
REFUSING = sys.argv[1] if len(sys.argv) > 1 else ""


def _other_run(order: bytes, parcel: bytes) -> object:
    """Answer with the run on one processor, whatever was requested."""
    asked, stdin = unpack_order(order)
    job = asked.job(worker._build(parcel, asked.parcel), stdin)
    point = asked.point.model_copy(update={"processors": 1})
    return answers.answer("liar", worker.Simulated().run(type(job)(job.build, job.machine, point, ("3",))))


def _fails(_order: bytes, _parcel: bytes) -> object:
    raise ZeroDivisionError("a worker of another kind")


HOSTILE: dict[str, Callable[[bytes, bytes], object]] = {
    "object": lambda _order, _parcel: {"status": "ok"},
    "bytes": lambda _order, _parcel: b"\0" * 100,
    "other": _other_run,
    "raises": _fails,
}


def _refuses() -> bool:
    return REFUSING == "both" or (REFUSING == "one" and get_worker().name == "two")


def _unfit(_version: str, dask_worker: Worker) -> str:
    return "two: the disk is full" if REFUSING == "early" and dask_worker.name == "two" else ""


def _answered(order: bytes, parcel: bytes, cancel: CancelToken, waits: Callable[[str], None]) -> object:
    if _refuses():
        return answers.refused(get_worker().name, f"{get_worker().name} has ScaleGraph 0.0.1")
    first = (unpack_order(order)[0].args or ("",))[0]
    if first.startswith("hostile:"):
        return HOSTILE[first.removeprefix("hostile:")](order, parcel)
    return _honest(order, parcel, cancel, waits)


async def main() -> None:
    options = {"nthreads": 1, "dashboard": False, "memory_limit": 0, "host": "127.0.0.1"}
    async with (
        Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler,
        Worker(scheduler.address, name="one", **options),
        Worker(scheduler.address, name="two", **options),
    ):
        print(scheduler.address, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    worker.answered, worker.unfit = _answered, _unfit
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    # this scheduler runs for the whole session; the default interval would use 5 % of a processor
    quiet = ("distributed.worker.profile.enabled", "distributed.admin.tick.interval")
    dask.config.set({name: CONFIG[name] for name in quiet})
    asyncio.run(main())
