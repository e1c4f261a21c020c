"""Causes of waiting, from the result of a run: by cause and category, by region and by code address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from scalegraph.base.run import Blames
from scalegraph.link.build import Build
from scalegraph.runtime.format import BLAME_NAMES, CATEGORY_NAMES
from scalegraph.runtime.layout import Row
from scalegraph.runtime.results import Result

Place: TypeAlias = tuple[str, int, str]  # file, line, function


def by_cause_and_category(records: Iterable[Row]) -> Blames:
    """Return the waiting in BLAME *records* that a cause explains: cause -> category -> cycles, without zeros."""
    sums: dict[int, list[int]] = {}
    for record in records:
        before = sums.get(record["cause"])
        waited = record["waited"]
        sums[record["cause"]] = list(waited) if before is None else list(map(int.__add__, before, waited))
    return {
        BLAME_NAMES[index]: {
            category: cycles for category, cycles in zip(CATEGORY_NAMES, categories, strict=True) if cycles
        }
        for index, categories in sorted(sums.items())
        if any(categories)
    }


def caused(records: Iterable[Row]) -> dict[str, int]:
    """Return the waiting in BLAME *records* at the place that caused it: cause -> cycles, without zeros."""
    sums: dict[int, int] = {}
    for record in records:
        sums[record["cause"]] = sums.get(record["cause"], 0) + record["caused"]
    return {BLAME_NAMES[index]: cycles for index, cycles in sorted(sums.items()) if cycles}


def blamed_sites(result: Result) -> list[list[int]]:
    """Return the blame of each of *result*'s sites: cycles waited, then caused by cause."""
    sites = result.rows("SITES")
    rows = [[0] * (1 + len(BLAME_NAMES)) for _ in sites]
    # A block and a call may share an address: either record takes the blame of both.
    place = {site["address"]: row for site, row in zip(sites, rows, strict=True)}
    for record in result.rows("BLAMED_SITES"):
        row = place.get(record["address"])
        if row is not None:
            row[:] = map(int.__add__, row, (record["waited"], *record["caused"]))
    return rows


def start_lines(build: Build, result: Result, places: Sequence[Place]) -> list[Place]:
    """Return *places*, one per site of *result*; a site that starts teams gets the line of its region.

    Compilers may give the call that starts a team the line of the statement before it, if they move it there.
    """
    known = {region.id: region for region in build.regions}
    started = {record["address"]: record["region"] for record in result.rows("BLAMED_SITES") if record["region"]}
    found = []
    for site, place in zip(result.rows("SITES"), places, strict=True):
        region, (file, line, function) = known.get(started.get(site["address"], 0)), place
        parallel = region is not None and region.kind.startswith("parallel") and region.file == file
        if region is not None and parallel and not region.line <= line <= region.end_line:
            line = region.line
        found.append((file, line, function))
    return found
