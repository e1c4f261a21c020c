"""Processors, caches and memory of this host as reported by the operating system; virtual machines may be wrong."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}


@dataclass(frozen=True)
class CacheLevel:
    """One level of data cache as reported by the system. *shared_by*: processors in use that share one instance."""

    level: int
    size_bytes: int
    line_bytes: int
    ways: int
    shared_by: int


@dataclass(frozen=True)
class Place:
    """The location of a processor: *socket*, *core*, memory *node* and last-level *cache*, by number.

    *cache* is the smallest number of the processors that share it.
    """

    number: int
    socket: int
    core: int
    node: int
    cache: int


@dataclass(frozen=True)
class Host:
    """The part of the host available to this process. *processors* are the numbers of those it may use.

    *far* is a processor in a different socket than the first, *beside* one on another memory node of the first one's
    socket, -1 if there is none; *is_virtual*: a hypervisor was detected; *available_bytes*: free memory,
    *memory_bytes*: total, 0 if unknown. *system*: the operating system and its release. *balances*: it moves pages to
    the memory node that uses them.
    """

    model: str
    processors: tuple[int, ...]
    nodes: int
    far: int
    caches: tuple[CacheLevel, ...]
    is_virtual: bool
    page_bytes: int
    available_bytes: int
    placed: tuple[Place, ...] = ()
    beside: int = -1
    memory_bytes: int = 0
    system: str = ""
    balances: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        """Locations of the processors; cores of a single socket if the system does not report them."""
        return self.placed or tuple(Place(number, 0, number, 0, 0) for number in self.processors)

    @property
    def sockets(self) -> int:
        """Number of sockets with processors in use."""
        return len({place.socket for place in self.places})

    @property
    def threads_per_core(self) -> int:
        """Processors in use per core: 2 if all cores have two, otherwise 1."""
        cores = len({(place.socket, place.core) for place in self.places})
        return 2 if len(self.places) == 2 * cores else 1


def this_host(root: Path = Path("/")) -> Host:
    """Return the host described by the files below *root* (``/proc``, ``/sys``); missing information is left out."""
    processors = tuple(sorted(os.sched_getaffinity(0)))
    information = _text(root / "proc/cpuinfo")
    nodes = _nodes(root, processors)
    places = tuple(_place(root, number, nodes.get(number, 0)) for number in processors)
    first = places[0]
    return Host(
        model=_field(information, "model name") or _field(information, "CPU part") or "unknown processor",
        processors=processors,
        nodes=len(set(nodes.values())) or 1,
        far=next((place.number for place in places if place.socket != first.socket), -1),
        caches=_caches(root / f"sys/devices/system/cpu/cpu{processors[0]}/cache", processors),
        is_virtual="hypervisor" in _field(information, "flags").split(),
        page_bytes=os.sysconf("SC_PAGE_SIZE"),
        available_bytes=_kib(root, "MemAvailable") or 2**30,
        placed=places,
        beside=next(
            (place.number for place in places if place.socket == first.socket and place.node != first.node), -1
        ),
        memory_bytes=_kib(root, "MemTotal"),
        system=f"{os.uname().sysname} {os.uname().release.partition('-')[0]}",
        balances=_text(root / "proc/sys/kernel/numa_balancing") not in ("", "0"),
    )


def _place(root: Path, number: int, node: int) -> Place:
    directory = root / f"sys/devices/system/cpu/cpu{number}"
    core = _text(directory / "topology/core_id")
    sharers = [
        _list(_text(index / "shared_cpu_list"))
        for index in sorted(directory.glob("cache/index[0-9]*"), key=lambda index: _number(_text(index / "level")))
    ]
    return Place(
        number=number,
        socket=_number(_text(directory / "topology/physical_package_id")),
        core=int(core) if core.isdecimal() else number,
        node=node,
        cache=min(sharers[-1]) if sharers and sharers[-1] else number,
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
    """Return the numbers in a list like ``0-3,8``; none if it is malformed."""
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


def _kib(root: Path, name: str) -> int:
    """Return field *name* of meminfo in bytes; 0 if missing."""
    return _number(_field(_text(root / "proc/meminfo"), name).split(" ")[0]) * 1024
