"""What runs on a worker: one order, carried out by the same code as a local run, answered in bytes.

`carry_out` is what Dask calls by its name: no code of the submitting side is sent. `batch`, which carries out orders in
files, calls `answered` too.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import socket
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import scalegraph
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, InputError, RunError, ScaleGraphError
from scalegraph.base.files import reason, write_atomic
from scalegraph.base.run import RunRecord
from scalegraph.base.units import seconds
from scalegraph.base.workplaces import workplace
from scalegraph.link import targets
from scalegraph.link.build import Build
from scalegraph.link.cluster import answers, turns
from scalegraph.link.cluster.order import Order, build_of, refusal, unpack_order
from scalegraph.link.job import Link
from scalegraph.link.simulated import Simulated
from scalegraph.link.targets import _nodes
from scalegraph.runtime.cache import cache_root

TOPIC: Final = "scalegraph"  # of the events with which a worker reports that it has begun a run
_BUILDS_KEPT: Final = 8
_PLACE: Final = "scalegraph-run"  # prefix of the directories of runs that need one
_KEPT_S: Final = 86400.0
_WORTH_KEEPING_S: Final = 0.25  # repeating a faster run takes no longer than finding its answer
_LATE_S: Final = 1.0  # with several runs in a task: those not begun by then are handed back
_PURGE_S: Final = 3600.0
_WORTH_SAYING_S: Final = 1.0  # of a wait for another measurement
_PROBE_BYTES: Final = 2**16
_LIBRARY: Final = re.compile(r"error while loading shared libraries: .*")  # as the loader says it

_mutex = threading.Lock()
_running: dict[str, CancelToken] = {}
_purge_at = [0.0]  # next time to remove old answers, on the monotonic clock
_builds: OrderedDict[str, Build] = OrderedDict()


def program(data: bytes) -> bytes:
    """Return *data*: a program that the runs of a cluster share, as a task of its own."""
    return data


def carry_out(order: bytes, parcel: bytes, job: str) -> bytes:
    """Return the answer to *order*, whose program is *parcel*; raise nothing. *job* names it for `stop`.

    Answers of longer runs stay in this host's cache for a day: if an answer is lost with its worker before it is
    fetched, the next worker with the same cache finds it.
    """
    if (before := _kept(job)) is not None:
        return before
    with _stoppable([job]) as tokens:
        _report(job)
        return _carried_out(order, parcel, job, tokens[job])


def carry_out_several(orders: Sequence[bytes], parcel: bytes, jobs: Sequence[str]) -> list[bytes | None]:
    """Return the answers to *orders*, carried out one after the other as `carry_out` does.

    The answer is None for runs not begun because those before took longer than short runs do.
    """
    made: list[bytes | None] = []
    began = time.monotonic()
    with _stoppable(jobs) as tokens:
        _report(jobs[0], jobs=list(jobs))
        for order, job in zip(orders, jobs, strict=True):
            late = time.monotonic() - began > _LATE_S
            made.append(None if late else _carried_out(order, parcel, job, tokens[job]))
    return made


@contextlib.contextmanager
def _stoppable(jobs: Sequence[str]) -> Iterator[dict[str, CancelToken]]:
    """Yield a token for each of *jobs*, registered for `stop` meanwhile."""
    tokens = {job: CancelToken() for job in jobs}
    with _mutex:
        _running.update(tokens)
    try:
        yield tokens
    finally:
        with _mutex:
            for job in jobs:
                _running.pop(job, None)


def _carried_out(order: bytes, parcel: bytes, job: str, token: CancelToken) -> bytes:
    began = time.monotonic()
    made = answered(order, parcel, token, lambda why: _report(job, waits=why))
    if time.monotonic() - began >= _WORTH_KEEPING_S:
        _keep(job, made)
    return made


def _place(job: str) -> Path:
    return cache_root() / "answers" / hashlib.sha256(job.encode()).hexdigest()[:32]


def _kept(job: str) -> bytes | None:
    """Return the answer to *job* that another worker with the same cache left, or None."""
    try:
        return _place(job).read_bytes()
    except OSError:
        return None


def _keep(job: str, made: bytes) -> None:
    """Keep the answer *made* to *job* if its run succeeded; remove old answers."""
    if not answers.is_good(made):
        return
    place = _place(job)
    with contextlib.suppress(OSError, ScaleGraphError):  # a cache that cannot be written is no reason to fail
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(place, made)
        with _mutex:
            due = time.monotonic() > _purge_at[0]
            _purge_at[0] = time.monotonic() + _PURGE_S if due else _purge_at[0]
        for old in place.parent.iterdir() if due else ():
            if time.time() - old.stat().st_mtime > _KEPT_S:
                old.unlink(missing_ok=True)


def stop(jobs: Sequence[str]) -> None:
    """Stop the *jobs* that run in this process."""
    with _mutex:
        for job in jobs:
            if job in _running:
                _running[job].cancel()


def unfit(version: str) -> str:
    """Return why this worker cannot carry out runs of ScaleGraph *version*; empty if it can."""
    host = _nodes.names() or socket.gethostname()
    if version != scalegraph.__version__:
        return (
            f"{host} has ScaleGraph {scalegraph.__version__}; {version} was expected, as where the runs are requested"
        )
    try:
        place = cache_root()
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place) as probe:
            probe.write(bytes(_PROBE_BYTES))
    except OSError as error:
        return f"{host}: the cache in {cache_root()} cannot be written: {reason(error)}"
    return ""


def answered(
    order: bytes, parcel: bytes, cancel: CancelToken, waits: Callable[[str], None] = lambda _why: None
) -> bytes:
    """Return the answer to *order*, whose program is *parcel*; raise nothing. *waits* is told of a wait for a turn."""
    host = _nodes.names() or socket.gethostname()
    of_run = False
    try:
        asked, stdin = unpack_order(order)
    except InputError as error:  # an order of another version
        return answers.refused(host, f"{host}: {error}")
    try:
        if sentence := refusal(asked, host):
            return answers.refused(host, sentence)
        return _answered(asked, stdin, parcel, host, cancel, waits)
    except (InputError, Cancelled) as error:  # a fault of the run itself, on every worker
        sentence, of_run = str(error), True
    except ScaleGraphError as error:
        sentence = str(error)
    except OSError as error:
        sentence = reason(error)
    except Exception as error:  # noqa: BLE001 - the other side gets a sentence, whatever is wrong here
        sentence, of_run = f"{type(error).__name__}: {error}", not isinstance(error, MemoryError)
    return answers.refused(host, f"{host}: {sentence}", of_run=of_run)


def _answered(
    order: Order, stdin: bytes | None, parcel: bytes, host: str, cancel: CancelToken, waits: Callable[[str], None]
) -> bytes:
    build = _build(parcel, order.parcel)
    with contextlib.ExitStack() as stack:
        remarks, traces = [], None
        if (nowhere := order.cwd is not None and not Path(order.cwd).is_dir()) or order.trace is not None:
            place = stack.enter_context(workplace(_PLACE))
            traces = place / "traces"
        if nowhere:
            remarks = [f"{host} has no directory {order.cwd}; the program ran in an empty one"]
            (place / "cwd").mkdir()
            order = order.model_copy(update={"cwd": str(place / "cwd")})
        runs: Link = targets.named(order.target) if order.target else Simulated()
        measured = order.target and not _nodes.elsewhere()
        with turns.alone(cancel, waits) if measured else contextlib.nullcontext(0.0) as waited:
            record = runs.run(order.job(build, stdin, traces), cancel)
        if waited >= _WORTH_SAYING_S:
            remarks.append(f"waited {seconds(waited)} for another measurement on {host}")
        if lacking := _LIBRARY.search(record.stderr) if not record.ok else None:
            raise RunError(f"the program cannot start here: {lacking[0]}")
        if remarks:
            record = record.model_copy(update={"warnings": (*record.warnings, *remarks)})
        return answers.answer(host, record, _trace(record))


def _build(parcel: bytes, digest: str) -> Build:
    """Return the program of *parcel*; cached in this process, together with the places it has read."""
    with _mutex:
        if digest in _builds:
            _builds.move_to_end(digest)
            return _builds[digest]
    made = build_of(parcel, digest)
    with _mutex:
        _builds[digest] = made
        while len(_builds) > _BUILDS_KEPT:
            _builds.popitem(last=False)
    return made


def _trace(record: RunRecord) -> bytes | None:
    return None if record.trace is None else Path(record.trace.path).read_bytes()


def _report(job: str, **more: str | list[str]) -> None:
    """Tell whoever waits for *job* that it has begun, and where, or *more*; outside of Dask nobody is told."""
    if "distributed" not in sys.modules:
        return
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return
    port = worker.address.rpartition(":")[2]  # a host may have several
    where = f"{socket.gethostname()}:{port}"
    worker.log_event(TOPIC, {"job": job, "where": where, "address": worker.address, **more})
