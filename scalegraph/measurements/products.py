"""A product of parameters as the number of processors: ``ranks*threads`` replaces both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements import grids, names
from scalegraph.measurements.merging import renumbered
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.runs import varies
from scalegraph.measurements.splits import splits_names

_SHOWN = 4  # products whose factors a remark lists


def multiplied(measured: MeasurementSet, word: str) -> MeasurementSet:
    """Return the set with its factors replaced by the product *word* (``ranks*threads``).

    A single factor may be a text of grids (``2x2``), replaced by the product of its sides. Points that differ only in
    the factors become repetitions of one point, with a remark. If *word* is not a product of its parameters, the set is
    returned unchanged. Raises `InputError` if a factor is not a whole number of 1 or more.
    """
    factors = [part.strip() for part in word.split("*")]
    if word in measured.parameters:
        factors = [word]
    if not all(name in measured.parameters for name in factors):
        return measured
    points = measured.points.copy()
    grids_ = {name: counts for name in factors if (counts := grids.products(points[name])) is not None}
    if len(factors) < 2 and not grids_:
        return measured
    for name, counts in grids_.items():
        points[name] = np.minimum(counts, 2.0**62).astype(np.int64)
    wrong = [name for name in factors if not _counts(points[name])]
    if wrong:
        raise InputError(Fault(f"'{wrong[0]}' is not a whole number of 1 or more at every point", key="--processors"))
    product = points[factors].prod(axis=1).astype(np.int64)
    fewer = points.drop(columns=factors)
    fewer.insert(0, word, product)
    names = [str(name) for name in fewer.columns]
    code = fewer.groupby(names, sort=False, dropna=False).ngroup().to_numpy().astype(np.int64)
    values = measured.values.copy()
    values["repetition"] = renumbered(code[values["point"]], values["point"].to_numpy(), values["repetition"])
    before = values["point"].to_numpy()
    values["point"] = code[before]
    splits = {}
    if names_ := splits_names(factors):
        ways = points[list(names_)].to_numpy(dtype=np.int64)
        places = zip(values["point"].tolist(), values["repetition"].tolist(), before.tolist(), strict=True)
        splits = {(point, repetition): (int(ways[was][0]), int(ways[was][1])) for point, repetition, was in places}
    return replace(
        measured,
        splits=splits,
        points=fewer.drop_duplicates().reset_index(drop=True),
        parameters=tuple(names),
        values=values,
        remarks=(*measured.remarks, *_remarks(measured.points, factors, product, word)),
    )


def _remarks(points: pd.DataFrame, factors: Sequence[str], product: pd.Series, word: str) -> tuple[str, ...]:
    """Return the remark on products with several pairs of factors, empty if there are none."""
    ways = points[list(factors)].astype(str).agg("*".join, axis=1).groupby(product).unique()
    several = {str(count): list(texts) for count, texts in ways.items() if len(texts) > 1}
    if not several:
        return ()
    shown = "; ".join(f"{count} = {' = '.join(texts)}" for count, texts in list(several.items())[:_SHOWN])
    more = ", .." if len(several) > _SHOWN else ""
    return (f"points of the same {word} count as repetitions of one, whose median is taken ({shown}{more})",)


def _counts(column: pd.Series) -> bool:
    """Whether every value could be a factor of a number of processors."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return False
    values = column.to_numpy(dtype=np.float64)
    return bool(((values >= 1) & (values == np.floor(values)) & (values <= 2**31)).all())


_MOST_COUNTS = 6  # columns whose products are compared
_PER_NODE = frozenset({"ppn", "tpn", "rpn", "tasks_node", "ranks_node", "procs_node", "processes_node", "cores_node"})


def decided(measured: MeasurementSet, fits: Sequence[str]) -> tuple[str, str] | None:
    """Return which of the parameters *fits*, or product of them, counts the processors, with an explanation.

    One does that is the product of two others or more (``total_cores`` of ``ranks`` and ``threads``), and so does the
    number of nodes times what runs on each of them. None where the numbers decide nothing.
    """
    counts = {name: measured.points[name].to_numpy(dtype=np.float64) for name in fits}
    named = [name for name in fits if names.counts_processors(name)][:_MOST_COUNTS]
    changing = [name for name in named if varies(measured.points[name])]
    totals = []
    for name in changing:
        others = [other for other in named if other != name]
        for size in range(2, len(others) + 1):
            totals += [
                (counts[name].max(), name, factors)
                for factors in combinations(others, size)
                if (np.prod([counts[one] for one in factors], axis=0) == counts[name]).all()
            ]
    if totals and len(changing) > 1:
        most, name, factors = max(totals, key=lambda item: item[0])
        if most == max(counts[one].max() for one in changing):
            return name, f"'{name}' is {' times '.join(factors)} in every row"
    each = [name for name in fits if _per_node(name) and varies(measured.points[name])]
    nodes = [name for name in named if names.counts_nodes(name)]
    others = [name for name in changing if name not in (*each, *nodes) and not _threads(name)]
    if len(each) != 1 or len(nodes) != 1 or others:
        return None
    factors = (nodes[0], each[0], *(name for name in changing if _threads(name) and name != each[0]))
    return "*".join(factors), f"'{each[0]}' run on each of '{nodes[0]}'"


def _per_node(name: str) -> bool:
    short = names.plain(name)
    return short.endswith(("_per_node", "_per_host")) or short in _PER_NODE


def _threads(name: str) -> bool:
    return bool({"threads", "thread"} & set(names.plain(name).split("_"))) or names.plain(name) == "cpus_per_task"
