"""The process that speaks with Dask for a ScaleGraph that must not: ``python -m scalegraph.link.cluster.courier``.

Standard input brings frames, standard output takes them; `engine` is at the other end. Dask unpickles what its peers
send, so a peer that lies can do in this process whatever it likes. It has no study open, and it hands over bytes
that `answers` checks. It also has Dask's threads, loggers and warnings to itself.

When standard input ends without a request to close, the other end was killed. Runs of a scheduler elsewhere go on there
without this process. A cluster that this process has started goes on until its runs have ended, and for some time
after, so that the next ScaleGraph can fetch what was done.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
import warnings
from typing import IO, Any, Final, TypeAlias

from scalegraph.link.cluster import dask_clusters, frames
from scalegraph.link.cluster.places import Where
from scalegraph.link.cluster.worker import TOPIC, carry_out, program, stop

_Frame: TypeAlias = tuple[dict[str, Any], list[bytes]]
_PUBLISHED: Final = "scalegraph"  # the beginning of every name that we publish at a scheduler
_WORKERS_S: Final = 2.0  # between two counts of the workers
_BRIEF_S: Final = 0.05  # how long requests to stop are gathered
_LONGEST_NAME: Final = 100  # characters of the name of a worker
_FORGETTING_S: Final = 15.0  # for the scheduler to forget what is in the study, at the end
_TRIES: Final = 3  # of a run whose workers were lost more often than the scheduler allows
_CONFIG: Final = {
    "distributed.admin.large-graph-warning-threshold": "4 GiB",
    "distributed.comm.timeouts.connect": "20s",
    "distributed.scheduler.allowed-failures": 20,  # of schedulers started here: a lost worker is no fault of a run
    "distributed.scheduler.unknown-task-duration": "1s",
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.worker.memory.terminate": False,  # the program's memory is limited by its request
}


class Courier:
    """One connection: a Dask client, the programs and runs that were requested, and how they ended."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._client: Any = None
        self._programs: dict[str, bytes] = {}
        self._sent: dict[str, Any] = {}  # futures of programs
        self._runs: dict[str, Any] = {}  # futures
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping: list[str] = []
        self._forgetting: list[asyncio.Task[None]] = []
        self._own = False

    def say(self, what: str, *blobs: bytes, **values: Any) -> None:
        """Send a frame to the other end; one that is gone does not hear it."""
        with contextlib.suppress(OSError, ValueError):
            frames.write(self._out, frames.pack({"is": what, **values}, *blobs))

    async def serve(self, inbox: asyncio.Queue[_Frame | None]) -> None:
        """Do what the frames of *inbox* say, up to the one that says ``close``, or to None."""
        first = await inbox.get()
        if first is None:
            return
        try:
            where = Where(**first[0]["where"])
            async with dask_clusters.connected(where, first[0].get("before", "")) as found:
                self._client, self._own = found.client, found.own
                await self._opened(found)
                if found.failure is not None:
                    self._task(self._hear(found.failure))
                closed = await self._follow(inbox)
                await self._part(closed=closed, where=where, found=found)
        except dask_clusters.Unreachable as error:
            self.say("gone", why=str(error))

    async def _opened(self, found: dask_clusters.Connected) -> None:
        names = [name for name in await self._client.list_datasets() if str(name).startswith(_PUBLISHED)]
        self._client.subscribe_topic(TOPIC, self._begun)
        threads = await self._client.nthreads()
        self.say(
            "open",
            scheduler=found.scheduler if found.own or found.adopted else "",
            adopted=found.adopted,
            known=sorted(map(str, names)),
            workers=len(threads),
            slots=sum(threads.values()),
            expected=found.expected,
        )
        self._task(self._count_workers(len(threads)))

    async def _follow(self, inbox: asyncio.Queue[_Frame | None]) -> bool:
        """Return True after a request to close, False when the other end is gone."""
        while (frame := await inbox.get()) is not None:
            head, blobs = frame
            match head["do"]:
                case "program":
                    self._programs[head["digest"]] = blobs[0]
                case "run":
                    self._task(self._run(head["job"], head["program"], blobs[0], head["estimate_s"]))
                case "stop":
                    self._stopping += head["jobs"]
                    if len(self._stopping) == len(head["jobs"]):
                        self._forgetting.append(self._task(self._stop()))
                case "forget":
                    self._forgetting.append(self._task(self._forget(head["jobs"])))
                case "close":
                    return True
        return False

    async def _part(self, *, closed: bool, where: Where, found: dask_clusters.Connected) -> None:
        """End: what was started here, or by a ScaleGraph that was killed, ends with a request to close."""
        if self._forgetting:
            await asyncio.wait(self._forgetting, timeout=_FORGETTING_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if closed:
            if found.adopted:
                with contextlib.suppress(Exception):
                    await self._client.shutdown()
            return
        if self._own:
            await self._linger(where.number("linger", dask_clusters.LINGER_S))

    async def _linger(self, seconds: float) -> None:
        """Wait until nothing has run here for *seconds*."""
        left = seconds
        while left > 0 and self._client.status == "running":
            await asyncio.sleep(min(1.0, left))
            busy = any((await self._client.processing()).values())
            left = seconds if busy else left - 1.0

    async def _run(self, job: str, digest: str, order: bytes, priority: float) -> None:
        """Carry one run out, or take up one that the scheduler has already; report how it ended."""
        try:
            if digest not in self._sent:
                key = f"{_PUBLISHED}-program-{digest[:32]}"
                self._sent[digest] = self._client.submit(program, self._programs[digest], key=key)
            future = self._client.submit(
                carry_out, order, self._sent[digest], job, key=job, pure=False, priority=priority
            )
            self._runs[job] = future
            await self._client.publish_dataset(future, name=job, override=True)
            await self._await_answer(job, future)
        except (OSError, RuntimeError, TimeoutError) as error:
            self._lost(str(error))

    async def _await_answer(self, job: str, future: Any) -> None:
        from distributed import CancelledError, KilledWorker

        for attempt in range(_TRIES):
            try:
                self._answered(job, await future)
                return  # noqa: TRY300 - the handlers end this attempt or begin the next
            except KilledWorker as error:
                why = f"its workers were lost again and again while they ran it: {error}"
                if attempt + 1 < _TRIES:
                    await self._client.retry([future])
            except CancelledError:
                if job in self._runs:
                    self._lost("the scheduler has dropped the runs or does not answer any more")
                return
            except asyncio.CancelledError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a worker raised: it is one run that failed
                why = f"a worker could not begin it: {type(error).__name__}: {error}"
                break
        self.say("failed", job=job, why=why)

    def _answered(self, job: str, answer: object) -> None:
        if isinstance(answer, bytes):
            self.say("answer", answer, job=job)
        else:
            self.say("failed", job=job, why=f"a worker answered with {type(answer).__name__}, not with bytes")

    async def _stop(self) -> None:
        await asyncio.sleep(_BRIEF_S)
        jobs, self._stopping = self._stopping, []
        await self._forget(jobs)
        with contextlib.suppress(Exception):  # a worker that is just being lost runs nothing any more
            await self._client.run(stop, jobs, on_error="ignore")

    async def _forget(self, jobs: list[str]) -> None:
        """Let the scheduler forget *jobs*, whether this process or an earlier one has requested them."""
        mine = [future for job in jobs if (future := self._runs.pop(job, None)) is not None]
        with contextlib.suppress(OSError, RuntimeError, TimeoutError):
            for job in jobs:
                await self._client.unpublish_dataset(job)
            await self._client.cancel([future for future in mine if not future.done()], force=True)
        for future in mine:
            future.release()

    def _begun(self, event: Any) -> None:
        """Pass on that a worker has begun a run. The event is the worker's: text of some length."""
        message = event[1] if isinstance(event, tuple | list) and len(event) == 2 else None
        if isinstance(message, dict) and (job := message.get("job")) in self._runs:
            self.say("placed", job=job, where=str(message.get("where", ""))[:_LONGEST_NAME])

    async def _count_workers(self, known: int) -> None:
        while True:
            await asyncio.sleep(_WORKERS_S)
            if self._client.status != "running":
                continue
            with contextlib.suppress(OSError, RuntimeError, TimeoutError):
                threads = await self._client.nthreads()
                if len(threads) != known:
                    known = len(threads)
                    self.say("workers", workers=known, slots=sum(threads.values()))

    async def _hear(self, failure: asyncio.Task[str]) -> None:
        """Pass on why no worker will come any more; this end being stopped does not stop *failure*."""
        with contextlib.suppress(Exception):
            self._lost(await asyncio.shield(failure))

    def _lost(self, why: str) -> None:
        self.say("gone", why=why)

    def _task(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _inbox(loop: asyncio.AbstractEventLoop) -> asyncio.Queue[_Frame | None]:
    """Return a queue of the frames of standard input, None after the last."""
    inbox: asyncio.Queue[_Frame | None] = asyncio.Queue()

    def read() -> None:
        data: bytes | None = b""
        while data is not None:
            data = frames.read(sys.stdin.buffer)
            loop.call_soon_threadsafe(inbox.put_nowait, None if data is None else frames.unpack(data))

    threading.Thread(target=read, daemon=True, name="frames").start()
    return inbox


async def _main(out: IO[bytes]) -> None:
    await Courier(out).serve(_inbox(asyncio.get_running_loop()))


def main() -> None:
    """Serve the process at the other end of standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the other end decides
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Dask and its children print is no frame
    warnings.simplefilter("ignore")
    import dask

    dask.config.set(_CONFIG)
    logging.getLogger("distributed").setLevel(logging.ERROR)
    asyncio.run(_main(out))


if __name__ == "__main__":
    main()
