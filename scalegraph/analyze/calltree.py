"""Call trees with one value per node: merging, joining, sorting, and the callers and callees of a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scalegraph.measurements.model import MeasurementSet

Floats: TypeAlias = NDArray[np.float64]
_PLACE: Final = re.compile(r"[: ]\(?(?:line )?\d+\)?$")  # matches names such as kernel:6, parallel (line 12)
_NEARLY: Final = 1e-3  # relative difference allowed between a value and the sum of its measured parts


@dataclass(frozen=True)
class CallTree:
    """Nodes with their exclusive cost; parents (-1: none) come before their children.

    *own* >= 0 is exclusive; *visits* is NaN if unknown. *key* names the region or call path of a node, *place* its
    source location (``solve.c:12``). *clipped* counts nodes whose children cost more than the node itself: their
    exclusive cost is set to 0.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    own: Floats
    visits: Floats
    keys: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    clipped: int = 0

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def total(self) -> Floats:
        """Inclusive values: each node's own value plus everything below it.

        Shape: (nodes,). Unit: that of the values. Source: ScaleGraph.
        """
        return inclusive(self.parents, self.own)

    @cached_property
    def whole(self) -> float:
        """The sum of all own values.

        Unit: that of the values. Source: ScaleGraph.
        """
        return float(self.own.sum())

    @cached_property
    def inner(self) -> NDArray[np.bool_]:
        """Whether a node has an ancestor of the same name (recursion): inclusive sums count only the outermost.

        Shape: (nodes,). Unit: none. Source: ScaleGraph.
        """
        codes = {name: number for number, name in enumerate(dict.fromkeys(self.names))}
        name = np.array([codes[each] for each in self.names], np.int64)
        above, parents = np.array(self.parents, np.int64), np.array(self.parents, np.int64)
        found = np.zeros(len(self), bool)
        while (up := np.flatnonzero(above >= 0)).size:
            found[up] |= name[above[up]] == name[up]
            above[up] = parents[above[up]]
        return found


def inclusive(parents: Sequence[int], own: Floats) -> Floats:
    """Return the sums of *own* at and below each node; parents must come before their children.

    Shape: (nodes,). Unit: that of *own*. Source: ScaleGraph.
    """
    total = own.astype(np.float64).copy()
    for index in range(len(parents) - 1, -1, -1):
        if parents[index] >= 0:
            total[parents[index]] += total[index]
    return total


def merged(tree: CallTree) -> CallTree:
    """Return *tree* with siblings of the same name merged, largest first, and zero-cost nodes dropped.

    Key and place come from the first of the merged siblings. Nodes are in preorder.

    Shape: one node for each name below a parent. Source: ScaleGraph.
    """
    place: dict[tuple[int, str], int] = {}
    node = [0] * len(tree)
    for index, (name, parent) in enumerate(zip(tree.names, tree.parents, strict=True)):
        node[index] = place.setdefault((node[parent] if parent >= 0 else -1, name), len(place))
    own, visits = np.zeros(len(place)), np.full(len(place), np.nan)
    first: dict[int, int] = {}
    for index, one in enumerate(node):
        own[one] += tree.own[index]
        visits[one] = np.nansum([visits[one], tree.visits[index]]) if np.isfinite(tree.visits[index]) else visits[one]
        first.setdefault(one, index)
    parents = tuple(parent for parent, _ in place)
    return _ordered(
        CallTree(
            tuple(name for _, name in place),
            parents,
            own,
            visits,
            tuple(tree.keys[first[one]] for one in range(len(place))) if tree.keys else (),
            tuple(tree.places[first[one]] for one in range(len(place))) if tree.places else (),
            tree.clipped,
        ),
        inclusive(parents, own),
    )


def _ordered(tree: CallTree, weight: Floats) -> CallTree:
    """Return the nodes of *tree* with positive *weight* in preorder, heaviest sibling first."""
    return _taken(tree, [index for index in preorder(tree.parents, weight) if weight[index] > 0])


def _taken(tree: CallTree, order: Sequence[int]) -> CallTree:
    """Return the nodes of *tree* selected and renumbered by *order*, which has parents before their children."""
    at = {old: new for new, old in enumerate(order)}
    rows = np.array(order, np.int64)
    return CallTree(
        tuple(tree.names[i] for i in order),
        tuple(at.get(tree.parents[i], -1) for i in order),
        tree.own[rows],
        tree.visits[rows],
        tuple(tree.keys[i] for i in order) if tree.keys else (),
        tuple(tree.places[i] for i in order) if tree.places else (),
        tree.clipped,
    )


def preorder(parents: Sequence[int], weight: Floats) -> list[int]:
    """Return all node numbers in preorder, heaviest sibling first.

    Shape: (nodes,). Unit: none (positions). Source: ScaleGraph.
    """
    below: dict[int, list[int]] = {}
    for index in np.argsort(weight, kind="stable").tolist():  # ascending, as nodes are popped from the end
        below.setdefault(parents[index], []).append(index)
    order: list[int] = []
    pending = below.get(-1, [])
    while pending:
        index = pending.pop()
        order.append(index)
        pending.extend(below.get(index, ()))
    return order


@dataclass(frozen=True)
class Joined:
    """Two trees as one: *tree* has the second's own values, *before* the first's, node by node.

    Keys and places come from one of the two trees; they are empty for nodes found only in the other.
    """

    tree: CallTree
    before: Floats

    @cached_property
    def total_before(self) -> Floats:
        """Inclusive values of the first tree.

        Shape: (nodes,). Unit: that of the first tree. Source: ScaleGraph.
        """
        return inclusive(self.tree.parents, self.before)


def joined(first: CallTree, second: CallTree, *, keys_of_first: bool = False) -> Joined:
    """Return *first* and *second* as one tree, matching nodes by the names along their path.

    Line numbers are not part of a name, because they move when a program is edited: siblings with the same name (the
    loops of a function) are matched in order. A path missing from one tree costs 0 there. Keys and places come from the
    second tree, or from the first with *keys_of_first*.

    Shape: one node for each path of either tree. Source: ScaleGraph.
    """
    place: dict[tuple[int, str, int], int] = {}
    names: dict[int, str] = {}
    rows: list[tuple[float, float, str, str, float]] = []
    for which, tree in enumerate((second, first)):
        known = bool(which) == keys_of_first
        for index, node in enumerate(_match(tree, place, names)):
            if node == len(rows):
                rows.append((0.0, 0.0, "", "", np.nan))
            own, before, key, where, visits = rows[node]
            value = float(tree.own[index])
            own, before = (own, before + value) if which else (own + value, before)
            if known:
                key = tree.keys[index] if tree.keys else ""
                where = tree.places[index] if tree.places else ""
            rows[node] = (own, before, key, where, visits if which else float(tree.visits[index]))
    after, former = (np.array([row[i] for row in rows], np.float64) for i in (0, 1))
    parents = tuple(parent for parent, _, _ in place)
    made = CallTree(
        tuple(names[i] for i in range(len(rows))),
        parents,
        after,
        np.array([row[4] for row in rows], np.float64),
        tuple(row[2] for row in rows),
        tuple(row[3] for row in rows),
        first.clipped + second.clipped,
    )
    weight = inclusive(parents, after) + inclusive(parents, former)
    order = [index for index in preorder(parents, weight) if weight[index] > 0]
    return Joined(_taken(made, order), former[np.array(order, np.int64)])


def _match(tree: CallTree, place: dict[tuple[int, str, int], int], names: dict[int, str]) -> list[int]:
    """Return the joint node for each node of *tree*; new ones are added to *place* and *names*."""
    node: list[int] = []
    seen: dict[tuple[int, str], int] = {}
    order = sorted(range(len(tree)), key=lambda i: (_depth(tree.parents, i), _line(tree, i), i))
    number = dict.fromkeys(range(len(tree)), 0)
    for index in order:  # siblings of the same name in line order, whatever their cost
        name = plain_name(tree.names[index])
        pair = (tree.parents[index], name)
        number[index] = seen.get(pair, 0)
        seen[pair] = number[index] + 1
    for index, (name, parent) in enumerate(zip(tree.names, tree.parents, strict=True)):
        wanted = (node[parent] if parent >= 0 else -1, plain_name(name), number[index])
        at = place.setdefault(wanted, len(place))
        names.setdefault(at, name)
        node.append(at)
    return node


def _depth(parents: Sequence[int], index: int) -> int:
    depth = 0
    while (index := parents[index]) >= 0:
        depth += 1
    return depth


def _line(tree: CallTree, index: int) -> int:
    digits = tree.places[index].rpartition(":")[2] if tree.places else ""
    return int(digits) if digits.isdecimal() else 0


def plain_name(name: str) -> str:
    """Return *name* without its trailing line number: ``loop kernel`` for ``loop kernel:6``.

    Source: ScaleGraph.
    """
    return _PLACE.sub("", name) or name


def of_set(measured: MeasurementSet, metric: int, point: int) -> tuple[CallTree, str]:
    """Return the call tree of a measurement set for *metric* (its number) at a *point*, and how its values were read.

    Takes the median of repetitions. Inclusive values are converted to exclusive ones. If the file does not say which
    they are, they are taken as inclusive when every path costs at least the sum of its children; the second result
    tells what was assumed.

    Shape: one node for each call path. Unit: that of the metric. Source: ScaleGraph.
    """
    table = measured.values
    mine = table[(table["metric"].to_numpy() == metric) & (table["point"].to_numpy() == point)]
    medians = mine.groupby("call_path", observed=True)["value"].median()
    values = np.full(len(measured.call_paths), np.nan)
    values[medians.index.to_numpy(dtype=int)] = medians.to_numpy(dtype=float)
    parents = tuple(-1 if path.parent is None else path.parent for path in measured.call_paths)
    below = np.zeros(len(parents))
    for index, parent in enumerate(parents):
        if parent >= 0:
            below[parent] += np.nan_to_num(values[index])
    extent, said = measured.metrics[metric].extent, ""
    if extent == "unknown" and (below > 0).any():
        enough = np.nan_to_num(values) >= below * (1 - _NEARLY)
        extent = "inclusive" if bool(enough[np.isfinite(values)].all()) else "exclusive"
        said = f"The file does not say whether values include callees; they were read as {extent}."
    own = np.nan_to_num(values) - (np.where(np.isfinite(values), below, 0.0) if extent == "inclusive" else 0.0)
    clipped = int(np.count_nonzero(own < -_NEARLY * np.abs(np.nan_to_num(values)))) if len(own) else 0
    return (
        CallTree(
            tuple(path.name for path in measured.call_paths),
            parents,
            np.maximum(own, 0.0),
            np.full(len(parents), np.nan),
            tuple(str(i) for i in range(len(parents))),
            tuple(f"{path.file}:{path.line}" if path.file and path.line else path.file for path in measured.call_paths),
            clipped,
        ),
        said,
    )


@dataclass(frozen=True)
class Neighbour:
    """A caller or callee of a function: its *name*, inclusive (*total*) and own time of the calls, visits and *key*."""

    name: str
    total: float
    own: float
    visits: float
    key: str = ""
    place: str = ""


@dataclass(frozen=True)
class Butterfly:
    """The callers and callees of a function, in the unit of the tree.

    *total* and *own* are those of the function over all its paths, with recursion counted once in *total*. A caller's
    values are the function's total and own time when called from it; a callee's values are the total and own time of
    the callee when called from the function. Callers add up to *total*, and so do callees plus *own* (unless a callee
    calls the function back: that time is in both). *again* counts direct recursive calls.
    """

    name: str
    total: float
    own: float
    visits: float
    key: str
    callers: tuple[Neighbour, ...]
    callees: tuple[Neighbour, ...]
    again: float = 0.0


def butterfly(tree: CallTree, name: str, root: str = "") -> Butterfly:
    """Return callers and callees of the function *name*; *root* names the caller of top-level functions.

    Unit: that of *tree*. Source: gprof (Graham, Kessler and McKusick 1982).

    Raises:
        KeyError: *tree* has no such function.

    """
    mine = [index for index, each in enumerate(tree.names) if each == name]
    if not mine:
        raise KeyError(name)
    outer = {index for index in mine if not tree.inner[index]}
    near, repeated = set(outer), []  # without another call of the function in between
    for index in mine:  # parents come before their children
        if tree.parents[index] in near:
            near.add(index)
        if tree.parents[index] >= 0 and tree.names[tree.parents[index]] == name:
            repeated.append(index)
    called = [index for index in mine if index not in set(repeated)]
    direct = [index for index, up in enumerate(tree.parents) if up in near and tree.names[index] != name]
    return Butterfly(
        name,
        float(tree.total[sorted(outer)].sum()),
        float(tree.own[mine].sum()),
        _visits(tree, mine),
        tree.keys[mine[0]] if tree.keys else "",
        _grouped(tree, called, lambda index: tree.parents[index], root, outer),
        _grouped(tree, direct, lambda index: index, root, set(direct)),
        _visits(tree, repeated) if repeated else 0.0,
    )


def _visits(tree: CallTree, rows: Sequence[int]) -> float:
    known = tree.visits[list(rows)]
    return float(known.sum()) if len(known) and np.isfinite(known).all() else float("nan")


def _grouped(
    tree: CallTree, rows: Sequence[int], of: Callable[[int], int], root: str, counted: set[int]
) -> tuple[Neighbour, ...]:
    """Return the values of *rows* by name of the node *of* each, largest first; totals count only rows in *counted*."""
    groups: dict[str, list[int]] = {}
    for index in rows:
        other = of(index)
        groups.setdefault(tree.names[other] if other >= 0 else root, []).append(index)
    made = []
    for name, members in groups.items():
        other = of(members[0])
        total = float(tree.total[[index for index in members if index in counted]].sum())
        made.append(
            Neighbour(
                name,
                total,
                float(tree.own[members].sum()),
                _visits(tree, members),
                tree.keys[other] if tree.keys and other >= 0 else "",
                tree.places[other] if tree.places and other >= 0 else "",
            )
        )
    return tuple(sorted(made, key=lambda one: (-one.total, one.name)))


def by_function(tree: CallTree) -> Mapping[str, tuple[float, float]]:
    """Return inclusive and own values by name, recursion counted once, largest own value first.

    Shape: one entry for each function. Unit: that of *tree*. Source: ScaleGraph.
    """
    found: dict[str, tuple[float, float]] = {}
    for index, name in enumerate(tree.names):
        total, own = found.get(name, (0.0, 0.0))
        found[name] = (total + (0.0 if tree.inner[index] else float(tree.total[index])), own + float(tree.own[index]))
    return dict(sorted(found.items(), key=lambda item: (-item[1][1], -item[1][0], item[0])))


def point_of(measured: MeasurementSet, there: NDArray[Any], processors: int | None, counts: str) -> int | None:
    """Return the point to show at *processors* (or at the largest count): the one with the largest other parameters.

    Only points in *there* have values; *counts* is the parameter that counts processors. None if nothing was measured.

    Unit: none (position). Source: ScaleGraph.
    """
    points = measured.points.iloc[np.unique(there)]
    if points.empty:
        return None
    if counts in points.columns:
        number = np.asarray(points[counts], dtype=float)
        chosen = number == processors if processors is not None and (number == processors).any() else None
        points = points[chosen if chosen is not None else number == np.nanmax(number)]
    others = [name for name in measured.parameters if name != counts]
    ordered = points.sort_values(others, kind="stable") if others else points
    return int(ordered.index[-1])
