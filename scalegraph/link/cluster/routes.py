"""Which workers runs may go to: workers that refused are excluded, silent ones are given up for now."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from scalegraph.base.units import seconds
from scalegraph.link.cluster import frames

SILENT_S: Final = 60.0
"""How long a worker may be silent before its runs go to others."""
_LONGEST: Final = 500  # characters of a worker's message
_SHOWN: Final = 3  # workers named in a sentence


@dataclass
class Seen:
    """A worker as the scheduler sees it: its *name*, the runs it does side by side, and when it was last heard of."""

    name: str
    threads: int
    mark: float = 0.0  # the scheduler's time of its last heartbeat; changes while the worker lives
    heard: float = 0.0  # when *mark* last changed, on our clock


@dataclass
class Routes:
    """The workers of a place by address, and why some get no more runs; *say* passes on a sentence."""

    say: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    live: dict[str, Seen] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)  # address: reason; of present workers
    silent: set[str] = field(default_factory=set)
    _reasons: dict[str, str] = field(default_factory=dict)  # name: reason; of all that ever refused

    def good(self) -> frozenset[str]:
        """Return the addresses of the workers that runs may go to."""
        return frozenset(self.live) - set(self.refused) - self.silent

    def restricted(self) -> bool:
        """Whether some present worker must not get runs."""
        return bool(self.refused or self.silent)

    def observe(self, workers: Mapping[str, Mapping[str, Any]], *, first: bool = False) -> bool:
        """Update the workers from the scheduler's list *workers*; return whether any came or went.

        Reports which joined and which were lost, except the *first* time.
        """
        now, fresh = self.clock(), {}
        for address, about in workers.items():
            known = self.live.get(address) or Seen(_name(address, about), int(about.get("nthreads", 1)))
            mark = float(about.get("last_seen", 0.0))
            if mark != known.mark or not known.heard:
                known.mark, known.heard = mark, now
            fresh[address] = known
        joined = [fresh[address].name for address in fresh.keys() - self.live.keys()]
        lost = [self.live[address].name for address in self.live.keys() - fresh.keys()]
        self.live = fresh
        self.refused = {address: why for address, why in self.refused.items() if address in fresh}
        self.silent &= fresh.keys()
        if not first:
            self._say_changes(joined, lost)
        self._listen(now)
        return bool(joined or lost)

    def _say_changes(self, joined: list[str], lost: list[str]) -> None:
        there = f"{len(self.live)} there now"
        if lost:
            self.say(f"{_named(lost, 'is', 'are')} lost, what ran there goes to others; {there}")
        if joined:
            self.say(f"{_named(joined, 'has', 'have')} joined; {there}")

    def _listen(self, now: float) -> None:
        """Give up workers that are silent, and take back those that are heard of again."""
        quiet = {address for address, seen in self.live.items() if now - seen.heard > SILENT_S}
        if gone := sorted(self.live[address].name for address in quiet - self.silent):
            words = _named(gone, "has", "have")
            self.say(f"{words} not been heard of for {seconds(SILENT_S)}, what runs there goes to others")
        if back := sorted(self.live[address].name for address in self.silent - quiet):
            self.say(f"{_named(back, 'is', 'are')} heard of again")
        self.silent = quiet

    def refuse(self, address: str, why: str) -> None:
        """Exclude the worker at *address*, and say so once."""
        if address not in self.live or address in self.refused:
            return
        self.refused[address] = why
        name = self.live[address].name
        if self._reasons.get(name) != why:
            self.say(f"worker {name} is left out: {why}")
        self._reasons[name] = why

    def hopeless(self, expected: int) -> str:
        """Return a sentence if every worker has refused and none of *expected* is still to come, otherwise ""."""
        if not self.refused or self.good() or self.silent or len(self.live) < expected:
            return ""
        shown = list(dict.fromkeys(self.refused.values()))[:_SHOWN]
        return f"no worker is left that could carry out the runs: {'; '.join(shown)}"


def refusal_in(answer: bytes) -> str:
    """Return why the worker that gave *answer* can carry out no run of ours; empty if it can.

    Earlier versions do not distinguish a refusal from a faulty run. A worker of another version can carry out none
    anyway.
    """
    if not answer.startswith(frames.MAGIC):
        return ""
    try:
        head, _blobs = frames.unpack(answer)
    except (ValueError, RecursionError):
        return ""
    if "refused" not in head or head.get("of_run") is True:
        return ""
    return " ".join(str(head["refused"])[:_LONGEST].split()) or "it does not say why"


def _name(address: str, about: Mapping[str, Any]) -> str:
    """Return a worker's name for sentences: computer and port, as in messages about runs that begin there."""
    host, port = str(about.get("host") or ""), address.rpartition(":")[2]
    given = str(about.get("name", ""))[:_LONGEST]
    return f"{given} at {host}:{port}" if given and given != address else f"{host}:{port}"


def _named(names: list[str], one: str, several: str) -> str:
    """Return ``worker a is`` or ``workers a, b are``, with the verb for *one* or for *several*."""
    shown = ", ".join(sorted(names)[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return f"worker {shown} {one}" if len(names) == 1 else f"workers {shown} {several}"
