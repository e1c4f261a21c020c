"""Sampled profiles of one run as documented JSON: speedscope's file format, and CPU profiles of V8.

Specifications: speedscope.app/file-format-schema.json, and the type Profile of the Chrome DevTools protocol.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._files import Checked, read_document
from scalegraph.measurements.readers._names import named_point

PROGRAM = "program"
_SECONDS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}
_MARKS = (re.compile(r"https://www\.speedscope\.app"), re.compile(r'\A\s*\{"nodes":\s*\[\s*\{"id":'))
NOTE = "A sampled profile of one thread: times are those of its samples."


def _recognises(_path: Path, head: bytes) -> bool:
    text = head.decode("utf-8-sig", "replace")
    return text.lstrip().startswith("{") and any(mark.search(text) for mark in _MARKS)


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    whole, check = read_document(path, cancel, progress)
    where = named_point(path, "processors", 1)
    found = Collector(str(path), list(where))
    seconds = _of_v8(whole, check, found) if "nodes" in whole else _of_speedscope(whole, check, found)
    point, time = found.point(tuple(where.values())), found.metric("time", "s", kind="time", extent="exclusive")
    for place, value in seconds.items():
        if value > 0:
            found.add(point, place, time, (value,))
    return found.finish("sampled-json", path.stem, notes=[NOTE])


def _of_speedscope(whole: dict[str, Any], check: Checked, found: Collector) -> dict[int, float]:
    """Return the seconds in each call path itself."""
    shared = check.mapping(check.member(whole, "shared", ""), "shared")
    frames = check.sequence(check.member(shared, "frames", "shared"), "shared.frames")
    names = [
        check.text(check.member(check.mapping(one, place), "name", place), place)
        for number, one in enumerate(frames)
        for place in [f"shared.frames[{number}]"]
    ]
    profiles = check.sequence(check.member(whole, "profiles", ""), "profiles")
    if len(profiles) != 1:
        check.refuse("profiles", f"holds {len(profiles)} profiles (of threads); a profile of one thread was expected")
    profile = check.mapping(profiles[0], "profiles[0]")
    unit = check.text(check.member(profile, "unit", "profiles[0]"), "profiles[0].unit")
    if unit not in _SECONDS:
        check.refuse("profiles[0].unit", f"is '{unit}', not a time; seconds or another unit of time was expected")
    kind = check.member(profile, "type", "profiles[0]")
    if kind == "evented":
        events = check.sequence(check.member(profile, "events", "profiles[0]"), "profiles[0].events")
        return _evented(events, names, check, found, _SECONDS[unit])
    samples, weights = (
        check.sequence(check.member(profile, name, "profiles[0]"), f"profiles[0].{name}")
        for name in ("samples", "weights")
    )
    if len(samples) != len(weights):
        check.refuse("profiles[0].weights", f"has {len(weights)} entries; expected {len(samples)}, one for each sample")
    made: dict[int, float] = {}
    for number, (stack, weight) in enumerate(zip(samples, weights, strict=True)):
        place = found.child(None, PROGRAM)
        for frame in check.sequence(stack, f"profiles[0].samples[{number}]"):
            place = found.child(place, _name(frame, names, check, f"profiles[0].samples[{number}]"))
        spent = check.finite(weight, f"profiles[0].weights[{number}]") * _SECONDS[unit]
        made[place] = made.get(place, 0.0) + spent
    return made


def _evented(
    events: Sequence[Any], names: Sequence[str], check: Checked, found: Collector, seconds: float
) -> dict[int, float]:
    """Return the seconds in each call path itself, from its opening and closing events."""
    stack = [found.child(None, PROGRAM)]
    frames: list[object] = []
    made: dict[int, float] = {}
    before: float | None = None
    for number, event in enumerate(events):
        place = f"profiles[0].events[{number}]"
        event = check.mapping(event, place)
        at = check.finite(check.member(event, "at", place), f"{place}.at")
        if before is not None and at < before:
            check.refuse(f"{place}.at", "is earlier than the event before it")
        if before is not None:
            made[stack[-1]] = made.get(stack[-1], 0.0) + (at - before) * seconds
        before, frame = at, check.member(event, "frame", place)
        if check.member(event, "type", place) == "O":
            stack.append(found.child(stack[-1], _name(frame, names, check, place)))
            frames.append(frame)
        elif not frames or frames.pop() != frame:
            check.refuse(place, "closes a frame that is not the innermost open one")
        else:
            stack.pop()
    if frames:
        check.refuse("profiles[0].events", "end before every frame is closed: the file is cut off")
    return made


def _name(frame: object, names: Sequence[str], check: Checked, where: str) -> str:
    if isinstance(frame, bool) or not isinstance(frame, int) or not 0 <= frame < len(names):
        check.expected(where, f"the number of one of {len(names)} frames", frame)
    return names[frame] or "(anonymous)"


def _of_v8(whole: dict[str, Any], check: Checked, found: Collector) -> dict[int, float]:
    """Return the seconds in each call path itself: a sample lasts until the next one, the last until the end."""
    nodes: dict[object, dict[str, Any]] = {}
    parents: dict[object, object] = {}
    for number, node in enumerate(check.sequence(whole["nodes"], "nodes")):
        node = check.mapping(node, f"nodes[{number}]")
        one = check.member(node, "id", f"nodes[{number}]")
        nodes[one] = node
        parents |= dict.fromkeys(check.sequence(node.get("children") or [], f"nodes[{number}].children"), one)
    samples = check.sequence(check.member(whole, "samples", ""), "samples")
    deltas = check.numbers(check.member(whole, "timeDeltas", ""), "timeDeltas")
    if len(samples) != len(deltas):
        check.refuse("timeDeltas", f"has {len(deltas)} entries; expected {len(samples)}, one for each sample")
    start, end = (check.finite(check.member(whole, name, ""), name) for name in ("startTime", "endTime"))
    lasting = [*deltas[1:], end - start - sum(deltas)]
    places: dict[object, int] = {}
    made: dict[int, float] = {}
    for number, (sample, spent) in enumerate(zip(samples, lasting, strict=True)):
        if sample not in places:
            places[sample] = _path(sample, nodes, parents, check, found, f"samples[{number}]")
        made[places[sample]] = made.get(places[sample], 0.0) + max(0.0, spent) * 1e-6
    return made


def _path(
    sample: object,
    nodes: dict[object, dict[str, Any]],
    parents: dict[object, object],
    check: Checked,
    found: Collector,
    where: str,
) -> int:
    """Return the call path of a node below the program; V8's own root is the program."""
    chain: list[str] = []
    at: object | None = sample
    while at is not None:
        if at not in nodes or len(chain) > len(nodes):
            check.expected(where, "the number of a node below the root", at)
        frame = check.mapping(check.member(nodes[at], "callFrame", where), where)
        chain.append(check.text(check.member(frame, "functionName", where), where) or "(anonymous)")
        at = parents.get(at)
    place = found.child(None, PROGRAM)
    for name in reversed(chain[:-1] if chain[-1] == "(root)" else chain):
        place = found.child(place, name)
    return place


READER = Reader(
    "sampled-json",
    "Profile of speedscope or V8",
    (".json", ".cpuprofile"),
    recognises=_recognises,
    read=_read,
    order=40,
    looks="one thread of one run; app.p4.speedscope.json says the parameters",
)
