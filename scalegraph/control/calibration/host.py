"""Processors, caches and memory of this host as the operating system reports them; virtual machines may err."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}


@dataclass(frozen=True)
class CacheLevel:
    """One level of data cache as the system describes it. *shared_by*: processors that share one instance."""

    level: int
    size_bytes: int
    line_bytes: int
    ways: int
    shared_by: int


@dataclass(frozen=True)
class Host:
    """What this process may use of the host. *processors* are the numbers of those it may run on.

    *far* is one of them on another memory node than the first, -1 where there is none; *is_virtual*: a hypervisor
    shows itself; *available_bytes*: memory that can be had now.
    """

    model: str
    processors: tuple[int, ...]
    nodes: int
    far: int
    caches: tuple[CacheLevel, ...]
    is_virtual: bool
    page_bytes: int
    available_bytes: int


def this_host(root: Path = Path("/")) -> Host:
    """Return what the files below *root* (``/proc``, ``/sys``) say; what is missing there is left out."""
    processors = tuple(sorted(os.sched_getaffinity(0)))
    information = _text(root / "proc/cpuinfo")
    nodes = _nodes(root, processors)
    far = next((cpu for cpu in processors if nodes.get(cpu, 0) != nodes.get(processors[0], 0)), -1)
    return Host(
        model=_field(information, "model name") or _field(information, "CPU part") or "unknown processor",
        processors=processors,
        nodes=len(set(nodes.values())) or 1,
        far=far,
        caches=_caches(root / f"sys/devices/system/cpu/cpu{processors[0]}/cache", processors),
        is_virtual="hypervisor" in _field(information, "flags").split(),
        page_bytes=os.sysconf("SC_PAGE_SIZE"),
        available_bytes=_available(root),
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _field(text: str, name: str) -> str:
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return " ".join(value.split())
    return ""


def _nodes(root: Path, processors: tuple[int, ...]) -> dict[int, int]:
    """Return the memory node of each of *processors*."""
    found: dict[int, int] = {}
    for path in sorted((root / "sys/devices/system/node").glob("node[0-9]*")):
        for cpu in _list(_text(path / "cpulist")):
            if cpu in processors:
                found[cpu] = int(path.name.removeprefix("node"))
    return found


def _list(text: str) -> list[int]:
    """Return the numbers of a list like ``0-3,8``; nothing for what is none."""
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            numbers += range(int(first), int(last or first) + 1)
    return numbers


def _caches(directory: Path, processors: tuple[int, ...]) -> tuple[CacheLevel, ...]:
    found: dict[int, CacheLevel] = {}
    for index in sorted(directory.glob("index[0-9]*")):
        level, size = _number(_text(index / "level")), _size(_text(index / "size"))
        line = _number(_text(index / "coherency_line_size"))
        if _text(index / "type") == "Instruction" or not level or not size or not line:
            continue
        sharers = set(_list(_text(index / "shared_cpu_list"))) & set(processors)
        ways = _number(_text(index / "ways_of_associativity"))
        found[level] = CacheLevel(level, size, line, ways or 8, max(1, len(sharers)))
    return tuple(found[level] for level in sorted(found))


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _size(text: str) -> int:
    return _number(text[:-1]) * _UNITS[text[-1]] if text and text[-1] in _UNITS else _number(text)


def _available(root: Path) -> int:
    amount = _field(_text(root / "proc/meminfo"), "MemAvailable").split(" ")[0]
    return _number(amount) * 1024 or 2**30
