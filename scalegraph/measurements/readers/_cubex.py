"""One Cube4 profile (``.cubex``): values by call path, combined over its locations (threads of all processes)."""

from __future__ import annotations

import re
import struct
import tarfile
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray
from pycubexr import CubexParser
from pycubexr.utils.custom_tarinfo import TarInfoWithoutCheck
from pycubexr.utils.exceptions import CorruptIndexError, MissingMetricError, UnsupportedMetricFormatError

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.readers._waiting import is_waiting

Floats: TypeAlias = NDArray[np.float64]

BLOCK = 512
TIME = "time"
SMALLEST, LARGEST = "MINDOUBLE", "MAXDOUBLE"
NO_NUMBERS = ("TAU_ATOMIC", "RATE", "COMPLEX", "NDOUBLES", "HISTOGRAM", "SCALE_FUNC")  # several numbers per value

# What the library and those below it raise on damaged archives; it has no exception class for that.
_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    CorruptIndexError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    ET.ParseError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    tarfile.TarError,
    zlib.error,
)


@dataclass(frozen=True)
class Node:
    """A call path of a profile; *parent* is a position in `Profile.nodes` before its own."""

    parent: int | None
    name: str
    file: str
    line: int


@dataclass(frozen=True)
class Useful:
    """The part of a metric outside `is_waiting` call paths; *total*, *largest* and *inclusive* as in `Values`."""

    total: Floats
    largest: Floats
    inclusive: Floats


@dataclass(frozen=True)
class Values:
    """A metric of a profile, by position in `Profile.nodes`; NaN if the profile stores nothing.

    *total*: exclusive, summed over the locations (for a minimum or maximum metric the smallest or largest); *largest*:
    of the location with the largest; *inclusive*: the largest, including everything below.
    """

    name: str
    unit: str
    description: str
    extent: str
    total: Floats
    largest: Floats | None
    inclusive: Floats | None
    useful: Useful | None = None


@dataclass(frozen=True)
class Profile:
    """The content of one file, and the metrics that were left out with the reason."""

    nodes: tuple[Node, ...]
    metrics: tuple[Values, ...]
    locations: int
    left_out: tuple[tuple[str, str], ...]


def is_cubex(head: bytes) -> bool:
    """Whether a file that begins with *head* may be one: a tar archive whose first member belongs to a profile.

    Score-P writes attached files (``remapping.spec``) before the values.
    """
    first = rb"(anchor\.xml|remapping\.spec|\d+\.(data|index))\0"
    return head[257:262] == b"ustar" and re.match(first, head) is not None


def read_profile(path: Path) -> Profile:
    """Return the profile in *path*; raise `InputError` if it is damaged or of an unsupported kind."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # wrong header checksums, written by one version of Cube
            names = _whole_archive(path)
            with _opened(path) as cube:
                _check_members(cube, names, path)
                return _profile(cube)
    except _DAMAGE as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        if isinstance(error, OSError) and error.strerror:
            raise InputError(Fault(f"cannot be read: {error.strerror}", file=str(path))) from error
        message = f"is damaged or of a kind that cannot be read ({reason[:80]}); expected a whole Cube4 profile"
        raise InputError(Fault(message, file=str(path))) from error


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open *path* with the library, which leaves the file open if it fails."""
    parser = CubexParser(str(path))
    try:
        yield parser.__enter__()
    finally:
        archive = getattr(parser, "_cubex_file", None)
        if archive is not None:
            archive.close()


def _whole_archive(path: Path) -> list[str]:
    """Return the names of the archive's members; refuse one that does not end where its last member ends."""
    try:
        archive = tarfile.open(path, "r:")  # noqa: SIM115 - closed below
    except tarfile.ReadError:
        archive = tarfile.open(path, "r:", tarinfo=TarInfoWithoutCheck)  # noqa: SIM115
    with archive:
        members = archive.getmembers()
        end = max((member.offset_data + -(-member.size // BLOCK) * BLOCK for member in members), default=0)
        names = [member.name for member in members]
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(min(end, size))
        rest = file.read()
    if size < end + BLOCK or rest.strip(b"\0"):
        raise InputError(Fault("is cut off or damaged: it does not end as a Cube4 profile must", file=str(path)))
    return names


def _check_members(cube: Any, names: list[str], path: Path) -> None:
    known = {str(metric.id) for metric in cube.all_metrics()}
    stored = [name for name in names if name.endswith((".data", ".index"))]
    for name in stored:
        other = (
            name.removesuffix(".data") + ".index" if name.endswith(".data") else f"{name.removesuffix('.index')}.data"
        )
        if name.rpartition(".")[0] not in known or other not in stored or stored.count(name) > 1:
            message = "belongs to no metric of the profile; expected an index and data for each metric that is stored"
            raise InputError(Fault(message, file=str(path), key=name))


def _profile(cube: Any) -> Profile:
    nodes, place = _nodes(cube.get_root_cnodes())
    locations = len(cube.get_locations())
    metrics: list[Values] = []
    left_out: list[tuple[str, str]] = []
    for metric in cube.all_metrics():
        if metric.data_type.partition("(")[0].strip() in NO_NUMBERS:
            left_out.append((metric.name, f"its values are of type {metric.data_type}, more than one number each"))
            continue
        try:
            stored = cube.get_metric_values(metric, cache=False)
        except MissingMetricError:
            left_out.append((metric.name, "the profile holds no values of it"))
        except UnsupportedMetricFormatError:
            left_out.append((metric.name, f"its values are of the unknown type {metric.data_type}"))
        else:
            metrics.append(_values(metric, stored, nodes, place, locations))
    return Profile(nodes, tuple(metrics), locations, tuple(left_out))


def _nodes(roots: list[Any]) -> tuple[tuple[Node, ...], dict[int, int]]:
    """Return the call paths, parents first, and the position of each call node's path.

    Call nodes of the same region below the same path are one path, unless parameters distinguish them.
    """
    nodes: list[Node] = []
    place: dict[int, int] = {}
    known: dict[tuple[int | None, str], int] = {}
    waiting: list[tuple[Any, int | None]] = [(root, None) for root in reversed(roots)]
    while waiting:
        cnode, parent = waiting.pop()
        region = cnode.region
        name = region.name or f"region {region.id}"
        if cnode.parameters:
            name += "(" + ", ".join(f"{key}={value}" for key, value in cnode.parameters.items()) + ")"
        index = known.setdefault((parent, name), len(nodes))
        if index == len(nodes):
            nodes.append(Node(parent, name, region.mod or "", max(region.begin, 0)))
        place[cnode.id] = index
        waiting.extend((child, index) for child in reversed(cnode.get_children()))
    return tuple(nodes), place


def _values(metric: Any, stored: Any, nodes: tuple[Node, ...], place: dict[int, int], locations: int) -> Values:
    unit, extent = metric.units or "", "exclusive"
    raw = stored.values
    plain = raw if isinstance(raw, np.ndarray) else raw.astype(float)
    if len(plain) != locations * len(stored.cnode_indices):
        raise ValueError(f"{len(plain)} values of {metric.name}, not one for each call path and location")
    rows = np.array([place[cnode] for cnode in stored.cnode_indices], np.int64)
    table = plain.reshape(len(rows), locations).astype(np.float64)
    known = np.zeros(len(nodes), bool)
    known[rows] = True
    description = metric.description or metric.display_name or ""
    if metric.data_type in (SMALLEST, LARGEST):
        choose = np.minimum if metric.data_type == SMALLEST else np.maximum
        total = np.full(len(nodes), np.inf if metric.data_type == SMALLEST else -np.inf)
        choose.at(total, rows, choose.reduce(table, axis=1))
        return Values(metric.name, unit, description, "unknown", np.where(known, total, np.nan), None, None)
    grid = np.zeros((len(nodes), locations))
    np.add.at(grid, rows, table)
    inclusive = grid.copy()
    parents = [node.parent for node in nodes]
    if metric.metric_type == "INCLUSIVE":
        for index, parent in enumerate(parents):
            if parent is not None:
                grid[parent] -= inclusive[index]
        if np.issubdtype(plain.dtype, np.unsignedinteger):
            np.maximum(grid, 0, out=grid)
    else:
        inclusive = _with_inside(grid, parents)
    useful = _useful(grid, nodes, known) if metric.name == TIME else None
    total, largest, longest = (
        np.where(known, each, np.nan) for each in (grid.sum(axis=1), grid.max(axis=1), inclusive.max(axis=1))
    )
    return Values(metric.name, unit, description, extent, total, largest, longest, useful)


def _useful(grid: Floats, nodes: tuple[Node, ...], known: NDArray[np.bool_]) -> Useful:
    own = grid.copy()
    own[[is_waiting(node.name) for node in nodes]] = 0
    inside = _with_inside(own, [node.parent for node in nodes])
    return Useful(*(np.where(known, each, np.nan) for each in (own.sum(axis=1), own.max(axis=1), inside.max(axis=1))))


def _with_inside(grid: Floats, parents: list[int | None]) -> Floats:
    """Return the rows of *grid*, each including everything below it."""
    inclusive = grid.copy()
    for index in range(len(parents) - 1, -1, -1):
        parent = parents[index]
        if parent is not None:
            inclusive[parent] += inclusive[index]
    return inclusive
