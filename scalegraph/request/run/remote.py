"""Runs on a cluster: which of a study's runs are under way where, so that a later ScaleGraph finds them again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json

from scalegraph.base.errors import StoreError
from scalegraph.base.events import EventSink, Note, Workers
from scalegraph.base.files import reason
from scalegraph.base.locks import FileLock, Taken
from scalegraph.base.private import private_directory, read_private, state_root, write_private
from scalegraph.base.units import counted
from scalegraph.link.cluster.places import OTHERS
from scalegraph.store import Study

if TYPE_CHECKING:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link import Job
    from scalegraph.link.cluster.engine import Cluster, State
    from scalegraph.link.cluster.places import Where

FACT: Final = "jobs"  # of a study: {"study": name, "on": address, "ids": {key of the point: job}}
_ID: Final = re.compile(r"scalegraph-[0-9a-f]{32}")
_NAME: Final = re.compile(r"[0-9a-f]{32}")


@contextlib.contextmanager
def connected(where: Where, path: Path | None, emit: EventSink, cancel: CancelToken | None) -> Iterator[Cluster]:
    """Yield the link to *where*, for runs that go into the study at *path*.

    Workers left there for the same study by a ScaleGraph that was killed are taken over. Their contact is kept in the
    user's state directory, not in the study: a study from others must not name a scheduler.
    """
    from scalegraph.link.cluster.engine import Cluster

    contact = None if path is None or where.kind in OTHERS else _contact(path)

    def note(text: str) -> None:
        emit(Note(text))

    def changed(state: State) -> None:
        emit(Workers(where.address, state.workers, state.slots, state.idle))

    with contextlib.ExitStack() as stack:
        before = {} if contact is None else stack.enter_context(_held(contact, path, where))
        link = stack.enter_context(
            Cluster(where, uuid.uuid4().hex, before=before, changed=changed, said=note, cancel=cancel)
        )
        if contact is not None and link.state.contact:
            write_private(contact, json.dumps({"on": where.address, **link.state.contact}))
        changed(link.state)
        emit(Note(_opened(where, link.state)))
        yield link


def _opened(where: Where, state: State) -> str:
    there = f"{counted(state.workers, 'worker')}, {counted(state.slots, 'run')} side by side"
    if state.adopted:
        return f"{where.name}: the workers of the ScaleGraph that was killed are still there: {there}"
    if state.workers:
        return f"{where.name}: {there}"
    requested = f"; {state.expected} requested" if state.expected else ""
    return f"{where.name}: no worker yet, the runs wait for one{requested}"


def _contact(path: Path) -> Path:
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:32]
    return state_root() / "clusters" / f"{name}.json"


@contextlib.contextmanager
def _held(contact: Path, study: Path | None, where: Where) -> Iterator[dict[str, str]]:
    """Yield the contact left for *study* by an earlier ScaleGraph, locked against others.

    The file is removed on every normal end, as the scheduler in it ends then, but not if this process is killed.
    """
    private_directory(private_directory(contact.parent.parent) / contact.parent.name)
    try:
        lock = FileLock(contact.with_suffix(".lock"))
    except Taken as taken:
        text = f"is being written by another ScaleGraph (process {taken.holder}); wait for it or stop it"
        raise StoreError(f"{study}: {text}") from None
    except OSError as error:
        raise StoreError(f"{contact}: cannot be written: {reason(error)}") from error
    try:
        yield _left(contact, where)
    finally:
        contact.unlink(missing_ok=True)
        lock.release()


def _left(contact: Path, where: Where) -> dict[str, str]:
    """Return the contact of the scheduler that an earlier ScaleGraph left for *where*, empty if there is none.

    A file that others could have written or read is ignored.
    """
    try:
        found = from_json(read_private(contact) or "{}")
        return {str(name): str(value) for name, value in found.items()} if found["on"] == where.address else {}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


class JobBook:
    """The jobs of a *study* at a cluster. Records of an earlier ScaleGraph are read once, on creation."""

    def __init__(self, study: Study, link: Cluster, emit: EventSink) -> None:
        self._study = study
        self._link = link
        self._emit = emit
        kept = study.facts(FACT)
        self._kept: Mapping[str, Any] = kept if isinstance(kept, dict) else {}
        name = self._kept.get("study")
        self._name = name if isinstance(name, str) and _NAME.fullmatch(name) else uuid.uuid4().hex
        ids = self._kept.get("ids")
        pairs = ids.items() if isinstance(ids, dict) else ()
        self._before = {key: job for key, job in pairs if isinstance(job, str) and _ID.fullmatch(job)}
        self._ids: dict[str, str] = {}
        link.name = self._name

    def begin(self, jobs: Sequence[Job]) -> None:
        """Record that *jobs* are about to be sent; report on those of them that were sent before."""
        if not jobs:
            return
        self._ids = {job.point.key: self._link.job_id(job) for job in jobs}
        sent = [self._before.pop(key) for key in self._ids if key in self._before]
        self._write()
        if sent:
            self._report(sent)

    def kept(self, record: RunRecord) -> None:
        """Note that *record* is in the study: the cluster need not keep it any longer."""
        if job := self._ids.get(record.point.key):
            self._link.forget([job])

    def end(self) -> None:
        """Note that no job is under way any more; the cluster forgets earlier jobs that are not wanted."""
        if self._ids or self._before:
            self._link.forget(job for job in self._before.values() if job in self._link.state.known)
            self._ids, self._before = {}, {}
            self._write()

    def _report(self, sent: Sequence[str]) -> None:
        where, other = self._link.where, self._kept.get("on")
        there = sum(job in self._link.state.known for job in sent)
        if isinstance(other, str) and other != where.address:
            self._emit(Note(f"runs that were sent to {other[:200]} are not fetched from there; they are run again"))
            return
        again = f"; {len(sent) - there} of them are unknown there and run again" if there < len(sent) else ""
        self._emit(
            Note(f"{where.name}: {counted(len(sent), 'run')} had been sent there by an earlier ScaleGraph{again}")
        )

    def _write(self) -> None:
        ids = self._before | self._ids
        self._study.set_facts(FACT, {"study": self._name, "on": self._link.where.address, "ids": ids})
