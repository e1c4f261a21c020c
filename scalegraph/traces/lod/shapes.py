"""Result types of queries, and the type of a layer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from scalegraph.traces.kinds import Array, Columns


@dataclass(frozen=True)
class Code:
    """Something a location can be in; *number* is that of the state or region, -1 for an activity or all others.

    *role* is a role of the palette; *colour* (#rrggbb) what the source requests, or empty.
    """

    name: str
    role: str
    colour: str = ""
    key: str = ""
    number: int = -1


@dataclass(frozen=True)
class Layer:
    """One way to say where time went.

    *source* is the kind of event it is made of, and *table* the code of each number in there, shifted by one: place
    0 is what is nothing (-1: not covered). *kept* is how many codes of a bin are distinguished; *whole*: all of them
    are. The last code of a layer that is not whole stands for everything that was not distinguished.
    """

    name: str
    title: str
    codes: tuple[Code, ...]
    source: str
    table: Array
    kept: int
    whole: bool

    @cached_property
    def present(self) -> Array:
        """The codes that occur in the table, in their order (i4): the columns of a layer that is whole."""
        return np.unique(self.table[self.table >= 0]).astype(np.int32)

    @cached_property
    def columns(self) -> Array:
        """The column among `present` of each place of the table (-1: none)."""
        return np.where(self.table < 0, -1, np.searchsorted(self.present, self.table)).astype(np.int32)


@dataclass(frozen=True)
class Lanes:
    """Where the time of L lanes went in B bins.

    *edges* [B+1] are ticks (i8); bins are of one width, a power of two, but for the last of the run, which ends with
    it, and may begin before and end after what was requested. *codes* [L, B, K] are indices in the layer's codes (i4;
    -1: none), *shares* [L, B, K] the share of the bin (0 to 1, f4) in each, *covered* [L, B] the share in anything:
    what the shares leave of it went to further codes.
    Activities are in the order of the layer's codes (those that never occur are left out), others with the largest
    share first. *members* names the
    locations of each lane; of several, shares are their mean.
    """

    edges: Array
    codes: Array
    shares: Array
    covered: Array
    members: tuple[tuple[int, ...], ...]


class Totals(NamedTuple):
    """How many locations' worth of time went to each code: *values* [codes, B] (f4), bins between *edges* [B+1]."""

    edges: Array
    values: Array


@dataclass(frozen=True)
class Sample:
    """Some rows of a kind, by begin; *total* is how many there are in the interval that was requested."""

    columns: Columns
    total: int

    @property
    def complete(self) -> bool:
        """Whether all are there."""
        return len(next(iter(self.columns.values()))) >= self.total


@dataclass(frozen=True)
class Bins:
    """A metric over time: least, greatest and mean value in each bin between *edges* (ticks); NaN where there is none.

    *rate*: values are per second (modes sum and next, whose values count what happened).
    """

    edges: Array
    low: Array
    high: Array
    mean: Array
    rate: bool
