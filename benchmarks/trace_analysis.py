"""How fast the critical path, the wait states and the sums over intervals of a large trace are computed.

    python benchmarks/trace_analysis.py [--events 10000000] [--locations 64] [--derived]
    python benchmarks/trace_analysis.py --events 100000000 --write FILE.sgtrace
    python benchmarks/trace_analysis.py --by-times FILE.sgtrace

The trace is a loop of steps. In each step, every location calls functions for a random time, sends a message around the
ring and waits at a barrier. With --derived, the trace records no waits; they are derived from the barrier calls and the
messages. With --by-times, a trace written by --write is analysed one time interval after the other, as traces of more
than 25 million events are, and the process's memory without mapped files is printed.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.critical_path import critical_path
from scalegraph.analyze.trace.critical_path_profile import Contents, on_path
from scalegraph.analyze.trace.messages import by_pair, sent_messages
from scalegraph.analyze.trace.profile import call_sums, flat, tree
from scalegraph.analyze.trace.wait_states import by_place, wait_states, worst
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.analyze.trace.whole import on_path_by_times, times_of, waits_by_times
from scalegraph.traces.builder import Builder
from scalegraph.traces.container import write_container
from scalegraph.traces.kinds import Operation, Wait
from scalegraph.traces.model import Communicator, Group, Location, Meta, Region, Trace
from scalegraph.traces.reading import read

_Made = TypeVar("_Made")
_ROWS = 11  # rows per location and step
_BARRIER = 40


def made(events: int, locations: int, *, derived: bool) -> Trace:
    """Return a trace of about *events* rows."""
    builder = Builder(limit=1 << 40)
    builder.meta = Meta(program="made")
    found = builder.definitions
    found.groups = [Group("machine")]
    found.locations = [Location(f"processor {n}", "processor", 0) for n in range(locations)]
    found.regions = [Region(f"function {n}", "made.c", n) for n in range(_BARRIER)] + [
        Region("omp barrier", "made.c", 90)
    ]
    found.communicators = [Communicator("world", tuple(range(locations)))]
    steps = events // locations // (_ROWS - derived)
    random = np.random.default_rng(7)
    work = random.integers(20, 400, (steps, locations))
    opens = np.cumsum(np.r_[0, work.max(axis=1) + 20])
    begin = opens[:-1, None] + np.zeros((1, locations), np.int64)
    came, last = begin + work, work.argmax(axis=1)
    gone = opens[1:, None] + np.zeros((1, locations), np.int64)
    for who in range(locations):
        region = random.integers(0, _BARRIER, (steps, 3))
        names = np.stack([region[:, 0], region[:, 1], region[:, 1], region[:, 2], region[:, 2], region[:, 0]], axis=1)
        w, b = work[:, who], begin[:, who]
        times = np.stack(
            [b, b + w // 8, b + w // 4, b + w // 2, b + w * 3 // 4, came[:, who], came[:, who], gone[:, who]], 1
        )
        what = np.tile(np.array([1, 1, 2, 1, 2, 2, 1, 2], np.uint8), steps)
        names = np.concatenate([names, np.full((steps, 2), _BARRIER)], axis=1)
        builder.add("calls", time=times.reshape(-1), location=who, what=what, region=names.reshape(-1))
        if not derived:
            late = last != who
            builder.add(
                "waits",
                begin=came[late, who],
                end=gone[late, who],
                location=who,
                holder=last[late],
                why=Wait.BARRIER,
                object=1,
                region=_BARRIER,
                released=came[late, last[late]],
            )
        sent = b + w // 4
        builder.add(
            "messages",
            sent=sent,
            left=sent + 1,
            posted=gone[:, who] - 1,
            received=gone[:, who],
            sender=who,
            receiver=(who + 1) % locations,
            size=1024,
            tag=0,
            communicator=0,
        )
        builder.add(
            "collectives",
            begin=gone[:, who],
            end=gone[:, who] + 2,
            location=who,
            operation=Operation.ALL_REDUCE,
            communicator=0,
            root=-1,
            sent=8,
            received=8,
        )
    return builder.finish(begin=0, end=int(opens[-1]))


def timed(name: str, work: Callable[[], _Made]) -> _Made:
    """Run *work*, print its time, and return its result."""
    start, used = time.perf_counter(), time.process_time()
    result = work()
    print(f"{name:34} {time.perf_counter() - start:7.2f} s, {time.process_time() - used:7.2f} s of processor time")
    return result


def own_gib() -> float:
    """Return the process's resident memory without mapped files in GiB."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) / 2**20


def by_times(path: Path) -> None:
    """Time the waits and critical path of the trace at *path*, one time interval after the other."""
    with read(path) as trace:
        print(f"{sum(trace.counts().values()):,} events: {trace.counts()}")
        table = timed("calls matched, with their paths", lambda: CallTable(trace))
        times = times_of(trace)
        print(f"{len(times)} time intervals, {own_gib():.2f} GiB of memory")
        waits = timed("waits", lambda: waits_by_times(trace, table, times))
        print(f"{len(waits.rows):,} waits, {own_gib():.2f} GiB of memory")
        found = timed("critical path", lambda: critical_path(trace, waits))
        timed("time on the path", lambda: on_path_by_times(trace, table, times, waits, found))
        states = timed("wait states", lambda: wait_states(trace, waits))
        timed("worst waits and places", lambda: (worst(trace, states), by_place(trace, states)))
        share = found.length / (trace.meta.end - trace.meta.begin)
        print(f"length {share:.6f} of the run, {own_gib():.2f} GiB of memory")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--locations", type=int, default=64)
    parser.add_argument("--derived", action="store_true")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the trace and measure nothing")
    parser.add_argument("--by-times", type=Path, metavar="FILE", help="analyse this trace interval by interval")
    options = parser.parse_args()
    if options.by_times:
        by_times(options.by_times)
        return
    trace = made(options.events, options.locations, derived=options.derived)
    print(f"{sum(trace.counts().values()):,} events: {trace.counts()}")
    if options.write:
        write_container(trace, options.write)
        return
    start = time.perf_counter()
    waits = timed("waits: read, derived, sorted", lambda: Waits.of(trace))
    path = timed("critical path", lambda: critical_path(trace, waits))
    timed("time on the path", lambda: on_path(Contents(trace, waits), path))
    print(
        f"{'critical path, all':34} {time.perf_counter() - start:7.2f} s, {path.hops:,} hops, {len(waits.rows):,} waits"
    )
    states = timed("wait states", lambda: wait_states(trace, waits))
    timed("worst waits and places", lambda: (worst(trace, states), by_place(trace, states)))
    table = timed("calls matched, with their paths", lambda: CallTable(trace))
    begin, end = trace.meta.begin, trace.meta.end
    sums = timed("profile of the whole run", lambda: call_sums(table, trace, begin, end))
    timed("profile by region and call path", lambda: (flat(trace, sums), tree(trace, sums)))
    timed(
        "profile of a tenth",
        lambda: call_sums(table, trace, begin + (end - begin) // 2, begin + (end - begin) * 6 // 10),
    )
    timed("message statistics", lambda: by_pair(trace, sent_messages(trace, begin, end)))
    print(f"length {path.length / (trace.meta.end - trace.meta.begin):.6f} of the run")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
