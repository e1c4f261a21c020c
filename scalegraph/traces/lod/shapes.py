"""Result types of queries, and the type of a layer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from scalegraph.traces.kinds import Array, Columns


@dataclass(frozen=True)
class Code:
    """Something a location can be in; *number*: of the state or region, -1 for an activity or for all others.

    *role*: of the palette; *colour*: #rrggbb from the source, or empty.
    """

    name: str
    role: str
    colour: str = ""
    key: str = ""
    number: int = -1


@dataclass(frozen=True)
class Layer:
    """One way to classify time.

    *source*: the kind of event it is made from; *table*: the code of each of its numbers, shifted by one: entry 0 is
    for nothing (-1: not covered). *kept*: how many codes per bin are distinguished; *whole*: all of them are. The last
    code of a layer that is not whole stands for the remaining ones.
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
        """The codes that occur in the table, sorted (i4): the columns of a whole layer."""
        return np.unique(self.table[self.table >= 0]).astype(np.int32)

    @cached_property
    def columns(self) -> Array:
        """The column among `present` of each entry of the table (-1: none)."""
        return np.where(self.table < 0, -1, np.searchsorted(self.present, self.table)).astype(np.int32)


@dataclass(frozen=True)
class Lanes:
    """The time of L lanes in B bins, by code.

    *edges* [B+1] are ticks (i8); bins have one width, a power of two, except the run's last, which ends with it; they
    may begin before and end after the requested interval. *codes* [L, B, K] are indices in the layer's codes (i4; -1:
    none), *shares* [L, B, K] the share of the bin (0 to 1, f4) in each, *covered* [L, B] the share in any code: its
    excess over the sum of shares is in further codes. Activities are in the order of the layer's codes (without those
    that never occur), others by decreasing share. *members*: the locations of each lane; shares of several are
    averaged.
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
    """Some rows of a kind, by begin; *total*: their number in the requested interval."""

    columns: Columns
    total: int

    @property
    def complete(self) -> bool:
        """Whether all rows are included."""
        return len(next(iter(self.columns.values()))) >= self.total


@dataclass(frozen=True)
class Bins:
    """A metric over time: minimum, maximum and mean in each bin between *edges* (ticks); NaN where there is none.

    *rate*: values are per second (modes sum and next, whose values count events).
    """

    edges: Array
    low: Array
    high: Array
    mean: Array
    rate: bool
