"""Corrects the busy categories of a trace's shares to the cycle, on machines whose blocks take fractions of cycles.

The runtime reports a stretch in whole cycles when the stretch ends, but knows the category of a region's last cycle
only when the run ends. So a trace can have up to three cycles of a processor and region in another busy category than
the result. `Moves` puts them into the right one, within a stretch that has enough of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scalegraph.runtime.format import CATEGORY_GROUPS, CATEGORY_NAMES, EVENT
from scalegraph.traces.kinds import Array, Columns

if TYPE_CHECKING:
    from scalegraph.runtime.results import Records

_BUSY = sum(CATEGORY_GROUPS[name] == "busy" for name in CATEGORY_NAMES)  # they come first
_MOST = 3  # cycles moved from one category of a processor and region


def busy(chunks: Iterable[tuple[float, Records]], processors: int, regions: int) -> Array:
    """Return the cycles recorded in the busy categories. Shape: (processors, regions, categories)."""
    reported = np.zeros((processors, regions, _BUSY), np.int64)
    for _, records in chunks:
        rows = records[(records["event"] == EVENT["share"]) & (records["what"] < _BUSY)]
        np.add.at(reported, (rows["processor"], rows["region"], rows["what"]), rows["second"].astype(np.int64))
    return reported


@dataclass
class Moves:
    """Cycles to move to another busy category, by processor, region and category."""

    todo: dict[tuple[int, int, int], list[tuple[int, int]]] = field(default_factory=dict)  # -> (category, cycles)

    @classmethod
    def to_match(cls, told: Array, costs: Records) -> Moves:
        """Return the moves after which *told*, as from `busy`, equals the result's *costs*; no others."""
        known = np.zeros_like(told)
        known[costs["processor"], costs["region"]] = costs["categories"][:, :_BUSY].astype(np.int64)
        more = told - known
        moves = cls()
        few = (np.abs(more).max(axis=2) <= _MOST) & (more.sum(axis=2) == 0) & more.any(axis=2)
        for processor, region in np.argwhere(few):
            left = more[processor, region].tolist()
            for category in range(_BUSY):
                for other in range(_BUSY):
                    count = min(left[category], -left[other])
                    if count > 0:
                        moves.todo.setdefault((int(processor), int(region), category), []).append((other, count))
                        left[category] -= count
                        left[other] += count
        return moves

    def apply(self, columns: Columns) -> Columns:
        """Return the rows of shares *columns* with all possible moves applied."""
        if not self.todo:
            return columns
        rows = np.flatnonzero((columns["state"] < _BUSY) & (columns["ticks"] > _MOST))
        keys = np.stack([columns[name][rows] for name in ("location", "region", "state")], axis=1)
        unique, first = np.unique(keys, axis=0, return_index=True)
        at: list[int] = []
        made: list[tuple[int, int]] = []
        ticks = columns["ticks"].copy()
        for key, row in zip(map(tuple, unique.tolist()), rows[first].tolist(), strict=True):
            for category, count in self.todo.pop(key, ()):
                ticks[row] -= count
                at.append(row + 1)
                made.append((category, count))
        columns = {**columns, "ticks": ticks}
        if not at:
            return columns
        more: dict[str, Any] = {name: values[np.array(at) - 1] for name, values in columns.items()}
        more["state"], more["ticks"] = np.array(made, np.int64).T
        order = np.argsort(at, kind="stable")
        return {
            name: np.insert(values, np.array(at)[order], more[name][order]).astype(values.dtype, copy=False)
            for name, values in columns.items()
        }
