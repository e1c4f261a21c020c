"""What processors waited for, from the result of a run: by cause and leaf, by region and by code address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from scalegraph.base.run import Blames
from scalegraph.link.build import Build
from scalegraph.runtime.format import BLAME_NAMES, LEAF_NAMES
from scalegraph.runtime.results import Records, Result

Place: TypeAlias = tuple[str, int, str]  # file, line, function
_Counts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


def by_cause_and_leaf(records: Records) -> Blames:
    """Return the waiting of BLAME *records* that a cause explains: cause -> leaf -> cycles, without zeros."""
    found: Blames = {}
    for index, name in enumerate(BLAME_NAMES):
        leaves = records["waited"][records["cause"] == index].sum(axis=0, dtype=np.int64)
        if leaves.any():
            found[name] = {leaf: int(cycles) for leaf, cycles in zip(LEAF_NAMES, leaves, strict=True) if cycles}
    return found


def caused(records: Records) -> dict[str, int]:
    """Return the waiting of BLAME *records* by what caused it, where it was caused: cause -> cycles, without zeros."""
    sums = {
        name: int(records["caused"][records["cause"] == index].sum(dtype=np.int64))
        for index, name in enumerate(BLAME_NAMES)
    }
    return {name: cycles for name, cycles in sums.items() if cycles}


def blamed_sites(result: Result) -> _Counts:
    """Return what is blamed on each of *result*'s sites, shape (sites, 1 + causes): waited, then caused by cause."""
    rows = np.zeros((len(result.sites), 1 + len(BLAME_NAMES)), np.int64)
    if len(result.blamed_sites) == 0:
        return rows
    # A block and a call may have one address: the record of either takes what both are blamed for.
    place = {int(address): index for index, address in enumerate(result.sites["address"])}
    for record in result.blamed_sites:
        index = place.get(int(record["address"]))
        if index is not None:
            rows[index, 0] += int(record["waited"])
            rows[index, 1:] += record["caused"].astype(np.int64)
    return rows


def start_lines(build: Build, result: Result, places: Sequence[Place]) -> list[Place]:
    """Return *places*, of each of *result*'s sites, with the line of the region where a site starts teams.

    Compilers give the call that starts a team the line of the statement before it, if they move it there.
    """
    known = {region.id: region for region in build.regions}
    started = {int(record["address"]): int(record["region"]) for record in result.blamed_sites if record["region"]}
    found = []
    for address, place in zip(result.sites["address"], places, strict=True):
        region, (file, line, function) = known.get(started.get(int(address), 0)), place
        parallel = region is not None and region.kind.startswith("parallel") and region.file == file
        if region is not None and parallel and not region.line <= line <= region.end_line:
            line = region.line
        found.append((file, line, function))
    return found
