"""The simulator's C files form layers: call cycles among them are small."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.library import library

LARGEST = 6  # may only shrink; 48 before observers registered themselves, 3 before branches and shared levels

Graph = dict[str, set[str]]


def symbols(*archives: Path) -> tuple[dict[str, str], Graph]:
    """Return the object that defines each symbol (function or variable), and the symbols that each object needs."""
    table = subprocess.run(["nm", "-A", *map(str, archives)], capture_output=True, text=True, check=True).stdout
    defined: dict[str, str] = {}
    needed: Graph = defaultdict(set)
    for line in filter(lambda line: ".o:" in line, table.splitlines()):
        place, words = line.split(".o:", 1)
        item, (kind, name) = place.rpartition(":")[2], words.split()[-2:]
        if kind == "U":
            needed[item].add(name)
        elif kind.isupper():
            defined[name] = item
    return defined, needed


def calls(*archives: Path) -> Graph:
    """Return for each object of *archives* the others whose functions and variables it uses."""
    defined, needed = symbols(*archives)
    return {
        item: {defined[name] for name in names if name in defined} - {item} for item, names in sorted(needed.items())
    }


def reached(graph: Graph, start: str) -> set[str]:
    """Return everything reachable from *start* in one step or more."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        fresh = graph.get(ahead.pop(), set()) - found
        found |= fresh
        ahead += fresh
    return found


def circles(graph: Graph) -> list[set[str]]:
    """Return the sets of mutually reachable objects, the largest first."""
    from_each = {item: reached(graph, item) for item in graph}
    found = {
        frozenset(other for other in from_each[item] if item in from_each.get(other, set()))
        for item in graph
        if item in from_each[item]
    }
    return sorted((set(circle) for circle in found), key=len, reverse=True)


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": {"e"}, "e": {"f"}, "f": {"d"}, "g": {"a"}}
    assert circles(graph) == [{"d", "e", "f"}, {"b", "c"}]


@pytest.mark.slow
@pytest.mark.compiler
def test_circles_of_the_simulators_files_are_small() -> None:
    made = library(find_compiler())
    graph = calls(made.archive, made.mpi())
    assert len(graph) > 80
    assert "sg_sched" in reached(graph, "sg_start")
    assert [sorted(circle) for circle in circles(graph) if len(circle) > LARGEST] == []


@pytest.mark.slow
@pytest.mark.compiler
def test_what_all_programs_need_calls_nothing_of_mpi() -> None:
    made = library(find_compiler())
    of_mpi = symbols(made.mpi())[0]
    assert len(of_mpi) > 800
    needed = symbols(made.archive)[1]
    assert {item: names & of_mpi.keys() for item, names in needed.items() if names & of_mpi.keys()} == {}
