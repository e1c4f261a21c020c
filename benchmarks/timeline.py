"""How fast a large trace opens, and how fast any part of it is shown; see docs/TRACES.md for the figures.

    python benchmarks/timeline.py [--events 10000000] [--large] [--locations 64] [--place DIRECTORY]
                                  [--pipit PYTHON [--peer 400000]]

Writes a trace of nested calls with messages, waits, counters and bursts (with *--large*, also one of 100 million
events). Separate processes then open the trace and walk through it: a fixed sequence of 200 zooms and pans. A look
computes 64 lanes in 2,000 bins. A whole step computes them for 1,280 pixels, builds the figure and its colours, and
draws it off-screen. With *--pipit*, an interpreter with pipit and otf2, both tools read the same OTF2 archive of calls
and messages and compute the time of each function in 2,000 bins over the whole run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from scalegraph.analyze.trace.interval import LARGE, rows_in
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.base.cancel import CancelToken, working
from scalegraph.base.errors import Cancelled
from scalegraph.traces.container import ContainerWriter, write_container
from scalegraph.traces.formats import Writing, writer_for
from scalegraph.traces.kinds import KINDS, Array, Columns, What
from scalegraph.traces.lod import Timeline
from scalegraph.traces.model import Communicator, Definitions, Group, Location, Meta, Metric, Region, Trace
from scalegraph.traces.reading import read

WIDTH, LANES = 2000, 64
LEAST = 2e-5  # minimum duration (s) of the filtered walk; two thirds of the calls are this long
ROUND = 1 << 16  # events of a location that are written at once


def definitions(locations: int) -> Definitions:
    """Return the definitions of the trace: 200 functions, four of them of MPI."""
    names = ["MPI_Barrier", "MPI_Send", "MPI_Recv", "MPI_Allreduce", *(f"function {n}" for n in range(196))]
    return Definitions(
        groups=[Group(f"rank {n}") for n in range(locations)],
        locations=[Location(f"rank {n}", "process", n) for n in range(locations)],
        regions=[Region(name, "program.c", 10 * n) for n, name in enumerate(names)],
        metrics=[Metric("ops", "ops", "next", True), Metric("load", "", "last", False)],
        communicators=[Communicator("world", tuple(range(locations)))],
    )


def calls(random: np.random.Generator, rows: int, start: int, burst: bool) -> Columns:
    """Return *rows* (a multiple of 8) of one location from *start* (ns): nested functions, at most four deep.

    In a burst, everything is a thousand times as fast.
    """
    blocks = rows // 8
    enter, leave = What.ENTER, What.LEAVE
    shape = np.array(
        [
            [enter, enter, leave, enter, enter, leave, leave, leave],
            [enter, enter, enter, enter, leave, leave, leave, leave],
        ],
        np.uint8,
    )
    partner = np.array([[0, 1, 1, 2, 3, 3, 2, 0], [0, 1, 2, 3, 3, 2, 1, 0]])
    which = random.integers(0, 2, blocks)
    chosen = np.minimum(random.zipf(1.6, (blocks, 4)), 199)
    region = np.take_along_axis(chosen, partner[which], axis=1).reshape(-1)
    gaps = random.exponential(20.0 if burst else 20_000.0, blocks * 8).astype(np.int64) + 1
    return {"time": start + np.cumsum(gaps), "what": shape[which].reshape(-1), "region": region.astype(np.int32)}


def make(path: Path, events: int, locations: int) -> None:
    """Write a trace of *events* to *path*, without holding it in memory."""
    random = np.random.default_rng(7)
    writer = ContainerWriter(path)
    now = np.zeros(locations, np.int64)
    written = 0
    while written < events * 0.95:
        parts: list[Columns] = []
        for who in range(locations):
            rows = min(ROUND, max(int(events * 0.95) // locations // 8 * 8, 8))
            part = calls(random, rows, int(now[who]), burst=bool(random.random() < 0.1))
            now[who] = part["time"][-1]
            parts.append({**part, "location": np.full(rows, who, np.int32)})
            if sum(len(p["time"]) for p in parts) >= 1 << 20 or who == locations - 1:
                _append(writer, "calls", parts)
                parts = []
            written += rows
        _others(writer, random, now, events * 0.05 * locations * rows / (events * 0.95), locations)
        now[:] = now.max()
    writer.define(definitions(locations), Meta(end=int(now.max()), program="made", format="sgtrace"))
    writer.add_timeline()
    writer.finish()


def _append(writer: ContainerWriter, kind: str, parts: list[Columns]) -> None:
    writer.append(kind, {name: np.concatenate([p[name] for p in parts]) for name in KINDS[kind].columns})


def _others(writer: ContainerWriter, random: np.random.Generator, now: Array, events: float, locations: int) -> None:
    """Write messages, waits and counters for the time since the last call, up to *now*."""
    count = int(events / 3)
    whole = max(int(now.max()), 1)
    low = getattr(_others, "since", 0)
    sent = np.sort(random.integers(low, whole, count))
    sender = random.integers(0, locations, count).astype(np.int32)
    took = random.exponential(50_000.0, count).astype(np.int64) + 1000
    received = np.minimum(sent + took, whole)
    size = (2.0 ** random.integers(3, 22, count)).astype(np.int64)
    zero = np.zeros(count, np.int32)
    writer.append(
        "messages",
        {
            "sent": sent,
            "left": sent,
            "posted": sent,
            "received": received,
            "sender": sender,
            "receiver": (sender + 1) % locations,
            "size": size,
            "tag": zero.astype(np.int64),
            "communicator": zero,
        },
    )
    writer.append(
        "waits",
        {
            "begin": sent,
            "end": received,
            "location": sender,
            "holder": (sender + 3) % locations,
            "why": (zero + 1).astype(np.uint8),
            "object": size,
            "region": zero,
            "released": received,
        },
    )
    order = np.argsort(sender, kind="stable")
    value = random.random(count)
    writer.append(
        "counters",
        {
            "time": sent[order],
            "location": sender[order],
            "metric": zero + 1,
            "value": value,
            "exact": zero.astype(np.int64),
        },
    )
    _others.since = whole  # type: ignore[attr-defined]


def peak() -> float:
    """Return the peak resident memory of this process so far (GiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def own() -> float:
    """Return the resident memory of this process without mapped files (GiB); 0 if the system does not report it."""
    try:
        told = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 2**20 for line in told.splitlines() if line.startswith("RssAnon")), 0.0)


def walk(begin: int, end: int) -> list[tuple[int, int]]:
    """Return 200 windows: zooms in by factors of 1.5 and out again, with pans by a tenth at every depth."""
    random = np.random.default_rng(11)
    steps = []
    for _ in range(5):
        place = int(random.integers(begin, end))
        length = float(end - begin)
        for at in range(40):
            length = length / 1.5 if at < 32 else length * 4
            place += int(length * 0.1 * random.choice([-1, 1]))
            low = min(max(place - length / 2, begin), max(end - length, begin))
            steps.append((int(low), int(min(low + length, end)) + 1))
    return steps


def opened(path: Path) -> dict[str, Any]:
    """Open *path*, compute the whole run and walk; return the times (s and ms) and the memory (GiB)."""
    start, busy = time.perf_counter(), time.process_time()
    line = Timeline.open(read(path))
    ready = time.perf_counter()
    some = list(range(min(LANES, len(line.trace.definitions.locations))))
    line.lanes("activity", line.begin, line.end, WIDTH, some)
    line.messages(line.begin, line.end, some)
    found: dict[str, Any] = {
        "open": ready - start,
        "first": time.perf_counter() - start,
        "busy": time.process_time() - busy,
    }
    looks = {
        "activity": lambda b, e: line.lanes("activity", b, e, WIDTH, some),
        "region": lambda b, e: line.lanes("region", b, e, WIDTH, some),
        "totals": lambda b, e: line.totals("activity", b, e, WIDTH),
        "messages": lambda b, e: line.messages(b, e, some),
        "waits": lambda b, e: line.waits(b, e, some),
        "counter": lambda b, e: line.counter(1, 0, b, e, WIDTH),
        "all lanes": lambda b, e: line.lanes("activity", b, e, WIDTH, rows=64),
    }
    for name, look in looks.items():
        found[name] = timed(look, walk(line.begin, line.end))
    found["memory"] = peak()
    return found


def drawn(path: Path) -> dict[str, Any]:
    """Open *path* in an off-screen window and walk (looks, figure, colours, drawing); return as `opened` does."""
    from scalegraph.gui.app import make_application
    from scalegraph.gui.figures.timeline.step import Stepper
    from scalegraph.subjects.trace import TraceData

    application = make_application()
    start = time.perf_counter()
    trace = read(path)
    data = TraceData(trace, Timeline.open(trace), path.name, path)
    stepper = Stepper(data)
    found: dict[str, Any] = {"shown": time.perf_counter() - start}
    begin, end = trace.meta.begin, trace.meta.end

    def step(b: int, e: int) -> None:
        stepper.step(data.seconds(b), data.seconds(e))
        application.processEvents()

    found["whole step"] = timed(step, walk(begin, end))
    found["window"], found["own"] = peak(), own()
    if rows_in(trace, begin, end) <= LARGE:
        found["step beside waits"] = beside(lambda: Waits.of(trace), lambda: timed(step, walk(begin, end)))
    stepper.close()
    application.processEvents()
    return found


def filtered(path: Path) -> dict[str, Any]:
    """Open *path* in an off-screen window, filter by `LEAST`, and walk; return as `opened` does."""
    from scalegraph.gui.app import make_application
    from scalegraph.gui.figures.timeline.step import Stepper
    from scalegraph.subjects.trace import TraceData

    application = make_application()
    trace = read(path)
    data = TraceData(trace, Timeline.open(trace), path.name, path)
    Stepper(data).close()  # the state before the user filters
    application.processEvents()
    start, busy = time.perf_counter(), time.process_time()
    stepper = Stepper(data, duration=LEAST)
    found: dict[str, Any] = {"filtered": time.perf_counter() - start, "busy": time.process_time() - busy}

    def step(b: int, e: int) -> None:
        stepper.step(data.seconds(b), data.seconds(e))
        application.processEvents()

    found["filtered step"] = timed(step, walk(trace.meta.begin, trace.meta.end))
    found["own"] = own()
    stepper.close()
    application.processEvents()
    return found


def beside(work: Callable[[], object], measured: Callable[[], list[float]]) -> list[float]:
    """Return the result of *measured* while another thread repeats *work*."""
    token = CancelToken()

    def run() -> None:
        with suppress(Cancelled), working(token):
            while True:
                work()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        return measured()
    finally:
        token.cancel()
        thread.join()


def timed(look: Callable[[int, int], object], places: list[tuple[int, int]]) -> list[float]:
    """Return median, 95th percentile, maximum of the wall-clock times of *look*, and median processor time (ms)."""
    times, work = [], []
    for begin, end in places:
        start, busy = time.perf_counter(), time.process_time()
        look(begin, end)
        times.append((time.perf_counter() - start) * 1000)
        work.append((time.process_time() - busy) * 1000)
    return [float(np.median(times)), float(np.percentile(times, 95)), max(times), float(np.median(work))]


def windowed(path: Path) -> dict[str, Any]:
    """Open *path* as the window does and walk in an off-screen spacetime diagram of 1,280 x 720 pixels.

    Returns the seconds to the first picture, and the median, 95th percentile and maximum of each part of a step (ms).
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from scalegraph.gui.app import make_application
    from scalegraph.gui.figures.timeline.step import Stepper
    from scalegraph.request import Session

    application = make_application()
    start = time.perf_counter()
    data = Session().open_trace(path)
    stepper = Stepper(data)
    found: dict[str, Any] = {"first": time.perf_counter() - start}
    line = data.timeline
    steps = [stepper.step(data.seconds(begin), data.seconds(end)) for begin, end in walk(line.begin, line.end)]
    for part in ("figure", "colours", "drawing", "whole"):
        times = np.array([getattr(step, part) for step in steps]) * 1000
        found[part] = [float(np.median(times)), float(np.percentile(times, 95)), float(np.max(times))]
    found["memory"] = peak()
    stepper.close()
    application.processEvents()
    return found


def alone(*arguments: str) -> dict[str, Any]:
    """Run a part of this benchmark in a separate process. Raises `CalledProcessError`."""
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    return dict(json.loads(done.stdout))


def measure(place: Path, events: int, locations: int) -> None:
    """Write, open and walk one trace; print times and memory."""
    path = place / f"{events}-{locations}.sgtrace"
    if not path.exists():
        done = alone("--make", str(path), "--events", str(events), "--locations", str(locations))
        print(
            f"{events:,} events on {locations} locations: written with its pyramid in {done['seconds']:.1f} s, "
            f"{done['memory']:.2f} GiB of memory, {path.stat().st_size / 2**20:,.0f} MiB"
        )
    found = alone("--walk", str(path))
    try:
        found |= alone("--draw", str(path))
    except subprocess.CalledProcessError as error:
        print(f"Drawing failed: {error.stderr.strip().splitlines()[-1:]}")
    print(
        f"opened in {found.pop('open'):.2f} s, first picture after {found.pop('first'):.2f} s "
        f"({found.pop('busy'):.2f} s of processor time), "
        f"{found.pop('memory'):.2f} GiB of memory"
    )
    if "shown" in found:
        shown, memory, mine = found.pop("shown"), found.pop("window"), found.pop("own")
        print(
            f"shown in a window after {shown:.2f} s; {mine:.2f} GiB of memory, {memory:.2f} GiB with the mapped parts "
            "of the file"
        )
    try:
        kept = alone("--filter", str(path))
        print(
            f"filtered by a duration of {LEAST:g} s: first picture after {kept.pop('filtered'):.2f} s "
            f"({kept.pop('busy'):.2f} s of processor time), {kept.pop('own'):.2f} GiB of memory"
        )
        found |= kept
    except subprocess.CalledProcessError as error:
        print(f"Filtering failed: {error.stderr.strip().splitlines()[-1:]}")
    for name, (median, most, worst, work) in found.items():
        print(
            f"  {name:10} median {median:6.1f} ms ({work:.1f} ms of processor time), 95 % below {most:.1f} ms, "
            f"worst {worst:.1f} ms"
        )


_PIPIT = """
import json, sys, time
import pipit
start = time.perf_counter()
trace = pipit.Trace.from_otf2(sys.argv[1])
read = time.perf_counter() - start
start = time.perf_counter()
trace.time_profile(num_bins=2000)
print(json.dumps({"read": read, "first": time.perf_counter() - start}))
"""


def ours(archive: Path, place: Path) -> dict[str, float]:
    """Read *archive*, build the pyramid, and look at it; return the seconds of both."""
    start = time.perf_counter()
    with read(archive) as trace:
        write_container(trace, place / "peer.sgtrace")
    line = Timeline.open(read(place / "peer.sgtrace"))
    ready = time.perf_counter()
    line.totals("region", line.begin, line.end, WIDTH)
    return {"read": ready - start, "first": time.perf_counter() - ready}


def compare(place: Path, events: int, python: str) -> None:
    """Measure beside Pipit and print the comparison."""
    alone("--make", str(place / "events.sgtrace"), "--events", str(events), "--locations", "8")
    archive = place / "archive" / "traces.otf2"
    with read(place / "events.sgtrace") as trace:
        some = Trace(trace.definitions, trace.meta, {kind: trace.parts[kind] for kind in ("calls", "messages")})
        writer_for(archive).write(Writing(some, archive))
    mine = alone("--ours", str(archive), "--place", str(place))
    done = subprocess.run([python, "-c", _PIPIT, str(archive.parent)], capture_output=True, text=True, check=True)
    other = json.loads(done.stdout.strip().splitlines()[-1])
    print(
        f"{events:,} events of OTF2: read and ready after {mine['read']:.2f} s, pipit {other['read']:.2f} s; time "
        f"by function in 2,000 bins after {mine['first']:.4f} s, pipit {other['first']:.2f} s "
        f"({other['first'] / mine['first']:,.0f} times)"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--locations", type=int, default=LANES)
    parser.add_argument("--large", action="store_true", help="also measure 100 million events")
    parser.add_argument("--place", type=Path, help="directory to keep the traces in (default: a temporary one)")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--walk", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--window", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--draw", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--filter", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ours", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--pipit", metavar="PYTHON", help="interpreter of an environment with pipit and otf2")
    parser.add_argument("--peer", type=int, default=400_000, help="events in the comparison with pipit")
    given = parser.parse_args()
    if given.make:
        start = time.perf_counter()
        make(given.make, given.events, given.locations)
        print(json.dumps({"seconds": time.perf_counter() - start, "memory": peak()}))
        return
    if given.ours:
        print(json.dumps(ours(given.ours, given.place)))
        return
    if given.draw:
        print(json.dumps(drawn(given.draw)))
        return
    if given.filter:
        print(json.dumps(filtered(given.filter)))
        return
    if given.window:
        print(json.dumps(windowed(given.window)))
        return
    if given.walk:
        print(json.dumps(opened(given.walk)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        place = given.place or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        if given.pipit:
            compare(place, given.peer, given.pipit)
        for events in (given.events, *((100_000_000,) if given.large else ())):
            measure(place, events, given.locations)


if __name__ == "__main__":
    main()
