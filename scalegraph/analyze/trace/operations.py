"""Collective operations in words: which operation, by which algorithm, in which call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalegraph.traces.kinds import Array, Columns, Operation
from scalegraph.traces.model import Trace

_ALGORITHM: Final = "collective_"
_PARTS: Final = {"in_finalize": "MPI_Finalize", "in_window": "MPI_Win"}
_RECURSIVE: Final = ("doubling", "halving")
_NAMES: Final = {int(one): one.name.lower().replace("_", " ") for one in Operation}


@dataclass(frozen=True, eq=False)
class Described:
    """The *name* of each operation, as in ``barrier (MPI_Finalize)``, and its *algorithm*, empty if not recorded."""

    name: Array
    algorithm: Array


def described(trace: Trace, rows: Mapping[str, Array]) -> Described:
    """Return descriptions of the collective operations *rows* (``operation``, ``location``, ``end``) of *trace*.

    The runtime marks the end of each operation with its algorithm, and with the call that it is part of.

    Shape: (rows,) of each array. Unit: none (words). Source: ScaleGraph.
    """
    regions = [region.name for region in trace.definitions.regions]
    marks = trace.columns("marks", ("time", "location", "region"))
    algorithm = _marked(marks, rows, {n: _words(name) for n, name in enumerate(regions) if name.startswith(_ALGORITHM)})
    part = _marked(marks, rows, {n: f" ({_PARTS[name]})" for n, name in enumerate(regions) if name in _PARTS})
    name = np.array([_NAMES.get(number, f"operation {number}") for number in rows["operation"].tolist()], object)
    return Described(name + part, algorithm)


def _words(mark: str) -> str:
    name = mark.removeprefix(_ALGORITHM).replace("_", "-")
    return f"recursive {name}" if name in _RECURSIVE else name


def _marked(marks: Columns, rows: Mapping[str, Array], words: dict[int, str]) -> Array:
    """Return for each operation the text of the marker at its end on its location."""
    found = np.full(len(rows["end"]), "", object)
    chosen = np.flatnonzero(np.isin(marks["region"], list(words)))
    if not len(chosen) or not len(found):
        return found
    order = chosen[np.lexsort((marks["time"][chosen], marks["location"][chosen]))]
    times, instants = np.unique(np.r_[marks["time"][order], rows["end"]], return_inverse=True)
    keys = np.r_[marks["location"][order], rows["location"]].astype(np.int64) * len(times) + instants
    mine, wanted = keys[: len(order)], keys[len(order) :]
    at = np.minimum(np.searchsorted(mine, wanted), len(mine) - 1)
    same = mine[at] == wanted
    named = np.array([words[number] for number in marks["region"][order].tolist()], object)
    found[same] = named[at[same]]
    return found
