"""Damage samples of every format, for as long as you want: python -m tests.security.run_damage --outside --inside 2000.

    --outside    at every byte of every file of every sample: cut the file, flip the byte, zero it, zero 512 bytes; of
                 several files with one name, such as the profiles of several runs, only the last
    --inside N   N mutated studies and N mutated traces with correct checksums, with every view and quantity

These are about 300,000 damaged files and an hour of processor time; no case starts after --seconds. With --journal
FILE, results are saved, and a later call continues from there. Each case may take `damage.LONGEST_S` seconds of
processor time and add `cases.MEMORY_KIB` of memory; a case cannot end the whole run. Faults are printed with what
reproduces them, and the exit code is then 1. The final table gives for each sample the number of cases, their outcomes,
the longest processor time of a use in milliseconds, and the largest memory that a use added, in MiB.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.security.cases import Cases, Tally, of_bytes, went_through

HEAD = "| sample | damaged files | read | refused | wrong | longest, ms | memory, MiB |\n" + "| --- " * 7 + "|"


def main() -> int:
    """Carry out the requested damage; return the exit code."""
    parser = argparse.ArgumentParser(description="damage samples of every format")
    parser.add_argument("--seconds", type=float, default=7200, help="start no case later (default: 7200)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the changes inside files (default: 1)")
    parser.add_argument("--only", default="", help="only samples whose names contain this text")
    parser.add_argument("--outside", action="store_true", help="damage every byte of every sample")
    parser.add_argument("--step", type=int, default=1, help="damage only every n-th byte (default: 1)")
    parser.add_argument("--inside", type=int, default=0, metavar="N", help="change N studies and N traces inside")
    parser.add_argument("--journal", type=Path, help="save results in this file; continue from those already there")
    asked = parser.parse_args()
    warnings.simplefilter("error", RuntimeWarning)
    os.environ.setdefault("MPLBACKEND", "agg")
    over = time.monotonic() + asked.seconds
    done = _kept(asked.journal)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True, dir=memory if memory.is_dir() else None) as scratch:
        os.environ["SCALEGRAPH_CACHE"] = os.environ["XDG_STATE_HOME"] = f"{scratch}/cache"
        for make in subjects(asked, Path(scratch)):
            with make() as cases:
                _all_of(cases, done, asked.journal, over)
    print(HEAD)
    for name, tally in done.items():
        print(tally.row(name))
    print(_sum(done).row("all"))
    return 1 if _sum(done).wrong else 0


def _all_of(cases: Cases, done: dict[str, Tally], journal: Path | None, over: float) -> None:
    tally = done.get(cases.name, Tally())
    while tally.next < cases.count and time.monotonic() < over:
        known = len(tally.faults)
        tally = done[cases.name] = went_through(cases, tally, over)
        print(*tally.faults[known:], sep="\n", end="\n" if tally.faults[known:] else "", flush=True)
        if journal:
            journal.write_text(json.dumps({name: asdict(one) for name, one in done.items()}, indent=1))
    left = f", {cases.count - tally.next:,} left" if tally.next < cases.count else ""
    longest = f"longest {tally.longest_ms} ms ({cases.label(tally.longest)})" if tally.tried else "nothing tried"
    print(f"{cases.name}: {tally.tried:,} tried, {tally.wrong} wrong, {longest}{left}", file=sys.stderr, flush=True)


def _kept(journal: Path | None) -> dict[str, Tally]:
    if journal is None or not journal.exists():
        return {}
    return {name: Tally(**values) for name, values in json.loads(journal.read_text()).items()}


def _sum(done: dict[str, Tally]) -> Tally:
    every = list(done.values())
    return Tally(
        same=sum(one.same for one in every),
        read=sum(one.read for one in every),
        refused=sum(one.refused for one in every),
        wrong=sum(one.wrong for one in every),
        longest_ms=max((one.longest_ms for one in every), default=0),
        most_kib=max((one.most_kib for one in every), default=0),
    )


def subjects(asked: argparse.Namespace, scratch: Path) -> Iterator[Callable[[], Any]]:
    """Yield the requested kinds of damage, each as a context with its cases."""
    from tests.security import damage

    if asked.inside:
        yield lambda: _studies(asked, scratch)
        yield lambda: _traces(asked, scratch)
    if asked.outside:
        for name, (make, use) in damage.samples().items():
            if asked.only in name:
                yield lambda name=name, make=make, use=use: _sample(name, make, use, asked.step, scratch)


@contextmanager
def _sample(name: str, make: Any, use: Any, step: int, scratch: Path) -> Iterator[Cases]:
    from tests.security import damage

    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        path = make(Path(directory))
        assert damage.tried(use, path) == "read", name
        yield of_bytes(name, Path(directory), use, path, step)


@contextmanager
def _studies(asked: argparse.Namespace, scratch: Path) -> Iterator[Cases]:
    from tests.security import damage
    from tests.security.samples import full_study

    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        whole = full_study(Path(directory) / "whole.sgstudy")
        study = Path(directory) / "s.sgstudy"

        def prepare(number: int) -> bool:
            shutil.copy(whole, study)
            damage.mutate_study(study, random.Random(asked.seed + number))
            return True

        yield _changed("study, changed inside", asked, prepare, lambda: damage.tried(damage.use_whole_study, study))


@contextmanager
def _traces(asked: argparse.Namespace, scratch: Path) -> Iterator[Cases]:
    from tests.security import damage
    from tests.traces.made import small
    from tests.traces.samples import pipeline
    from tests.traces.test_formats import written

    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        place = Path(directory)
        own = [written(make(), place / f"{make.__name__}.sgtrace").read_bytes() for make in (small, pipeline)]
        trace = place / "t.sgtrace"

        def prepare(number: int) -> bool:
            seed = asked.seed + number
            trace.write_bytes(damage.mutate_trace(own[seed % 2], random.Random(seed)))
            return True

        yield _changed("trace, changed inside", asked, prepare, lambda: damage.tried(damage.use_whole_trace, trace))


def _changed(name: str, asked: argparse.Namespace, prepare: Callable[[int], bool], use: Callable[[], str]) -> Cases:
    return Cases(name, asked.inside, prepare, lambda _: None, lambda number: f"seed {asked.seed + number}", use)


if __name__ == "__main__":
    sys.exit(main())
