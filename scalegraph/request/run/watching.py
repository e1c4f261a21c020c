"""A study that another ScaleGraph works on, for watching only: nothing is written or locked."""

from __future__ import annotations

import os
from dataclasses import dataclass

from scalegraph.base.units import counted
from scalegraph.request.run.remote import FACT
from scalegraph.store import Study
from scalegraph.store.lock import writer


@dataclass(frozen=True)
class Watched:
    """A snapshot of a study: its *version*, which changes with every run, and its progress in *words*."""

    version: int
    live: bool = False
    words: str = ""


def watched(study: Study) -> Watched:
    """Return the progress of another process that works on *study*, if any; the file is only read."""
    version = study.version()
    process = writer(study.path) if study.path is not None else None
    if process in (None, os.getpid()):  # the queue of this process already shows what it writes itself
        return Watched(version)
    kept = study.facts(FACT)
    ids = kept.get("ids") if isinstance(kept, dict) else None
    under_way = set(ids) if isinstance(ids, dict) else set()
    done = study.keys(ok=False)
    by = f" (process {process})" if process else ""
    if not under_way:
        return Watched(version, True, f"{counted(len(done), 'run')} so far; another ScaleGraph{by} adds to them.")
    where = str(kept.get("on", ""))[:200]
    total = len(done | under_way)
    return Watched(version, True, f"{len(done)} of {counted(total, 'run')}; the rest is under way at {where}{by}.")
