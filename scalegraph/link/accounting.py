"""The account of a measured run: the monitor's ticks by processor, region and category, completed so that they add up.

The monitor accounts for every tick of every thread. Here the ticks of threads become ticks of processors: the time that
other programs took (according to the kernel) and the monitor's own cost are taken out, and where there were more
threads than processors, waiting of the surplus threads is dropped. The categories of every run therefore add up to N x
T.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from scalegraph.base.run import RegionCost
from scalegraph.link.job import Job
from scalegraph.runtime.accounts import BORROWED
from scalegraph.runtime.format import CATEGORY_GROUPS, CATEGORY_NAMES, COUNTER_NAMES
from scalegraph.runtime.results import Result

COMPUTING = "busy_compute"
PREEMPTED = "idle_preempted"
MONITOR = "prim_monitor"
LEFT = "unattributed"
TOGETHER, OPERATION = "idle_collective", "prim_collective"
# By process id: ticks by thread and region.
Operating: TypeAlias = Mapping[str, Mapping[tuple[int, int], int]]
_AS_WRITTEN = "busy_int"  # where the monitor counts computing, see runtime/monitor/sgm.h
# A thread that sleeps, or has not started or has ended, is not ready: it is on no run queue.
_ASLEEP = {"idle_wait", "idle_not_started", "idle_finished", LEFT}
# Waiting of surplus threads, in the order in which it is dropped.
_SURPLUS = (LEFT, "idle_not_started", "idle_finished", "idle_wait", "idle_serial", PREEMPTED)
_EVENTS_OF_A_VISIT = 2
_TICK_S = 0.01  # the kernel updates the time of a running thread at its clock ticks, at least 100 a second
_HARDWARE = ("hw_cycles", "hw_instructions", "hw_cache_misses", "hw_stalled")


@dataclass
class _Thread:
    """Ticks of one thread by region and category, and the kernel's figures for it."""

    rows: dict[int, dict[str, int]] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    waited: int = 0  # ticks on the run queue
    events: int = 0
    processor: int = 0  # processor of the host

    def sum(self, names: Iterable[str] | None = None) -> int:
        """Return the ticks in the categories *names*, or in all if it is None."""
        wanted = None if names is None else set(names)
        return sum(
            ticks for row in self.rows.values() for name, ticks in row.items() if wanted is None or name in wanted
        )

    def move(self, source: str, target: str, ticks: int) -> int:
        """Move *ticks* from one category to another, each region in proportion; return how many moved."""
        have = self.sum((source,))
        wanted = left = min(ticks, have)
        for row in self.rows.values():
            part = min(row.get(source, 0), left, -(-wanted * row.get(source, 0) // have) if have else 0)
            row[source] = row.get(source, 0) - part
            row[target] = row.get(target, 0) + part
            left -= part
        return wanted - left

    def drop(self, source: str, ticks: int) -> int:
        """Drop at most *ticks* of a category; return how many were dropped."""
        done = self.move(source, "", ticks)
        for row in self.rows.values():
            row.pop("", None)
        return done


@dataclass(frozen=True)
class Account:
    """The account of a run. *ticks*: its elapsed time; *hertz*: ticks a second; *processors*: one row each."""

    ticks: int
    hertz: float
    processors: tuple[_Thread, ...]
    threads: int
    event_ticks: float
    elapsed: Mapping[int, int]  # of the main thread by region, including callees
    hardware: Mapping[str, int]

    def categories(self) -> dict[str, int]:
        """Return ticks by category, summed over processors."""
        return {name: sum(values) for name, values in self.by_processor().items()}

    def by_processor(self) -> dict[str, list[int]]:
        """Return ticks by category and processor, for computing and every kind of waiting and overhead."""
        names = {name for thread in self.processors for row in thread.rows.values() for name, n in row.items() if n}
        names |= {name for name, group in CATEGORY_GROUPS.items() if group in ("idle", "primitive")}
        order = [name for name in CATEGORY_GROUPS if name in names]
        return {name: [thread.sum((name,)) for thread in self.processors] for name in order}

    def counters(self) -> dict[str, int]:
        """Return event counts over all processors: the monitor's and the hardware's."""
        names = ("barriers", "locks", "chunks", "visits", "tasks")
        found = {name: sum(thread.counters.get(name, 0) for thread in self.processors) for name in names}
        return {**found, **self.hardware}

    def taken(self) -> dict[int, float]:
        """Return the share of its time for which each thread was ready but not running, by the host's processor."""
        return {thread.processor: thread.waited / self.ticks for thread in self.processors if thread.waited}

    def monitor_share(self) -> float:
        """Return the share of all processors' time that the monitor's own events took."""
        whole = self.ticks * len(self.processors)
        return sum(thread.events for thread in self.processors) * self.event_ticks / whole if whole else 0.0

    def cheap(self, limit_s: float) -> set[int]:
        """Return the regions whose visits take less than *limit_s* on average."""
        ticks: dict[int, int] = defaultdict(int)
        visits: dict[int, int] = defaultdict(int)
        for thread in self.processors:
            for region, row in thread.rows.items():
                ticks[region] += sum(row.values())
                visits[region] += thread.visits.get(region, 0)
        elapsed = {region: max(ticks[region], self.elapsed.get(region, 0)) for region in ticks}
        limit = limit_s * self.hertz
        return {region for region, n in visits.items() if region and n and elapsed[region] < n * limit}

    def regions(self, folded: Mapping[int, int]) -> tuple[RegionCost, ...]:
        """Return the cost of each region; that of a region in *folded* is added to the region it maps to."""
        parts: dict[int, list[_Thread]] = defaultdict(lambda: [_Thread() for _ in self.processors])
        for number, thread in enumerate(self.processors):
            for region, row in thread.rows.items():
                into = parts[folded.get(region, region)][number]
                whole = into.rows.setdefault(0, {})
                for name, ticks in row.items():
                    whole[name] = whole.get(name, 0) + ticks
                if region not in folded:
                    into.visits[0] = thread.visits.get(region, 0)
        return tuple(self._region(region, mine) for region, mine in sorted(parts.items()))

    def _region(self, region: int, mine: Sequence[_Thread]) -> RegionCost:
        categories = {name: sum(thread.sum((name,)) for thread in mine) for name in CATEGORY_GROUPS}
        busy = max(thread.sum((COMPUTING,)) for thread in mine)
        return RegionCost(
            region=region,
            categories={name: ticks for name, ticks in categories.items() if ticks},
            counters={"visits": sum(thread.visits.get(0, 0) for thread in mine)},
            busy_max=busy,
            useful_max=busy,
            elapsed=self.elapsed.get(region),
        )


def combined(job: Job, results: Sequence[Result], operating: Operating | None = None) -> Account:
    """Return the account of a run of *job* whose processes left *results*.

    *operating*: the part of the time in collective operations that was not waiting for others.
    """
    main = max(results, key=lambda one: int(one.meta["time_cycles"]) / float(one.meta["frequency_hz"]))
    chosen = sorted(results, key=lambda one: int(one.meta["rank"])) if job.processes else [main]
    ticks, hertz = int(main.meta["time_cycles"]), float(main.meta["frequency_hz"])
    share = job.point.processors // max(len(chosen), 1) if job.processes else job.point.processors
    processors: list[_Thread] = []
    count = 0
    for result in chosen:
        scale = hertz / float(result.meta["frequency_hz"]) if foreign([result], main) else 1.0
        threads = _threads(result, ticks, hertz, (operating or {}).get(result.meta["pid"], {}), scale)
        count += len(threads)
        processors += _on_processors(threads, max(share, 1), ticks)
    cost = float(main.meta["event_ticks"])
    for thread in processors:
        _compensate(thread, cost)
        _left(thread, ticks)
    elapsed = {part["region"]: part["cycles"] for part in main.rows("PARTS")}
    return Account(ticks, hertz, tuple(processors), count, cost, elapsed, _hardware(chosen))


def computer(result: Result) -> str:
    """Return the boot id of *result*'s computer, which distinguishes it from others."""
    return result.meta.get("computer", "").partition(" ")[0]


def foreign(results: Iterable[Result], one: Result) -> bool:
    """Whether any of *results* is from another computer than *one*."""
    return any(computer(result) != computer(one) for result in results)


def _threads(
    result: Result, ticks: int, hertz: float, operating: Mapping[tuple[int, int], int], scale: float
) -> list[_Thread]:
    """Return the threads of a process, each with *ticks* in total. *scale*: our ticks per tick of its own."""
    found: dict[int, _Thread] = defaultdict(_Thread)
    for cost in result.rows("COSTS"):
        thread = found[cost["processor"]]
        row = {name: round(own * scale) for name, own in zip(CATEGORY_NAMES, cost["categories"], strict=True) if own}
        if _AS_WRITTEN in row:
            row[COMPUTING] = row.pop(_AS_WRITTEN)
        row = {BORROWED.get(name, name): own for name, own in row.items()}
        done = round(operating.get((cost["processor"], cost["region"]), 0) * scale)
        if done := min(done, row.get(TOGETHER, 0)):
            row[TOGETHER] -= done
            row[OPERATION] = done
        thread.rows[cost["region"]] = row
        counters = dict(zip(COUNTER_NAMES, cost["counters"], strict=True))
        thread.visits[cost["region"]] = counters["visits"]
        for name, count in counters.items():
            thread.counters[name] = thread.counters.get(name, 0) + count
    own = min(round(int(result.meta["time_cycles"]) * scale), ticks)
    for number, thread in found.items():
        events, ran, waited, processor, _kernel = map(int, result.meta[f"thread.{number}"].split())
        thread.events, thread.processor = events, processor
        thread.waited = round(waited * 1e-9 * hertz)
        row = thread.rows.setdefault(0, {})
        row["idle_finished"] = row.get("idle_finished", 0) + ticks - own  # the longest process sets the end of the run
        _share_of_others(thread, round(ran * 1e-9 * hertz), round(_TICK_S * hertz))
    return [found[number] for number in sorted(found)]


def _share_of_others(thread: _Thread, ran: int, late: int) -> None:
    """Take the time for which the kernel says the thread did not run out of its account.

    A thread that the monitor saw computing, but that neither *ran* nor was ready, was blocked in a system call that the
    monitor does not observe. Its time on the run queue is spread over everything but sleep, and leaves at least what it
    *ran*, or one tick: part of the queueing may have followed a sleep. *late*: how far the kernel's figures may lag.
    """
    working = [name for name, group in CATEGORY_GROUPS.items() if group in ("busy", "primitive")]
    blocked = thread.sum(working) - ran - thread.waited
    if blocked > late:
        thread.move(COMPUTING, LEFT, blocked)
    there = sorted({name for row in thread.rows.values() for name in row} - _ASLEEP)
    whole = {name: thread.sum((name,)) for name in there}
    every = sum(whole.values())
    preempted = min(thread.waited, every - max(min(ran, every), 1)) if every else 0
    for name, ticks in whole.items():
        thread.move(name, PREEMPTED, preempted * ticks // every if every else 0)


def _on_processors(threads: list[_Thread], count: int, ticks: int) -> list[_Thread]:
    """Return *count* processors: missing threads become idle processors, surplus threads are merged into others."""
    while len(threads) < count:
        threads.append(_Thread(rows={0: {"idle_not_started": ticks}}))
    if len(threads) == count:
        return threads
    surplus = (len(threads) - count) * ticks
    for name in _SURPLUS:
        for thread in threads:
            surplus -= thread.drop(name, surplus)
    busiest = sorted(threads, key=lambda thread: -thread.sum((COMPUTING,)))
    processors, rest = busiest[:count], busiest[count:]
    for thread in rest:
        least = min(processors, key=lambda one: one.sum())
        _merge(least, thread)
    _level(processors, ticks)
    return processors


def _merge(into: _Thread, other: _Thread) -> None:
    for region, row in other.rows.items():
        mine = into.rows.setdefault(region, {})
        for name, ticks in row.items():
            mine[name] = mine.get(name, 0) + ticks
        into.visits[region] = into.visits.get(region, 0) + other.visits.get(region, 0)
    for name, count in other.counters.items():
        into.counters[name] = into.counters.get(name, 0) + count
    into.events += other.events
    into.waited += other.waited


def _level(processors: Sequence[_Thread], ticks: int) -> None:
    """Bring every processor down to *ticks*: the excess, waiting first and computing last, moves to those below."""
    for thread in processors:
        above = thread.sum() - ticks
        names = sorted({name for row in thread.rows.values() for name in row}, key=lambda name: name == COMPUTING)
        for name in names:
            moved = thread.drop(name, above) if above > 0 else 0
            above -= moved
            for other in processors:
                part = min(moved, max(ticks - other.sum(), 0)) if other is not thread else 0
                if part:
                    row = other.rows.setdefault(0, {})
                    row[name] = row.get(name, 0) + part
                    moved -= part


def _compensate(thread: _Thread, cost: float) -> None:
    """Move the cost of each region's probes from computing to the monitor's category."""
    for region, visits in thread.visits.items():
        row = thread.rows.get(region)
        if row is None or not visits:
            continue
        own = min(row.get(COMPUTING, 0), round(visits * _EVENTS_OF_A_VISIT * cost))
        row[COMPUTING] = row.get(COMPUTING, 0) - own
        row[MONITOR] = row.get(MONITOR, 0) + own


def _left(thread: _Thread, ticks: int) -> None:
    """Book the ticks missing from *ticks* as not attributed."""
    missing = ticks - thread.sum()
    row = thread.rows.setdefault(0, {})
    row[LEFT] = row.get(LEFT, 0) + max(missing, 0)


def _hardware(results: Sequence[Result]) -> dict[str, int]:
    """Return the sums of the hardware counters; empty where the kernel does not allow them."""
    found: dict[str, int] = {}
    for result in results:
        for key, text in result.meta.items():
            name, _, number = key.partition(".")
            if name in _HARDWARE and number.isdecimal():
                found[name] = found.get(name, 0) + int(text)
    return found
