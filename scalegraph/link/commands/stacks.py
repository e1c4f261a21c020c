"""Call paths of a command, sampled in a run of their own: py-spy for Python, perf for anything else.

A sample is a stretch of time in which a thread computed with a stack. While fewer threads compute than there are
processors, the others wait for them: their time is charged to what these threads do meanwhile (Tallent and
Mellor-Crummey 2009), so that the blame falls on a serial function and not on the thread pool that waits for it.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scalegraph.base.usage import Frame, StackShare
from scalegraph.link.commands import started, words

if TYPE_CHECKING:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.link.options import Limits

RATE_HZ: Final = 199  # no divisor of the periods at which programs do things
_PYTHON: Final = re.compile(r"(python|pypy)[\d.]*")
_HEAD: Final = re.compile(r"^(?P<comm>\S.*?)\s+(?P<pid>\d+)/(?P<tid>\d+)\s+(?P<time>\d+\.\d+):")
_FRAME: Final = re.compile(r"^\s+[0-9a-f]+ (?P<symbol>.+?)(?:\+0x[0-9a-f]+)? \((?P<file>.*)\)$")
# Libraries whose functions start programs and threads.
_BEGINS: Final = re.compile(r"(libc|libpthread|ld-linux|libgomp|libomp|libiomp|\[vdso\])\b")
_LEAST: Final = 1e-4  # smallest share of the processors' time for a stack to be kept by itself
_DEEPEST: Final = 64  # frames kept of a stack, from its root


@dataclass(frozen=True)
class Slice:
    """A stretch of time in which one thread computed with a *stack*, root first; times in s."""

    begin: float
    end: float
    stack: tuple[Frame, ...]


def sampled(
    start: started.Start, processors: int, limits: Limits, cancel: CancelToken
) -> tuple[tuple[StackShare, ...], str]:
    """Return the call paths of one more run of *start* on *processors*, or none and why."""
    if away := words.outside(start.words, 1):
        return (), away
    with tempfile.TemporaryDirectory(prefix="scalegraph-stacks-", ignore_cleanup_errors=True) as place:
        file = Path(place) / "samples"
        tool = _python(start, file) or _perf(start, file)
        if tool is None:
            return (), "neither py-spy (for Python) nor perf was found"
        try:
            ended = started.run(tool, time_s=limits.time_s, output_bytes=20_000, cancel=cancel)
            slices = _read(tool, file, limits, cancel)
        except (OSError, ValueError, KeyError) as error:
            return (), f"'{Path(tool.words[0]).name}' gave no samples: {error}"
    if not slices:
        said = ended.outcome.stderr.strip().splitlines()
        return (), f"'{Path(tool.words[0]).name}' gave no samples{f': {said[0][:200]}' if said else ''}"
    return shares(slices, processors), ""


def _python(start: started.Start, file: Path) -> started.Start | None:
    """Return *start* under py-spy if it starts Python and py-spy is installed."""
    found = shutil.which("py-spy") or shutil.which("py-spy", path=str(Path(sys.executable).parent))
    if found is None or not _is_python(start.words[0], start.cwd):
        return None
    command = [found, "record", "-f", "chrometrace", "-o", str(file), "-r", str(RATE_HZ), "-s", "--nonblocking", "--"]
    return replace(start, words=[*command, *start.words], events={})


def _is_python(word: str, cwd: Path | None) -> bool:
    if _PYTHON.fullmatch(Path(word).name):
        return True
    path = (cwd or Path.cwd()) / word
    try:
        with path.open("rb") as stream:
            first = stream.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


def _perf(start: started.Start, file: Path) -> started.Start | None:
    """Return *start* under perf, sampling by the kernel's clock where there are no hardware counters."""
    found = shutil.which("perf")
    if found is None:
        return None
    command = [found, "record", "-q", "-e", "cpu-clock:u", "-F", str(RATE_HZ), "-g", "-o", str(file), "--"]
    return replace(start, words=[*command, *start.words], events={})


def _read(tool: started.Start, file: Path, limits: Limits, cancel: CancelToken) -> list[Slice]:
    if Path(tool.words[0]).name != "perf":
        data = json.loads(file.read_text(encoding="utf-8"))
        return list(of_chrome(data["traceEvents"] if isinstance(data, dict) else data))
    script = [tool.words[0], "script", "-i", str(file), "-F", "comm,pid,tid,time,ip,sym,dso"]
    read = replace(tool, words=script, processors=(), stdin=None)
    ended = started.run(read, time_s=limits.time_s, output_bytes=256 << 20, cancel=cancel)
    return list(of_perf(ended.outcome.stdout))


def of_perf(text: str) -> Iterator[Slice]:
    """Yield the samples in the output of ``perf script``: each stands for the time since the one before."""
    at: float | None = None
    frames: list[Frame] = []
    for line in [*text.splitlines(), ""]:
        if head := _HEAD.match(line):
            at, frames = float(head["time"]), []
        elif frame := _FRAME.match(line):
            if frame["symbol"] != "[unknown]":
                frames.append(Frame(name=frame["symbol"][:200], file=Path(frame["file"]).name[:200]))
        elif not line.strip() and at is not None:
            yield Slice(at - 1 / RATE_HZ, at, _own(frames[::-1]))
            at = None


def _own(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return *stack* without the leading functions that start programs and threads, so that all threads agree."""
    own = list(itertools.dropwhile(lambda frame: _BEGINS.match(frame.file), stack)) or list(stack[-1:])
    return tuple(own or [Frame(name="unknown")])[:_DEEPEST]


def of_chrome(events: Sequence[dict[str, Any]]) -> Iterator[Slice]:
    """Yield the stretches with a stack from py-spy's begin and end events, thread by thread."""
    threads: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in events:
        threads.setdefault((event["pid"], event["tid"]), []).append(event)
    for own in threads.values():
        stack: list[Frame] = []
        before = 0.0
        for event in own:
            now = float(event["ts"]) * 1e-6
            if stack and now > before:
                yield Slice(before, now, tuple(frame for frame in stack if frame.file)[:_DEEPEST])
            before = now
            if event["ph"] == "B":
                args = event.get("args", {})
                name = str(event["name"])[:200]
                stack.append(Frame(name=name, file=Path(str(args.get("filename", ""))).name[:200]))
            elif stack:
                stack.pop()


def shares(slices: Iterable[Slice], processors: int) -> tuple[StackShare, ...]:
    """Return each stack's share of the time of *processors*: computing, and the others' waiting for it."""
    edges = [(time, change, one) for one in slices for time, change in ((one.begin, 1), (one.end, -1))]
    edges.sort(key=lambda edge: edge[:2])
    if not edges:
        return ()
    busy: dict[tuple[Frame, ...], float] = {}
    waited: dict[tuple[Frame, ...], float] = {}
    active: list[Slice] = []
    first, before = edges[0][0], edges[0][0]
    for time, change, one in edges:
        span = time - before
        if span > 0 and active:
            idle = max(processors - len(active), 0) * span / len(active)
            scale = min(1.0, processors / len(active))  # more threads than processors share them
            for each in active:
                busy[each.stack] = busy.get(each.stack, 0.0) + span * scale
                waited[each.stack] = waited.get(each.stack, 0.0) + idle
        before = time
        if change > 0:
            active.append(one)
        else:
            active.remove(one)
    whole = processors * (before - first)
    found: dict[tuple[Frame, ...], list[float]] = {}
    for stack in busy:
        own = [busy[stack] / whole, waited[stack] / whole]
        while len(stack) > 1 and sum(own) < _LEAST:
            stack = stack[:-1]
        sums = found.setdefault(stack, [0.0, 0.0])
        sums[0], sums[1] = sums[0] + own[0], sums[1] + own[1]
    return tuple(
        StackShare(path=stack, busy=min(values[0], 1.0), waiting=min(values[1], 1.0))
        for stack, values in sorted(found.items(), key=lambda item: -sum(item[1]))
    )
