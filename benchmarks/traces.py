"""Time and memory for reading traces of every format, beside Pipit on the same archive in the same run.

    python benchmarks/traces.py [--events 400000] [--pipit PYTHON]

*PYTHON* is the interpreter of an environment with pipit and otf2; without it, only ScaleGraph is measured. Every time
is the best of three runs, each in its own process. Events are counted as the OTF2 library counts them. *peak* is the
resident memory that reading adds to the process. *silence* is the longest time between two progress reports, at which
reading can be cancelled. *stopped* is the time until reading ended after it was cancelled at a third of the file.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from scalegraph.traces import checking
from scalegraph.traces.builder import Builder
from scalegraph.traces.formats import Writing, writer_for
from scalegraph.traces.kinds import What
from scalegraph.traces.model import Communicator, Group, Location, Meta, Region, Trace
from scalegraph.traces.reading import read

_PIPIT = """
import sys, time
import pipit
start = time.perf_counter()
trace = pipit.Trace.from_otf2(sys.argv[1])
print(time.perf_counter() - start, len(trace.events))
"""
_OURS = """
import sys, time
from pathlib import Path
from scalegraph.traces.reading import read
start = time.perf_counter()
trace = read(Path(sys.argv[1]))
columns = [trace.columns(kind) for kind in trace.counts()]
print(time.perf_counter() - start, sum(trace.counts().values()))
"""
_MEMORY = """
import re, sys, time
from pathlib import Path
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled
from scalegraph.traces.reading import read, readers
path = Path(sys.argv[1])
readers()  # loads all readers, which should not count as memory of reading
if path.suffix == ".otf2":
    import otf2
def most():  # not ru_maxrss, which starts at the parent's peak
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
before = most()
seen = [time.perf_counter()]
trace = read(path, progress=lambda _share: seen.append(time.perf_counter()))
seen.append(time.perf_counter())
peak = most() - before
token, stopped = CancelToken(), 0.0
def step(share):
    global stopped
    if share > 1 / 3 and not stopped:
        token.cancel()
        stopped = time.perf_counter()
try:
    read(path, cancel=token, progress=step)
    after = -1.0
except Cancelled:
    after = time.perf_counter() - stopped
print(peak / 1024, max(b - a for a, b in zip(seen, seen[1:])), after)
"""


def made(events: int, locations: int = 8) -> Trace:
    """Return a trace of *events*: nested calls, and a message around the ring for every 20 rows of calls."""
    builder = Builder()
    builder.meta = Meta(program="made")
    found = builder.definitions
    found.groups = [Group(f"rank {n}") for n in range(locations)]
    found.locations = [Location(f"rank {n}", "process", n) for n in range(locations)]
    found.regions = [Region(f"function {n}") for n in range(100)]
    found.communicators = [Communicator("world", tuple(range(locations)))]
    each = events // locations // 4 * 4
    for where in range(locations):
        shape = np.tile([What.ENTER, What.ENTER, What.LEAVE, What.LEAVE], each // 4).astype(np.uint8)
        outer = np.arange(each // 4) % 50
        region = np.stack([outer, outer + 50, outer + 50, outer], axis=1).reshape(-1)
        builder.add("calls", time=np.arange(each) * 10, location=where, what=shape, region=region)
        sent = np.arange(0, each * 10, 200)
        builder.add(
            "messages",
            sent=sent,
            left=sent + 1,
            posted=sent,
            received=sent + 5,
            sender=where,
            receiver=(where + 1) % locations,
            size=1024,
            tag=0,
            communicator=0,
        )
    return builder.finish()


def write_text(trace: Trace, place: Path) -> list[Path]:
    """Write the calls as Pipit's CSV, and calls and messages as PICL records; return the files."""
    columns = trace.columns("calls")
    table, records = place / "a.csv", place / "a.trf"
    rows = list(zip(*(columns[name].tolist() for name in ("time", "location", "what", "region")), strict=True))
    words = {int(What.ENTER): ("Enter", -3), int(What.LEAVE): ("Leave", -4)}
    with table.open("w") as out:
        out.write("Timestamp (ns),Event Type,Name,Process\n")
        out.writelines(f"{time},{words[what][0]},function {region},{where}\n" for time, where, what, region in rows)
    with records.open("w") as out:
        for time, where, what, region in rows:
            send, receive = time % 400 == 0, time % 400 == 200
            event, fields = (
                (-21, f"4 2 1024 1 {(where + 1) % 8} 0") if send else (-52, f"4 2 1024 1 {(where - 1) % 8} 0")
            )
            if not ((send and what == What.ENTER) or receive):
                event, fields = 100 + region, "0"
            out.write(f"{words[what][1]} {event} {time / 1e9:.9f} {where} {where} {fields}\n")
    return [table, records]


def best(python: str, code: str, path: Path, runs: int = 3) -> tuple[float, int]:
    """Return the minimum time (s) of *runs* processes and the number of rows. Raises `CalledProcessError`."""
    times = []
    rows = 0
    for _ in range(runs):
        done = subprocess.run([python, "-c", code, str(path)], capture_output=True, text=True, check=True)
        seconds, count = done.stdout.split()[-2:]
        times.append(float(seconds))
        rows = int(count)
    return min(times), rows


def _told(path: Path, seconds: float, rows: int) -> str:
    done = subprocess.run([sys.executable, "-c", _MEMORY, str(path)], capture_output=True, text=True, check=True)
    peak, silence, after = map(float, done.stdout.split())
    stopped = f"stopped after {after:.2f} s" if after >= 0 else "finished before it could be stopped"
    return (
        f"read {seconds:6.3f} s, {rows:9,} rows, {rows / seconds:12,.0f} rows/s, peak {peak:5.0f} MiB, "
        f"silence {silence:.2f} s, {stopped}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=400_000)
    parser.add_argument("--pipit", metavar="PYTHON", help="interpreter of an environment with pipit and otf2")
    given = parser.parse_args()
    trace = made(given.events)
    total = trace.count("calls") + 4 * trace.count("messages")
    with tempfile.TemporaryDirectory() as place:
        archive = Path(place) / "archive" / "traces.otf2"
        files = [
            archive,
            *(Path(place) / f"a{ending}" for ending in (".prv", ".prv.gz", ".json", ".json.gz", ".sgtrace")),
        ]
        print(f"{total:,} OTF2 events, {sum(trace.counts().values()):,} ScaleGraph rows")
        ours = 0.0
        for path in files:
            start = time.perf_counter()
            writer_for(path).write(Writing(trace, path))
            written = time.perf_counter() - start
            seconds, rows = best(sys.executable, _OURS, path)
            ours = seconds if path == archive else ours
            print(f"{path.name:12} written {written:6.2f} s  {_told(path, seconds, rows)}")
        for path in write_text(trace, Path(place)):
            print(f"{path.name:12} {'':15}   {_told(path, *best(sys.executable, _OURS, path))}")
        if given.pipit:
            seconds, _ = best(given.pipit, _PIPIT, archive.parent)
            print(f"pipit     otf2 read {seconds:6.3f} s; ScaleGraph {ours:6.3f} s: {seconds / ours:.1f} times as fast")
        start = time.perf_counter()
        report = checking.check(read(files[-1]))
        print(f"checked   {time.perf_counter() - start:6.2f} s; holds: {report.holds}")


if __name__ == "__main__":
    main()
