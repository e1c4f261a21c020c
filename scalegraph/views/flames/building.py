"""Frames of a flame graph from a call tree or from two merged ones, and the options shared by flame graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from scalegraph.analyze.calltree import CallTree, Floats, Joined
from scalegraph.base.units import si, significant, thousands
from scalegraph.figures.figure import Axis, Key
from scalegraph.figures.flames import Flame, Frame
from scalegraph.figures.palette import name_slots
from scalegraph.subjects.option import Option

MOST: Final = 50_000  # frames; beyond that the cheapest are omitted
ICICLE: Final = Option("icicle", "Icicle", "bool", False, description="callers on top, callees below")
CHANGE: Final = Option(
    "change",
    "Change",
    "choice",
    "absolute",
    ("absolute", "relative"),
    description="colour by the difference of values, or by that of shares of the whole",
)
WIDTHS: Final = Option(
    "frames",
    "Frame width",
    "choice",
    "second",
    ("second", "first", "both"),
    description="whose value sets a frame's width: the second's, the first's, or the mean of both",
)


@dataclass(frozen=True)
class Grown:
    """A call tree to draw: *value* is the axis of its values; shares are of *whole*, which is called *base*.

    *words* names the run. In a *lexical* tree a region's parent is the region around it in the source, but for the keys
    *called*: functions whose parent calls them.
    *roles* are colours by name; other names get their usual colour. *node_roles* override both, by node.
    """

    tree: CallTree
    value: Axis
    whole: float
    base: str
    words: str
    lexical: bool = False
    called: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    node_roles: tuple[str, ...] = ()
    legend: tuple[Key, ...] = ()
    percent: str = "%"  # unit of columns of shares; names the base


def number(value: float, unit: str) -> str:
    """Return a value with unit for display: ``1.234 ms``, ``12.3 k``."""
    return si(value, unit, 4) if unit in ("s", "B", "") else f"{significant(value, 4)} {unit}"


def share(value: float, whole: float) -> str:
    """Return *value* as a share of *whole*: ``12.3 %``."""
    return f"{significant(100 * value / whole, 3)}\u00a0%" if whole > 0 else "not known"


def flame(grown: Grown, *, icicle: bool) -> tuple[Flame, tuple[str, ...]]:
    """Return the flame graph of a tree, and notes on omissions."""
    tree = grown.tree
    roles = grown.node_roles or colours(tree.names, tree.own, grown.roles)
    left_out = max(0, len(tree) - MOST)
    start, depth = layout(tree.parents, tree.total)

    def frame(index: int) -> Frame:
        return Frame(
            tree.names[index],
            tree.parents[index],
            int(depth[index]),
            float(start[index]),
            float(tree.total[index]),
            float(tree.total[index]),
            float(tree.own[index]),
            roles[index],
            tip(grown, index),
            tree.keys[index] if tree.keys else "",
        )

    frames = _kept(tree.parents, tree.total, frame)
    return Flame(frames, grown.value, grown.whole, grown.base, icicle=icicle, legend=grown.legend), _left_out(left_out)


def _left_out(count: int) -> tuple[str, ...]:
    return (f"The {thousands(count)} call paths with the smallest values are left out.",) if count else ()


def _kept(parents: Sequence[int], width: Floats, frame: Callable[[int], Frame]) -> tuple[Frame, ...]:
    """Return the frames of the widest nodes, at most `MOST`; a parent is as wide as its children, so it stays."""
    order = np.argsort(-width, kind="stable")[:MOST]  # stable, and parents precede children, so a parent wins a tie
    kept = np.sort(order).tolist()
    at = {old: new for new, old in enumerate(kept)}
    made = []
    for index in kept:
        one = frame(index)
        made.append(one if len(kept) == len(parents) else replace(one, parent=at.get(one.parent, -1)))
    return tuple(made)


def layout(parents: Sequence[int], width: Floats) -> tuple[Floats, Floats]:
    """Return each node's start on the value axis and its depth; siblings are adjacent, in order."""
    start, depth = np.zeros(len(parents)), np.zeros(len(parents))
    free: dict[int, float] = {-1: 0.0}
    for index, parent in enumerate(parents):
        start[index] = free[parent]
        free[parent] += float(width[index])
        free[index] = float(start[index])
        depth[index] = depth[parent] + 1 if parent >= 0 else 0
    return start, depth


def colours(names: Sequence[str], own: Floats, roles: Mapping[str, str]) -> tuple[str, ...]:
    """Return a role per name: from *roles*, otherwise the name's usual colour, most expensive first."""
    cost: dict[str, float] = {}
    for name, value in zip(names, own, strict=True):
        if name not in roles:
            cost[name] = cost.get(name, 0.0) + float(value)
    slots = name_slots(sorted(cost, key=lambda name: (-cost[name], name)))
    return tuple(roles[name] if name in roles else f"name:{slots[name]}" for name in names)


def tip(grown: Grown, index: int) -> str:
    """Return a frame's tooltip: value, share, exclusive part, visits, source location."""
    tree, unit = grown.tree, grown.value.unit
    total, own = float(tree.total[index]), float(tree.own[index])
    lines = [
        f"{number(total, unit)}, {share(total, grown.whole)} of {grown.base}",
        f"itself {number(own, unit)}, {share(own, grown.whole)}",
    ]
    if np.isfinite(tree.visits[index]):
        lines.append(f"{thousands(int(tree.visits[index]))} visits")
    if tree.places and tree.places[index]:
        lines.append(tree.places[index])
    return "\n".join(lines)


def difference(
    joined: Joined, first: Grown, second: Grown, names: tuple[str, str], *, relative: bool, width: str, icicle: bool
) -> tuple[Flame, tuple[str, ...]]:
    """Return the flame graph of the changes from *first* to *second*, called *names*, and notes."""
    tree, unit = joined.tree, second.value.unit
    after, before = tree.total, joined.total_before
    whole_after, whole_before = second.whole, first.whole
    wide = {"second": after, "first": before, "both": (after + before) / 2}[width]
    start, depth = layout(tree.parents, wide)
    change = changes(joined, (whole_before, whole_after) if relative else None)
    own_change = change - _below(tree.parents, change)
    limit = float(np.abs(change).max(initial=0.0)) or 1.0
    measured = Axis("change of the share", "%", limits=(-limit, limit))
    if not relative:
        measured = Axis(f"change of {second.value.label}", unit, limits=(-limit, limit))

    def frame(index: int) -> Frame:
        a, b = float(before[index]), float(after[index])
        words = (
            f"{names[0]}: {number(a, unit)}, {share(a, whole_before)}\n"
            f"{names[1]}: {number(b, unit)}, {share(b, whole_after)}\n"
            f"change {signed(b - a, unit)}, of the share {points(b, whole_after, a, whole_before)}\n"
            f"itself {signed(float(own_change[index]), '%' if relative else unit)}"
        )
        return Frame(
            tree.names[index],
            tree.parents[index],
            int(depth[index]),
            float(start[index]),
            float(wide[index]),
            b,
            float(tree.own[index]),
            "muted",
            words,
            tree.keys[index] if tree.keys else "",
            a,
            float(joined.before[index]),
            float(change[index]),
        )

    frames = _kept(tree.parents, wide, frame)
    gone = int(np.count_nonzero(wide <= 0))
    notes = list(_left_out(max(0, len(tree) - MOST)))
    if gone:
        other = names[0] if width == "second" else names[1]
        notes.append(
            f"{thousands(gone)} call paths only in {other} have no width; choose another frame width to see them."
        )
    return Flame(frames, second.value, second.whole, second.base, measured, icicle), tuple(notes)


def changes(joined: Joined, wholes: tuple[float, float] | None = None) -> Floats:
    """Return the change of each node's inclusive value, second minus first; with *wholes* of its share, in points."""
    after, before = joined.tree.total, joined.total_before
    if wholes is None:
        return after - before
    one, two = (100 / whole if whole > 0 else 0.0 for whole in wholes)
    return two * after - one * before


def _below(parents: Sequence[int], values: Floats) -> Floats:
    """Return each node's sum of *values* over its children."""
    sums = np.zeros(len(parents))
    for index, parent in enumerate(parents):
        if parent >= 0:
            sums[parent] += values[index]
    return sums


def signed(value: float, unit: str) -> str:
    """Return a change with sign and unit: ``+1.2 ms``, ``−3.4 %``."""
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return f"{sign}{significant(abs(value), 3)}\u00a0%" if unit == "%" else sign + number(abs(value), unit)


def points(after: float, whole_after: float, before: float, whole_before: float) -> str:
    """Return the change of a share in points: ``+3.4 points``."""
    two = 100 * after / whole_after if whole_after > 0 else 0.0
    one = 100 * before / whole_before if whole_before > 0 else 0.0
    return signed(two - one, "%").replace("\u00a0%", " points")
