"""Tables of search results: how often and where first in an interval, and the longest occurrences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.find import LASTING, SORTS, Sort, Target, occurring, parts_with
from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import NO_TIME, Array
from scalegraph.traces.model import Trace

LONGEST: Final = ("sort", "number", "name", "begin", "end", "location", "region")
Rows = tuple[Array, Array, Array, Array, Array]  # begin, end, location, region, number


def counted(trace: Trace, targets: Sequence[Target], begin: int, end: int, locations: Sequence[int]) -> pd.DataFrame:
    """Return how often each of *targets* begins from *begin* to *end* (ticks) on *locations*, and where first.

    Columns: ``sort``, ``number``, ``name``, ``count``, ``first`` (tick; `NO_TIME` if never), ``location`` (-1).

    Shape: one row for each target. Unit: ticks; counts have none. Source: ScaleGraph.
    """
    rows = []
    for name in dict.fromkeys(target.sort for target in targets):
        sort, wanted = SORTS[name], [target for target in targets if target.sort == name]
        counts = dict.fromkeys((one.number for one in wanted), 0)
        first: dict[int, tuple[int, int]] = {}
        for part in parts_with(trace, sort, begin, end):
            checkpoint()
            time, location, number = (part.column(column) for column in (sort.time, sort.location, sort.column))
            keep = occurring(sort, part) & (time >= begin) & (time <= end) & np.isin(location, locations)
            kept = np.flatnonzero(keep & np.isin(number, list(counts)))
            kept = kept[np.lexsort((location[kept], time[kept]))]
            numbers, at, many = np.unique(number[kept], return_index=True, return_counts=True)
            for one, row, count in zip(numbers.tolist(), kept[at].tolist(), many.tolist(), strict=True):
                counts[one] += count
                first[one] = min(first.get(one, (2**63, 0)), (int(time[row]), int(location[row])))
        rows += [
            (name, one.number, one.name, counts[one.number], *first.get(one.number, (NO_TIME, -1))) for one in wanted
        ]
    return pd.DataFrame(rows, columns=pd.Index(("sort", "number", "name", "count", "first", "location")))


def longest(
    trace: Trace,
    calls: CallTable | None,
    targets: Sequence[Target],
    most: int,
    begin: int,
    end: int,
    locations: Sequence[int],
) -> pd.DataFrame:
    """Return the *most* longest occurrences of *targets* inside *begin* to *end*, longest first.

    *calls* may be None if no target is a region. Columns: `LONGEST`; times are ticks. Sorts without a duration
    (locations, markers, metrics) are left out.

    Shape: (*most* or fewer, columns). Unit: ticks. Source: ScaleGraph.
    """
    found: list[pd.DataFrame] = []
    for name in (name for name in LASTING if any(target.sort == name for target in targets)):
        sort, names = SORTS[name], {target.number: target.name for target in targets if target.sort == name}
        if name == "region":
            pieces = _of_calls(calls, begin, end) if calls is not None else iter(())
        else:
            pieces = _of_rows(trace, sort, begin, end)
        best: list[Rows] = []
        for piece in pieces:
            rows = _kept(piece, list(names), locations, begin, end)
            best = [top([*best, rows], most)]
        for one in best:
            table = pd.DataFrame(dict(zip(("begin", "end", "location", "region", "number"), one, strict=True)))
            table["sort"], table["name"] = name, [names[number] for number in one[4].tolist()]
            found.append(table[list(LONGEST)])
    if not found:
        return pd.DataFrame(columns=pd.Index(LONGEST))
    made = pd.concat([table for table in found if len(table)] or found[:1], ignore_index=True)
    order = np.lexsort((made["location"], made["begin"], made["begin"] - made["end"]))
    return made.iloc[order[:most]].reset_index(drop=True)


def _kept(rows: Rows, wanted: list[int], locations: Sequence[int], begin: int, end: int) -> Rows:
    keep = np.isin(rows[4], wanted) & np.isin(rows[2], locations)
    keep &= (rows[0] >= begin) & (rows[1] <= end) & (rows[0] != NO_TIME) & (rows[1] != NO_TIME)
    one, two, three, four, five = (values[keep] for values in rows)
    return one, two, three, four, five


def top(pieces: Sequence[Rows], most: int) -> Rows:
    """Return the *most* longest of *pieces* in no order; ties go to the one that begins earlier.

    Shape: (*most* or fewer,) of each array. Unit: ticks. Source: ScaleGraph.
    """
    one, two, three, four, five = (np.concatenate(some).astype(np.int64) for some in zip(*pieces, strict=True))
    if len(one) > most:
        if not most:
            return one[:0], two[:0], three[:0], four[:0], five[:0]
        least = np.partition(two - one, len(one) - most)[len(one) - most]
        near = np.flatnonzero(two - one >= least)
        keep = near[np.lexsort((three[near], one[near], one[near] - two[near]))[:most]]
        one, two, three, four, five = one[keep], two[keep], three[keep], four[keep], five[keep]
    return one, two, three, four, five


def _of_calls(calls: CallTable, begin: int, end: int) -> Iterable[Rows]:
    for some in calls.calls(begin, end):
        region = calls.paths.region[some.path] if len(calls.paths) else np.empty(0, np.int64)
        yield some.begin, some.end, some.location, region, region


def _of_rows(trace: Trace, sort: Sort, begin: int, end: int) -> Iterable[Rows]:
    for part in parts_with(trace, sort, begin, end):
        checkpoint()
        number = part.column(sort.column)
        region = part.column(sort.region) if sort.region else np.full(part.rows, -1)
        yield part.column(sort.time), part.column(sort.end), part.column(sort.location), region, number
