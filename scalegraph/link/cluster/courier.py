"""The process that speaks Dask on ScaleGraph's behalf: ``python -m scalegraph.link.cluster.courier``.

Frames come in on standard input and go out on standard output; `engine` is at the other end. Dask unpickles what its
peers send, so a malicious peer can do anything in this process. It therefore has no study open and hands over only
bytes, which `answers` checks. It also keeps Dask's threads, loggers and warnings to itself.

When standard input ends without a request to close, the other end was killed. Runs at a scheduler elsewhere go on
without this process. A cluster that this process started keeps going until its runs have ended, and for a while after
that, so that the next ScaleGraph can fetch the results.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import warnings
from dataclasses import dataclass
from typing import IO, Any, Final

import scalegraph
from scalegraph.link.cluster import dask_clusters, frames, lingering
from scalegraph.link.cluster.attended import CONFIG
from scalegraph.link.cluster.inbox import Inbox, unless_closed
from scalegraph.link.cluster.lane import Lane
from scalegraph.link.cluster.places import OTHERS, Where
from scalegraph.link.cluster.routes import Routes, refusal_in
from scalegraph.link.cluster.worker import TOPIC, carry_out, carry_out_several, program, stop, unfit

_PUBLISHED: Final = "scalegraph"  # prefix of every name that we publish at a scheduler
_WORKERS_S: Final = 2.0  # between two counts of the workers
_BRIEF_S: Final = 0.05  # requests to stop within this time are sent together
_LONGEST_NAME: Final = 100  # characters of a worker's name
_FORGETTING_S: Final = 15.0  # for the scheduler, at the end, to forget what is already in the study
_TRIES: Final = 3  # of a run whose workers were lost more often than the scheduler allows
_PROBING_S: Final = 20.0  # for a new worker to say whether it can carry out runs
_AT_ONCE: Final = 8  # requests to keep a result
_STOPPING_S: Final = 10.0  # for workers to stop programs
_OPEN_TO_OTHERS: Final = {
    "tcp": "Dask has no password: whoever can reach this scheduler can run code as you, here and on workers; tls:// "
    "demands certificates",
    "tls": "whoever has a certificate of this scheduler's authority can run code as you, here and on workers",
}


@dataclass
class _Run:
    """A requested run: its *future* for attempt *number*; only workers in *allowed* may run it, any if empty."""

    job: str
    program: str
    order: bytes
    priority: float
    future: Any = None
    number: int = 0
    allowed: frozenset[str] = frozenset()
    placed: str = ""  # address of the worker that has begun it
    begun: float = 0.0  # when that was
    ended: bool = False


class Courier:
    """One connection: a Dask client, the programs and runs requested, and how they ended."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._client: Any = None
        self._programs: dict[str, bytes] = {}
        self._sent: dict[str, Any] = {}  # futures of programs
        self._runs: dict[str, _Run] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping: list[str] = []
        self._forgetting: list[asyncio.Task[None]] = []
        self._known: set[str] = set()  # runs that the scheduler already had
        self._published: set[str] = set()  # runs whose results it keeps
        self._keeping: list[asyncio.Task[None]] = []
        self._publishing = asyncio.Semaphore(_AT_ONCE)
        self._own = False  # whether we started the scheduler, which then lives exactly as long as this process
        self._expected = 0
        self._idle = 0  # number of idle workers last reported
        self._routes = Routes(lambda text: self.say("note", text=text))
        self._lane = Lane(self._carry, lambda: max(self._count()["slots"], self._expected))
        self._shared: dict[Any, list[_Run]] = {}  # runs by the future of the task that they share

    def say(self, what: str, *blobs: bytes, **values: Any) -> None:
        """Send a frame to the other end; do nothing if it is gone."""
        with contextlib.suppress(OSError, ValueError):
            frames.write(self._out, frames.pack({"is": what, **values}, *blobs))

    async def serve(self, inbox: Inbox) -> None:
        """Act on the frames of *inbox*, up to ``close`` or the end (None)."""
        first = await inbox.get()
        if first is None:
            return
        where = Where(**first[0]["where"])
        try:
            async with contextlib.AsyncExitStack() as stack:
                entered = stack.enter_async_context(dask_clusters.connected(where, first[0]["before"]))
                found = await unless_closed(entered, inbox)
                if found is not None:
                    self._client = found.client
                    await self._opened(found, where)
                    closed = await self._follow(inbox)
                    await self._part(closed=closed, where=where, found=found)
        except dask_clusters.Unreachable as error:
            self.say("gone", why=str(error))

    async def _opened(self, found: dask_clusters.Connected, where: Where) -> None:
        self._own, self._expected = found.own, found.expected
        names = [name for name in await self._client.list_datasets() if str(name).startswith(_PUBLISHED)]
        self._known, self._published = set(names), set(names)
        self._client.subscribe_topic(TOPIC, self._begun)
        self._look(await self._workers(), first=True)
        if where.kind in OTHERS:
            self.say("note", text=_OPEN_TO_OTHERS[where.kind])
        self.say(
            "open",
            contact=dict(found.contact),
            adopted=found.adopted,
            known=sorted(map(str, names)),
            expected=found.expected,
            **self._count(),
        )
        self._task(self._watch(adopted=found.adopted))
        if found.failure is not None:
            self._task(self._hear(found.failure))

    async def _follow(self, inbox: Inbox) -> bool:
        """Return True after a request to close, False when the other end is gone."""
        while (frame := await inbox.get()) is not None:
            head, blobs = frame
            match head["do"]:
                case "program":
                    self._programs[head["digest"]] = blobs[0]
                case "run":
                    self._task(self._run(_Run(head["job"], head["program"], blobs[0], head["estimate_s"])))
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
        """Shut down; stop a scheduler started here, or left by a killed ScaleGraph, only on a request to close."""
        if not closed and found.own:  # the next ScaleGraph finds the results, also of runs still going
            for run in self._lane.drain():
                await self._submit(run)
            runs = [run for run in self._runs.values() if run.future is not None and run.job not in self._published]
            self._keeping += [self._task(self._publish(run, run.future)) for run in runs]
        if last := [task for task in (*self._forgetting, *(() if closed else self._keeping)) if not task.done()]:
            await asyncio.wait(last, timeout=_FORGETTING_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if closed and found.adopted:
            await lingering.end(self._client)
        if not closed and found.own:
            await lingering.wait(self._client, where.number("linger", dask_clusters.LINGER_S))

    async def _run(self, run: _Run) -> None:
        """Carry out one run, or adopt it if the scheduler already has it; report how it ended."""
        self._runs[run.job] = run
        try:
            if not self._own or run.job in self._known:  # a scheduler elsewhere keeps a result for each run
                await self._alone(run)
                return
            async with self._lane.turn(run) as answer:
                if answer is None and run.job in self._runs:
                    await self._alone(run)
                elif answer is not None:
                    self._answered(run, answer)
        except (OSError, RuntimeError, TimeoutError) as error:
            self._lost(str(error))
        except Exception as error:  # noqa: BLE001 - of the other end somebody waits for this run
            self._fail(run, f"{type(error).__name__}: {error}")

    async def _alone(self, run: _Run) -> None:
        """Carry out *run* as a task of its own."""
        await self._submit(run)
        while run.job in self._runs and (refused := await self._await_answer(run)):
            if not await self._left_out(run, refused):
                self._fail(run, refused)
                return
            if why := self._routes.hopeless(self._expected):
                self._lost(why)
                return
            await self._again(run)

    async def _carry(self, runs: list[_Run]) -> list[object | None]:
        """Return the answers to *runs* of one program as one task; None for each that must be carried out alone."""
        if self._routes.restricted() or not all(run.job in self._runs for run in runs):
            return [None] * len(runs)
        future = self._client.submit(
            carry_out_several,
            [run.order for run in runs],
            self._program(runs[0]),
            [run.job for run in runs],
            key=f"{runs[0].job}-and-{len(runs) - 1}",
            pure=False,
            priority=max(run.priority for run in runs),
        )
        self._shared[future] = runs
        try:
            answers = await future
        finally:
            del self._shared[future]
            future.release()
        if None not in answers:
            self._learn(runs)
        return [None if isinstance(one, bytes) and refusal_in(one) else one for one in answers]

    def _learn(self, runs: list[_Run]) -> None:
        """Note how long the *runs* of a task took that has just ended."""
        if runs[0].begun:
            self._lane.note(runs[0].program, (asyncio.get_running_loop().time() - runs[0].begun) / len(runs))

    def _program(self, run: _Run) -> Any:
        """Return the scheduler's handle for the program of *run*; it is sent only once."""
        if run.program not in self._sent:
            key = f"{_PUBLISHED}-program-{run.program[:32]}"
            self._sent[run.program] = self._client.submit(program, self._programs[run.program], key=key)
        return self._sent[run.program]

    async def _submit(self, run: _Run) -> None:
        """Hand *run* to the scheduler: for any worker, or for the remaining ones if some are excluded."""
        allowed = self._routes.good() if self._routes.restricted() else frozenset[str]()
        run.allowed, run.placed = allowed, ""
        if run.job in self._known:
            self._known.remove(run.job)
            with contextlib.suppress(KeyError):  # forgotten in the meantime
                run.future = await self._client.get_dataset(run.job)
                return
        key = run.job if not run.number else f"{run.job}-{run.number}"
        more = {"workers": sorted(allowed)} if allowed else {}
        run.future = self._client.submit(
            carry_out, run.order, self._program(run), run.job, key=key, pure=False, priority=run.priority, **more
        )
        if not self._own:
            self._keeping.append(self._task(self._publish(run, run.future)))

    async def _publish(self, run: _Run, future: Any) -> None:
        """Have the scheduler keep the result of *run* after this process is gone; only a few requests at a time."""
        async with self._publishing:
            with contextlib.suppress(OSError, RuntimeError, TimeoutError):  # the run goes on regardless
                if run.future is future and run.job in self._runs:
                    await self._client.publish_dataset(future, name=run.job, override=True)
                    self._published.add(run.job)
                if run.job not in self._runs:  # it has ended in the meantime
                    await self._unpublish(run.job)

    async def _unpublish(self, job: str) -> None:
        if job in self._published:
            self._published.remove(job)
            await self._client.unpublish_dataset(job)

    async def _again(self, run: _Run) -> None:
        """Submit *run* again under another name, and let the scheduler forget the earlier attempt."""
        before, run.number = run.future, run.number + 1
        await self._submit(run)
        with contextlib.suppress(OSError, RuntimeError, TimeoutError):
            if not before.done():
                await self._client.cancel([before], force=True)
        before.release()

    async def _await_answer(self, run: _Run) -> str:
        """Report the answer to *run*, or return why the worker refused it."""
        from distributed import CancelledError, KilledWorker

        why = ""
        for attempt in range(_TRIES):
            future = run.future
            try:
                return self._answered(run, await future)
            except KilledWorker as error:
                why = f"its workers were lost repeatedly while running it: {error}"
                if attempt + 1 < _TRIES:
                    await self._client.retry([future])
            except CancelledError:
                if run.future is not future:  # it was resubmitted in the meantime
                    return await self._await_answer(run)
                if run.job in self._runs:
                    self._lost("the scheduler has dropped the runs or no longer answers")
                return ""
            except asyncio.CancelledError:
                raise
            except (ImportError, AttributeError, TypeError) as error:
                return f"it has no ScaleGraph, or another one: {type(error).__name__}: {error}"
            except Exception as error:  # noqa: BLE001 - whatever a worker raised: it is one run that failed
                why = f"a worker could not begin it: {type(error).__name__}: {error}"
                break
        self._fail(run, why)
        return ""

    def _fail(self, run: _Run, why: str) -> None:
        run.ended = True
        self.say("failed", job=run.job, why=why)

    def _answered(self, run: _Run, answer: object) -> str:
        """Pass on the *answer* of a worker, or return why it refused to run anything."""
        if not isinstance(answer, bytes):
            self._fail(run, f"a worker answered with {type(answer).__name__}, not with bytes")
        elif refused := refusal_in(answer):
            return refused
        else:
            run.ended = True
            self.say("answer", answer, job=run.job)
            if run.future is not None:
                self._learn([run])
        return ""

    async def _left_out(self, run: _Run, refused: str) -> bool:
        """Exclude the worker that *refused* to carry out *run*; return whether it was identified and excluded."""
        found = await self._client.who_has([run.future])
        for address in (address for addresses in found.values() for address in addresses):
            self._routes.refuse(str(address), refused)
            return True
        if run.future.status != "error":
            return True  # the worker is gone, and its answer with it
        # Dask does not say which worker raised an exception, so all are probed.
        before = len(self._routes.refused)
        await asyncio.gather(*map(self._probe, self._routes.good()))
        return len(self._routes.refused) > before or bool(self._routes.refused and not run.allowed)

    async def _probe(self, address: str) -> None:
        """Ask the worker at *address* whether it can carry out runs, and exclude it if not."""
        with contextlib.suppress(OSError, RuntimeError, TimeoutError):
            asked = self._client.run(unfit, scalegraph.__version__, workers=[address], on_error="return")
            answers = await asyncio.wait_for(asked, _PROBING_S)
            said = answers.get(address, "")
            if isinstance(said, Exception) and not isinstance(said, OSError):
                said = f"it has no ScaleGraph, or another one: {type(said).__name__}: {said}"
            if said and isinstance(said, str):
                self._routes.refuse(address, said)

    def _look(self, workers: dict[str, Any], *, first: bool = False) -> None:
        """Update the known *workers* from the scheduler's list; probe new ones."""
        before = set(self._routes.live)
        self._routes.observe(workers, first=first)
        for address in set(self._routes.live) - before:
            self._task(self._probe(address))

    async def _stop(self) -> None:
        await asyncio.sleep(_BRIEF_S)
        jobs, self._stopping = self._stopping, []
        await self._forget(jobs)
        with contextlib.suppress(Exception):  # a worker that is being lost runs nothing any more
            await asyncio.wait_for(self._client.run(stop, jobs, on_error="ignore"), _STOPPING_S)

    async def _forget(self, jobs: list[str]) -> None:
        """Let the scheduler forget *jobs*, requested by this process or an earlier one."""
        runs = [run for job in jobs if (run := self._runs.pop(job, None)) is not None and run.future is not None]
        mine = [run.future for run in runs]
        with contextlib.suppress(OSError, RuntimeError, TimeoutError):
            for job in jobs:
                await self._unpublish(job)
            mine += [
                future for future, those in self._shared.items() if all(one.job not in self._runs for one in those)
            ]
            if under_way := [future for future in mine if not future.done()]:
                await self._client.cancel(under_way, force=True)
        for future in mine:
            future.release()
        if again := [run.job for run in runs if run.number]:  # another attempt may still be running
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._client.run(stop, again, on_error="ignore"), _STOPPING_S)

    def _begun(self, event: Any) -> None:
        """Pass on a worker's message about a run: that it has begun, or waits. The event may have any content."""
        message = event[1] if isinstance(event, tuple | list) and len(event) == 2 else None
        if not isinstance(message, dict):
            return
        where = str(message.get("where", ""))[:_LONGEST_NAME]
        jobs = message.get("jobs")
        for job in jobs if isinstance(jobs, list | tuple) else [message.get("job")]:
            if (run := self._runs.get(str(job))) is None:
                continue
            if waits := message.get("waits"):
                self.say("note", text=f"{where} {str(waits)[:_LONGEST_NAME]}")
                continue
            run.placed, run.begun = str(message.get("address", ""))[:_LONGEST_NAME], asyncio.get_running_loop().time()
            self.say("placed", job=run.job, where=where)

    async def _workers(self) -> dict[str, Any]:
        """Return the scheduler's information on each worker, by address."""
        return dict((await self._client.scheduler.identity())["workers"])

    def _count(self, busy: int | None = None) -> dict[str, int]:
        """Return the number of workers, the runs that they do side by side, and how many workers are not in *busy*."""
        good = self._routes.good()
        slots = sum(self._routes.live[address].threads for address in good)
        return {"workers": len(good), "slots": slots, "idle": 0 if busy is None else len(good) - busy}

    async def _watch(self, *, adopted: bool) -> None:
        """Count the workers regularly, and give up silent ones, as long as this lives."""
        before = self._count()
        while True:
            await asyncio.sleep(_WORKERS_S)
            if self._client.status != "running":
                continue
            with contextlib.suppress(OSError, RuntimeError, TimeoutError):
                if adopted:
                    await lingering.beat(self._client)
                self._look(await self._workers())
                self._lane.advance()
                if why := self._routes.hopeless(self._expected):
                    self._lost(why)
                processing = await self._client.processing()
                await self._reroute({key for address in self._routes.silent for key in processing.get(address, ())})
                now = self._count(sum(bool(processing.get(address)) for address in self._routes.good()))
                if now != before:
                    before = now
                    self.say("workers", **now)
                self._say_idle(now)

    def _say_idle(self, now: dict[str, int]) -> None:
        """Say once that some workers are idle while others still run."""
        waiting = [run for run in self._runs.values() if not run.ended]
        if len(waiting) < now["slots"] and self._idle < now["idle"] < now["workers"]:
            self._idle = now["idle"]
            self.say(
                "note", text=f"{now['idle']} of {now['workers']} workers are idle: fewer runs are left than workers"
            )

    async def _reroute(self, stuck: set[str]) -> None:
        """Resubmit the runs *stuck* at silent workers, and those restricted to a set of workers that has changed."""
        good = self._routes.good()
        if not good:
            return
        if lost := [future for future in self._shared if future.key in stuck]:
            await self._client.cancel(lost, force=True)  # each of their runs is then carried out alone
        for run in list(self._runs.values()):
            if run.future is None or run.future.done():
                continue
            begun = run.placed in good
            narrowed = bool(run.allowed) and (not run.allowed & good or (bool(good - run.allowed) and not begun))
            if run.future.key in stuck or narrowed:
                await self._again(run)

    async def _hear(self, failure: asyncio.Task[str]) -> None:
        """Pass on why no more workers will come; stopping this does not stop *failure*."""
        with contextlib.suppress(Exception):
            self._lost(await asyncio.shield(failure))

    def _lost(self, why: str) -> None:
        self.say("gone", why=why)

    def _task(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _main(out: IO[bytes]) -> None:
    await Courier(out).serve(Inbox(asyncio.get_running_loop()))


def main() -> None:
    """Serve the process at the other end of standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from the terminal: the other end decides
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of Dask and its children must not mix with frames
    warnings.simplefilter("ignore")
    import dask

    dask.config.set(CONFIG)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    asyncio.run(_main(out))


if __name__ == "__main__":
    main()
