"""The expected content of a timeline, computed segment by segment from the events."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from scalegraph.traces import activities
from scalegraph.traces.builder import Builder
from scalegraph.traces.kinds import What
from scalegraph.traces.lod import Timeline
from scalegraph.traces.model import Trace
from tests.traces.made import definitions

Segment = tuple[int, int, int, float]  # begin, end, number of the region or state (-1: none), share of the time


def call_segments(trace: Trace, location: int) -> list[Segment]:
    """Return the innermost region over time in *location*, from the run's begin to its end."""
    columns = trace.columns("calls")
    stack: list[int] = []
    now, made = trace.meta.begin, []
    any_calls = False
    for time, who, what, region in zip(
        *(columns[n].tolist() for n in ("time", "location", "what", "region")), strict=True
    ):
        if who != location:
            continue
        any_calls = True
        time = max(min(time, trace.meta.end), now)
        made.append((now, time, stack[-1] if stack else -1, 1.0))
        now = time
        if what == What.ENTER:
            stack.append(region)
        elif stack:
            stack.pop()
    made.append((now, trace.meta.end, stack[-1] if stack else -1, 1.0))
    return made if any_calls else []


def state_segments(trace: Trace, location: int) -> list[Segment]:
    columns = trace.columns("states")
    rows = zip(*(columns[n].tolist() for n in ("begin", "end", "location", "state")), strict=True)
    return [(begin, end, state, 1.0) for begin, end, who, state in rows if who == location]


def share_segments(trace: Trace, location: int) -> list[Segment]:
    columns = trace.columns("shares")
    rows = zip(*(columns[n].tolist() for n in ("begin", "end", "location", "state", "ticks")), strict=True)
    return [(b, e, state, ticks / (e - b)) for b, e, who, state, ticks in rows if who == location and e > b]


_SEGMENTS = {"calls": call_segments, "states": state_segments, "shares": share_segments}


def expected(line: Timeline, layer: str, edges: Any, location: int) -> list[dict[int, float]]:
    """Return the share of every code of *layer* in each bin."""
    source = line.layers[layer].source
    trace = line.trace
    if layer == "activity":
        of = (
            activities.of_regions(trace.definitions.regions)
            if source == "calls"
            else activities.of_states(trace.definitions.states, trace.meta)
        )
        code = [*of.tolist(), activities.IDLE if source == "calls" else -1]
    else:
        code = [*range(len(line.layers[layer].codes) - 1), -1]
    bins: list[dict[int, float]] = [defaultdict(float) for _ in range(len(edges) - 1)]
    times = edges.tolist()
    for begin, end, number, weight in _SEGMENTS[source](trace, location):
        if code[number] < 0 or end <= begin:
            continue
        first = max(int(np.searchsorted(edges, begin, "right")) - 1, 0)
        for at in range(first, len(bins)):
            if times[at] >= end:
                break
            inside = min(end, times[at + 1]) - max(begin, times[at])
            if inside > 0:
                bins[at][code[number]] += weight * inside / (times[at + 1] - times[at])
    return bins


def bursty(rows: int, locations: int, regions: int, span: int, seed: int = 1) -> Trace:
    """Return nested calls, half of them in bursts of a millionth of the run, some with zero duration."""
    random = np.random.default_rng(seed)
    builder = Builder()
    builder.definitions = definitions(locations, tuple(f"f{n}" if n % 3 else f"MPI_{n}" for n in range(regions)))
    for who in range(locations):
        spread = random.integers(0, span, rows // 2)
        burst = span // 3 + random.integers(0, max(span // 10**6, 2), rows - rows // 2)
        time = np.sort(np.r_[spread, burst])
        depth = 0
        what, region, stack = [], [], []
        for _ in range(rows):
            enter = depth == 0 or (depth < 6 and random.random() < 0.5)
            depth += 1 if enter else -1
            if enter:
                stack.append(int(random.integers(0, regions)))
            region.append(stack[-1] if enter else stack.pop())
            what.append(What.ENTER if enter else What.LEAVE)
        builder.add("calls", time=time, location=who, what=np.array(what), region=np.array(region))
    return builder.finish(begin=0, end=span)
