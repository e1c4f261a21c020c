"""The header of a Paraver trace, and the names in .pcf and .row files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from scalegraph.traces.formats import Reading
from scalegraph.traces.text import lines

_HEADER = re.compile(r"#Paraver \((?P<date>[^)]*)\):(?P<end>\d{1,18})(?P<unit>_\w+)?:(?P<rest>.*)")
_TICKS = {"_ns": 10**9, "_us": 10**6, "_ms": 10**3, "_s": 1, "": 10**6}


MOST_THREADS = 1 << 20
_DIGITS = 18  # most digits of a number


@dataclass
class Header:
    """The content of the first line: length of the run in ticks, and threads as (application, task, thread) from 1."""

    end: int
    ticks_per_second: int
    date: str
    threads: list[tuple[int, int, int]] = field(default_factory=list)
    nodes: dict[tuple[int, int], int] = field(default_factory=dict)


def header(reading: Reading, line: str) -> Header | None:
    """Parse *line*, the first; return None (and note it) if it is not a Paraver header."""
    found = _HEADER.match(line)
    unit = (found["unit"] or "") if found else "?"
    if not found or unit not in _TICKS:
        reading.broken("a header was expected: #Paraver (date):length_ns:nodes:applications:..", line=1)
        return None
    made = Header(int(found["end"]), _TICKS[unit], found["date"])
    fields = re.sub(r"\d+(\([\d,]*\))?", "", found["rest"], count=1)  # the nodes and their processors
    applications = re.match(r":(\d{1,9})(?!\d)", fields)
    lists = re.findall(r"[:,](\d{1,9})\(([\d:,]*)\)", fields)
    if not applications or len(lists) != int(applications[1]):
        reading.broken("the header names another number of applications than it describes", line=1)
    for application, (count, text) in enumerate(lists, 1):
        tasks = [part.split(":") for part in text.split(",") if part]
        if len(tasks) != int(count) or any(len(task) < 1 or not task[0] for task in tasks):
            reading.broken(f"application {application} of the header should describe {count} tasks", line=1)
        for task, parts in enumerate(tasks, 1):
            made.nodes[application, task] = int(parts[1][:_DIGITS]) if len(parts) > 1 and parts[1] else 0
            threads = int(parts[0] or 0) if len(parts[0]) < _DIGITS else MOST_THREADS
            if threads + len(made.threads) >= MOST_THREADS:
                reading.broken("the header names more threads than there can be", line=1)
                return made
            made.threads += [(application, task, thread) for thread in range(1, threads + 1)]
    return made


@dataclass
class Names:
    """The content of a .pcf: names and colours of states, names of event types and of their values."""

    states: dict[int, str] = field(default_factory=dict)
    colours: dict[int, str] = field(default_factory=dict)
    types: dict[int, str] = field(default_factory=dict)
    values: dict[int, dict[int, str]] = field(default_factory=dict)


def beside(path: Path, ending: str) -> Path:
    """Return the companion file of the trace *path*: a.prv and a.prv.gz have a.pcf."""
    name = path.name
    for known in (".prv.gz", ".prv"):
        if name.lower().endswith(known):
            name = name[: -len(known)]
    return path.with_name(name + ending)


def names(reading: Reading, path: Path) -> Names:
    """Return the content of the .pcf at *path*; unrecognised lines are counted."""
    made = Names()
    section, types = "", []  # type: str, list[int]
    for block, _ in lines(reading, path):
        for line in block.decode("utf-8", "replace").splitlines():
            words = line.split(None, 1)
            if not words:
                section = "" if section == "VALUES" else section
                continue
            if words[0].isupper() and not words[0].isdigit():
                if words[0] == "EVENT_TYPE":
                    types = []
                section = words[0]
                continue
            _entry(made, section, line, types)
    return made


def _entry(made: Names, section: str, line: str, types: list[int]) -> None:
    """Parse one line of *section*; *types*: the event types whose values come next."""
    found = re.match(r"\s*(\d{1,18})\s+(.*\S)", line)
    if not found:
        return
    number, text = int(found[1]), found[2]
    if section == "STATES":
        made.states[number] = text
    elif section == "STATES_COLOR" and (rgb := re.match(r"\{\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(\d{1,9})", text)):
        made.colours[number] = "#" + "".join(f"{min(int(part), 255):02x}" for part in rgb.groups())
    elif section == "EVENT_TYPE" and (kind := re.match(r"(\d{1,18})\s*(.*)", text)):
        types.append(int(kind[1]))
        made.types[int(kind[1])] = kind[2] or kind[1]
    elif section == "VALUES":
        for kind_number in types:
            made.values.setdefault(kind_number, {})[number] = text


def row_names(reading: Reading, path: Path) -> list[str]:
    """Return the names of threads listed in the .row file at *path*, in order."""
    found: list[str] = []
    inside = False
    for block, _ in lines(reading, path):
        for line in block.decode("utf-8", "replace").splitlines():
            if line.startswith("LEVEL "):
                inside = line.startswith("LEVEL THREAD")
            elif inside and line.strip():
                found.append(line.strip())
    return found
