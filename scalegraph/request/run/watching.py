"""A study that another ScaleGraph works on, for somebody who only watches: nothing is written, nothing is locked."""

from __future__ import annotations

from dataclasses import dataclass

from scalegraph.base.units import counted
from scalegraph.request.run.remote import FACT
from scalegraph.store import Study
from scalegraph.store.lock import writer


@dataclass(frozen=True)
class Watched:
    """A study at a moment: its *version*, which changes with every run, and what becomes of it in *words*."""

    version: int
    live: bool = False
    words: str = ""


def watched(study: Study) -> Watched:
    """Return how far the work on *study* is, if another process works on it; a file that is read, and no more."""
    version = study.version()
    process = writer(study.path) if study.path is not None else None
    if process is None:
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
