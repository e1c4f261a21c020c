"""Positions of an interconnect's nodes and switches, and the two ends of each link."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TypeAlias

from scalegraph.base.links import LinkLoads

Point: TypeAlias = tuple[float, float]
_NUMBERS = re.compile(r"\d+")
_BOW = 0.13  # of the other side: bend of a grid's rows


def node_name(number: int) -> str:
    """Return the name of a node, as used for positions."""
    return f"node {number}"


def places(loads: LinkLoads) -> dict[str, Point]:
    """Return the positions of all nodes of the run, and of the switches in a topology of this kind."""
    return _PLACES.get(loads.kind, _circle)(loads.nodes, loads.shape)


def ends(loads: LinkLoads, link: str) -> tuple[str, str]:
    """Return the two ends of *link*, by its name; empty names if it has none."""
    numbers = [int(number) for number in _NUMBERS.findall(link)]
    shape = loads.shape
    if loads.kind == "fat_tree" and len(numbers) == 3:
        level, group, _ = numbers
        return _tree(level, group), _tree(level + 1, group // shape["arity"])
    if loads.kind == "dragonfly":
        if link.startswith("group"):
            return f"group {numbers[0]}", f"group {numbers[1]}"
        if link.startswith("router"):
            return f"router {numbers[0]}.{numbers[1]}", f"router {numbers[0]}.{numbers[2]}"
        router = numbers[0] // shape["router_nodes"]
        return node_name(numbers[0]), f"router {router // shape['group_routers']}.{router % shape['group_routers']}"
    if loads.kind == "star":
        if " switch " in link:
            return f"switch {numbers[0]}", "centre"
        return node_name(numbers[0]), f"switch {numbers[0] // shape['switch_nodes']}"
    if loads.kind == "crossbar" and numbers:
        return node_name(numbers[0]), "centre"
    if link.startswith("link") and len(numbers) == 2:
        return node_name(numbers[0]), node_name(numbers[1])
    return ("cable begin", "cable end") if loads.kind == "ethernet" else ("", "")


def _tree(level: int, group: int) -> str:
    return node_name(group) if level == 0 else f"switch {level}.{group}"


def _gray(code: int) -> int:
    """Return the position of *code* in the Gray sequence, in which neighbours differ in one bit."""
    place = 0
    while code:
        place ^= code
        code >>= 1
    return place


def _hypercube(nodes: int, shape: Mapping[str, int]) -> dict[str, Point]:
    low = (min(shape.get("dimension", 0), max(1, nodes - 1).bit_length()) + 1) // 2
    places = [(float(_gray(n & ((1 << low) - 1))), float(_gray(n >> low))) for n in range(nodes)]
    return {node_name(n): place for n, place in enumerate(_bowed(places))}


def _bowed(places: list[Point]) -> list[Point]:
    """Return the *places* of a grid with bent rows and columns, so that no link covers another."""
    width, height = max((x for x, _ in places), default=0.0), max((y for _, y in places), default=0.0)
    bow_x, bow_y = _BOW * width / max(height / 2, 1.0) ** 2, _BOW * height / max(width / 2, 1.0) ** 2
    return [(x + bow_x * (y - height / 2) ** 2, y + bow_y * (x - width / 2) ** 2) for x, y in places]


def _grid(nodes: int, shape: Mapping[str, int]) -> dict[str, Point]:
    columns, rows = shape.get("columns", 1), shape.get("rows", 1)
    places = []
    for n in range(nodes):
        x, y, z = n % columns, n // columns % rows, n // columns // rows
        places.append((float(x + z * (columns + 1)), float(rows - 1 - y)))
    return {node_name(n): place for n, place in enumerate(_bowed(places))}


def _fat_tree(nodes: int, shape: Mapping[str, int]) -> dict[str, Point]:
    arity, levels = shape["arity"], shape["levels"]
    found = {}
    for level in range(levels + 1):
        size = arity**level
        for group in range(-(-nodes // size)):
            middle = min((group + 1) * size, nodes) + group * size - 1
            found[_tree(level, group)] = (middle / 2, float(level) * max(1.0, nodes / (2.0 * levels)))
        if size >= nodes:
            break
    return found


def _dragonfly(nodes: int, shape: Mapping[str, int]) -> dict[str, Point]:
    each, routers = shape["router_nodes"], shape["group_routers"]
    groups = -(-nodes // (each * routers))
    found = {}
    for group in range(groups):
        angle = 2 * math.pi * group / max(groups, 1)
        x, y = 10 * math.cos(angle), 10 * math.sin(angle)
        found[f"group {group}"] = (x, y)
        spread = min(2.5, 20 / max(groups, 1))
        for router in range(routers):
            turn = angle + 2 * math.pi * router / routers
            here = (x + spread * math.cos(turn), y + spread * math.sin(turn))
            found[f"router {group}.{router}"] = here
            for i in range(each):
                number = (group * routers + router) * each + i
                way = turn + 0.5 * (i - (each - 1) / 2) / max(each, 1)
                if number < nodes:
                    found[node_name(number)] = (
                        here[0] + spread * 0.6 * math.cos(way),
                        here[1] + spread * 0.6 * math.sin(way),
                    )
    return found


def _star(nodes: int, shape: Mapping[str, int]) -> dict[str, Point]:
    each = shape.get("switch_nodes", nodes) or nodes
    found = _circle(nodes, shape)
    switches = -(-nodes // each)
    for switch in range(switches):
        middle = (switch * each + min((switch + 1) * each, nodes) - 1) / 2
        angle = 2 * math.pi * middle / nodes
        found[f"switch {switch}"] = (5.5 * math.cos(angle), 5.5 * math.sin(angle)) if switches > 1 else (0.0, 0.0)
    if switches > 1:
        found["centre"] = (0.0, 0.0)
    return found


def _crossbar(nodes: int, shape: Mapping[str, int]) -> dict[str, Point]:
    return _circle(nodes, shape) | {"centre": (0.0, 0.0)}


def _ethernet(nodes: int, _shape: Mapping[str, int]) -> dict[str, Point]:
    found = {node_name(n): (float(n), 1.0 if n % 2 else -1.0) for n in range(nodes)}
    return found | {"cable begin": (-0.5, 0.0), "cable end": (nodes - 0.5, 0.0)}


def _circle(nodes: int, _shape: Mapping[str, int]) -> dict[str, Point]:
    turn = 2 * math.pi / max(nodes, 1)
    return {node_name(n): (10 * math.cos(n * turn), 10 * math.sin(n * turn)) for n in range(nodes)}


_PLACES = {
    "hypercube": _hypercube,
    "mesh": _grid,
    "torus": _grid,
    "fat_tree": _fat_tree,
    "dragonfly": _dragonfly,
    "star": _star,
    "crossbar": _crossbar,
    "ethernet": _ethernet,
}
