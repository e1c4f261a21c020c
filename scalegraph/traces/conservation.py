"""Conservation: the shares of a trace cover all its time, and agree with a separate accounting.

The property ``accounting`` of a trace is JSON: ``{"leaves": {category: [ticks by location]}, "regions": {number:
{category: ticks}}}``, where a category is the key of a state. A missing category is 0 everywhere. If a trace has the
property and shares, the shares of every location cover the run without a gap, and their sums equal the accounting to
the tick.

Where blocks take fractions of ticks, each stretch divides its whole ticks among the categories before the fractions of
later stretches are known. The categories concerned are listed: ``"rounded": [category]``. Together they agree to the
tick; a single one may be off by one tick in each region of each location.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from scalegraph.base.units import thousands
from scalegraph.traces.kinds import Array, Columns
from scalegraph.traces.lod.streams import by_location
from scalegraph.traces.model import Trace

if TYPE_CHECKING:
    from scalegraph.traces.checking import Found

ACCOUNTING = "accounting"


def accounting(trace: Trace) -> tuple[Array, Array, list[int]] | None:
    """Return the accounting of *trace*: ticks by location and state, by region and state, and the rounded states.

    None if it has none.

    Categories without a state come after the states. Raises `ValueError` with a sentence if it cannot be read.
    """
    text = trace.meta.properties.get(ACCOUNTING)
    if text is None:
        return None
    defined = trace.definitions
    try:
        data: Any = json.loads(text)
        categories, rounded = dict(data["leaves"]), [str(category) for category in data.get("rounded", [])]
        regions = {int(number): dict(by_category) for number, by_category in dict(data["regions"]).items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError("is not readable: categories and regions were expected") from None
    number = _numbers(trace, [*categories, *(category for by_category in regions.values() for category in by_category)])
    by_location = np.zeros((len(defined.locations), len(number)), np.int64)
    by_region = np.zeros((len(defined.regions), len(number)), np.int64)
    for category, ticks in categories.items():
        if not isinstance(ticks, list) or len(ticks) != len(defined.locations):
            raise ValueError(f"does not record '{category}' of each of {len(defined.locations)} locations")
        by_location[:, number[category]] = _whole(ticks)
    for region, by_category in regions.items():
        if not 0 <= region < len(defined.regions):
            raise ValueError(f"tells of region {region}, there are {len(defined.regions)}")
        for category, ticks in by_category.items():
            by_region[region, number[category]] = _whole([ticks])[0]
    return by_location, by_region, [number[category] for category in rounded if category in number]


def _whole(values: list[Any]) -> list[int]:
    """Return *values* if they are whole numbers of 64 bits."""
    if not all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
        raise ValueError("is not readable: whole numbers of ticks were expected")
    return values


def _numbers(trace: Trace, categories: list[str]) -> dict[str, int]:
    """Return the column of each category: the number of the state with that key; unknown ones come last."""
    found = {state.key or state.name: index for index, state in enumerate(trace.definitions.states)}
    more = [category for category in dict.fromkeys(categories) if category not in found]
    count = len(trace.definitions.states)
    return found | {category: count + index for index, category in enumerate(more)}


class Conservation:
    """Sums the shares of a trace part by part and compares them with its accounting at the end."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._trace = trace = found.trace
        self._known: tuple[Array, Array, list[int]] | None = None
        try:
            self._known = accounting(trace) if trace.count("shares") else None
        except ValueError as error:
            self._say("accounting", f"the trace's accounting {error}", 1)
        if self._known is None:
            return
        self._by_location, self._by_region = (np.zeros_like(table) for table in self._known[:2])
        self._reached = np.full(len(trace.definitions.locations), trace.meta.begin, np.int64)

    def look(self, columns: Columns, row: int) -> None:
        """Add a part of the shares, whose first row has the number *row*."""
        if self._known is None:
            return
        states, regions = len(self._trace.definitions.states), len(self._trace.definitions.regions)
        location, state, region = columns["location"], columns["state"], columns["region"]
        there = (location >= 0) & (location < len(self._reached))
        named = there & (state >= 0) & (state < states)
        np.add.at(self._by_location, (location[named], state[named]), columns["ticks"][named])
        named &= (region >= 0) & (region < regions)
        np.add.at(self._by_region, (region[named], state[named]), columns["ticks"][named])
        rows = np.flatnonzero(there)
        rows = rows[by_location(location[rows])]
        if len(rows):
            self._gaps(location[rows], columns["begin"][rows], columns["end"][rows], rows + row)

    def _gaps(self, owner: Array, begin: Array, end: Array, row: Array) -> None:
        """Find time between stretches that no share covers; rows are ordered by location and time."""
        new = np.r_[True, owner[1:] != owner[:-1]]
        before = np.r_[np.int64(0), end[:-1]]
        before[new] = self._reached[owner[new]]
        bad = np.flatnonzero(begin > before)
        if len(bad):
            at = bad[np.argmin(row[bad])]
            self._gap(int(owner[at]), int(before[at]), int(begin[at]), len(bad), int(row[at]))
        last = np.r_[owner[1:] != owner[:-1], True]
        self._reached[owner[last]] = end[last]

    def _gap(self, location: int, begin: int, end: int, count: int, row: int) -> None:
        who = self._trace.definitions.locations[location].name
        text = f"{thousands(end - begin)} ticks of '{who}' from tick {begin} on are in no share"
        self._say("gap", text, count, who, begin, row)

    def end(self) -> None:
        """Compare the sums with the accounting."""
        if self._known is None:
            return
        short = np.flatnonzero(self._reached < self._trace.meta.end)
        if len(short):
            where = int(short[0])
            self._gap(where, int(self._reached[where]), self._trace.meta.end, len(short), -1)
        defined = self._trace.definitions
        self._compare(
            "conservation",
            self._rounded(self._by_location, self._known[0], len(defined.regions)),
            self._known[0],
            lambda at: defined.locations[at].name,
        )
        self._compare(
            "conservation_by_region",
            self._rounded(self._by_region, self._known[1], len(defined.locations)),
            self._known[1],
            lambda at: f"region {defined.regions[at].name}",
        )

    def _rounded(self, shares: Array, account: Array, most: int) -> Array:
        """Return *shares*, with *account*'s rows where rounding (at most *most* ticks) explains the difference."""
        which = self._known[2] if self._known is not None else []
        off = (shares - account)[:, which]
        fine = (off.sum(axis=1) == 0) & (np.abs(off) <= most).all(axis=1)
        made = shares.copy()
        made[np.ix_(fine, which)] = account[np.ix_(fine, which)]
        return made

    def _compare(self, rule: str, shares: Array, account: Array, name: Callable[[int], str]) -> None:
        wrong = np.argwhere(shares != account)
        if not len(wrong):
            return
        at, state = (int(number) for number in wrong[0])
        here, there = int(shares[at, state]), int(account[at, state])
        states = self._trace.definitions.states
        words = f"'{states[state].name}'" if state < len(states) else "a state that is not defined"
        which = f"{thousands(abs(here - there))} too {'many' if here > there else 'few'}"
        text = f"'{name(at)}' has {thousands(here)} ticks in {words}, the accounting says {thousands(there)}: {which}"
        self._say(rule, text, len(wrong), name(at))

    def _say(self, rule: str, text: str, count: int, who: str = "", time: int | None = None, row: int = -1) -> None:
        self._found.said(rule, "shares", text, count, who, time, row)
