"""The link to a cluster: jobs go to a courier, records come back, even if workers are lost in between."""

from __future__ import annotations

import contextlib
import hashlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Any, Final, Self

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import LinkLost, RunError
from scalegraph.base.run import RunRecord
from scalegraph.link.cluster import frames
from scalegraph.link.cluster.answers import accepted
from scalegraph.link.cluster.order import Parcel, Parcels, measured_by, pack_order
from scalegraph.link.cluster.places import Where, check_installed
from scalegraph.link.job import Job, Placed, cancelled

_POLL_S: Final = 0.2  # how long a request to stop may go unnoticed
_CLOSING_S: Final = 30.0
_SHOWN: Final = 500  # characters of the last output of a courier that ended
_LONGEST_NOTE: Final = 1000
_AT_ONCE: Final = 512


@dataclass
class State:
    """The state of the place: its workers, and how many runs they do side by side; *known*: jobs it had before.

    *contact*: how another ScaleGraph reaches what was started here. *idle*: workers without a run. Only workers that
    runs may go to are counted.
    """

    contact: Mapping[str, str] = field(default_factory=dict)
    adopted: bool = False
    workers: int = 0
    slots: int = 0
    idle: int = 0
    expected: int = 0
    known: frozenset[str] = field(default_factory=frozenset)


class Cluster:
    """Runs jobs on the workers of *where*; a context manager, usable from several threads.

    *name* distinguishes the jobs of one study from those of any other. *before*: the contact of a scheduler that an
    earlier ScaleGraph left for the same study. A separate thread calls *changed* when workers come or go, and *said*
    with sentences about them.

    Raises `MissingTool` without Dask, `LinkLost` when nothing answers, `Cancelled`.
    """

    at_once = _AT_ONCE

    def __init__(
        self,
        where: Where,
        name: str = "",
        *,
        before: Mapping[str, str] | None = None,
        changed: Callable[[State], None] = lambda _state: None,
        said: Callable[[str], None] = lambda _text: None,
        cancel: CancelToken | None = None,
    ) -> None:
        check_installed(where)
        self.where = where
        self.state = State()
        self.name = name
        self._changed = changed
        self._said = said
        self._mutex = threading.Lock()
        self._boxes: dict[str, queue.SimpleQueue[_News]] = {}
        self._tokens: dict[str, CancelToken] = {}  # of the runs in boxes
        self._closing = threading.Event()
        self._parcels = Parcels()
        self._sent: set[str] = set()
        self._gone = ""
        self._opened = threading.Event()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as this
        self._process = subprocess.Popen(
            [sys.executable, "-m", "scalegraph.link.cluster.courier"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        self._thread = threading.Thread(target=self._listen, daemon=True, name="courier")
        self._thread.start()
        threading.Thread(target=self._watch_tokens, daemon=True, name="stopping").start()
        values = {"kind": where.kind, "rest": where.rest, "settings": dict(where.settings)}
        try:
            self._send(frames.pack({"do": "open", "where": values, "before": dict(before or {})}))
            while not self._opened.wait(_POLL_S):
                (cancel or CancelToken()).check()
        except BaseException:
            self.close()
            raise
        if self._gone:
            self.close()
            raise LinkLost(self._gone)

    def __enter__(self) -> Self:
        """Return the link."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the link."""
        self.close()

    def job_id(self, job: Job) -> str:
        """Return the name of *job* at the scheduler, which is the same whenever this study repeats the run."""
        return self._id(_order(job, self._parcels.of(job)))

    def run(self, job: Job, cancel: CancelToken | None = None, placed: Placed = lambda _where: None) -> RunRecord:
        """Return the record of *job*, run by a worker; *placed* is called with the worker's name when the job begins.

        A lost worker is replaced by another. Raises `RunError` if no worker can carry out the job or its answer is
        rejected, `LinkLost` if the place no longer answers.
        """
        cancel = cancel or CancelToken()
        parcel = self._parcels.of(job)
        order = _order(job, parcel)
        name = self._id(order)
        box: queue.SimpleQueue[_News] = queue.SimpleQueue()
        with self._mutex:
            self._boxes[name], self._tokens[name] = box, cancel
            fresh = parcel.digest not in self._sent
            self._sent.add(parcel.digest)
            if fresh:
                self._send(frames.pack({"do": "program", "digest": parcel.digest}, parcel.data))
            values = {"job": name, "program": parcel.digest, "estimate_s": job.estimate_s or 0.0}
            self._send(frames.pack({"do": "run", **values}, order))
        try:
            return self._await(job, name, box, placed)
        except RunError:
            self.forget([name])  # or the same failure would be fetched again next time
            raise
        finally:
            with self._mutex:
                self._boxes.pop(name, None)
                self._tokens.pop(name, None)

    def forget(self, names: Iterable[str]) -> None:
        """Let the place forget the jobs *names*: their records are in the study, or no longer wanted."""
        if names := list(names):
            with contextlib.suppress(LinkLost), self._mutex:
                self._send(frames.pack({"do": "forget", "jobs": names}))

    def close(self) -> None:
        """End the connection, and the workers started for it. May be called repeatedly."""
        if self._process.stdin is None or self._process.stdin.closed:
            return
        self._closing.set()
        with contextlib.suppress(LinkLost, OSError), self._mutex:
            self._send(frames.pack({"do": "close"}))
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_CLOSING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._thread.join()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def _await(self, job: Job, name: str, box: queue.SimpleQueue[_News], placed: Placed) -> RunRecord:
        while True:
            news = box.get()
            match news.what:
                case "placed":
                    placed(news.text)
                case "failed":
                    raise RunError(f"{self.where.name}: {news.text}")
                case "answer":
                    return accepted(news.data, job, "measured" if job.point.target else "simulated")
                case "stop":
                    with contextlib.suppress(LinkLost), self._mutex:
                        self._send(frames.pack({"do": "stop", "jobs": [name]}))
                    return cancelled(job)
                case "gone":
                    raise LinkLost(news.text)

    def _watch_tokens(self) -> None:
        """Tell runs about requests to stop: one thread polls, so that hundreds of waiting threads need not."""
        while not self._closing.wait(_POLL_S):
            with self._mutex:
                for name in [name for name, token in self._tokens.items() if token.cancelled]:
                    self._boxes[name].put(_News("stop"))
                    del self._tokens[name]

    def _id(self, order: bytes) -> str:
        return f"scalegraph-{hashlib.sha256(self.name.encode() + order).hexdigest()[:32]}"

    def _send(self, frame: bytes) -> None:
        stream = self._process.stdin
        try:
            if stream is None or stream.closed:
                raise LinkLost(self._gone or f"{self.where.name}: the connection is closed")
            frames.write(stream, frame)
        except OSError:
            raise LinkLost(self._gone or f"{self.where.name}: {self._last_words()}") from None

    def _listen(self) -> None:
        """Handle the courier's frames until it ends."""
        stream: IO[bytes] | None = self._process.stdout
        assert stream is not None
        try:
            while (data := frames.read(stream)) is not None:
                self._take(*frames.unpack(data))
        except (ValueError, KeyError, TypeError, OSError) as error:
            self._lose(f"{self.where.name}: the connection failed: {error}")
            return
        self._lose(f"{self.where.name}: {self._last_words()}")

    def _take(self, head: dict[str, Any], blobs: list[bytes]) -> None:
        match head["is"]:
            case "open":
                self.state = State(
                    contact={str(name): str(text) for name, text in head["contact"].items()},
                    adopted=bool(head["adopted"]),
                    workers=int(head["workers"]),
                    slots=int(head["slots"]),
                    expected=int(head["expected"]),
                    known=frozenset(map(str, head["known"])),
                )
                self._opened.set()
            case "workers":
                self.state.workers, self.state.slots = int(head["workers"]), int(head["slots"])
                self.state.idle = int(head["idle"])
                self._changed(self.state)
            case "note":
                self._said(f"{self.where.name}: {str(head['text'])[:_LONGEST_NOTE]}")
            case "gone":
                self._lose(f"{self.where.name}: {str(head['why']).removeprefix(f'{self.where.name}: ')}")
            case what:
                self._deliver(str(head["job"]), _News(what, str(head.get("where", head.get("why", ""))), *blobs[:1]))

    def _deliver(self, name: str, news: _News) -> None:
        with self._mutex:
            if name in self._boxes:
                self._boxes[name].put(news)

    def _lose(self, why: str) -> None:
        with self._mutex:
            self._gone = self._gone or why
            for box in self._boxes.values():
                box.put(_News("gone", self._gone))
        self._opened.set()

    def _last_words(self) -> str:
        """Return how the courier ended unexpectedly."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_POLL_S)
        if (code := self._process.returncode) is not None and code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
            return f"the process that speaks with Dask was killed ({name}); finished runs are in the study"
        self._errors.seek(0)
        text = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return f"the connection to Dask ended: {text[-1][-_SHOWN:] if text else 'it gave no reason'}"


def _order(job: Job, parcel: Parcel) -> bytes:
    """Return the order of *job*: a worker simulates it, or measures it as target ``host`` or ``mpi`` would."""
    return pack_order(job, parcel, target=measured_by(job) if job.point.target else "")


@dataclass(frozen=True)
class _News:
    what: str
    text: str = ""
    data: bytes = b""
