"""Algorithms available for collective operations, from the table in the simulator's source."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from scalegraph.base.errors import near
from scalegraph.base.patterns import pattern

VARIABLE: Final = "SCALEGRAPH_MPI_RULE"
_SOURCE = Path(__file__).parents[1] / "csrc" / "mpi" / "collectives" / "sg_mpi_rule.c"
_RULE = pattern(r"\{SG_(?P<operation>[A-Z_]+), [^{}]*?, SG_(?P<algorithm>[A-Z_]+)\}")


@cache
def algorithms() -> dict[str, tuple[str, ...]]:
    """Return the algorithms available for each collective operation, in table order."""
    found: dict[str, list[str]] = {}
    for rule in _RULE.finditer(_SOURCE.read_text(encoding="utf-8")):
        known = found.setdefault(rule["operation"].lower(), [])
        if (name := rule["algorithm"].lower().replace("_", "-")) not in known:
            known.append(name)
    return {operation: tuple(names) for operation, names in found.items()}


def faults(text: str) -> list[str]:
    """Return what is wrong with the rules *text*, such as ``allreduce=ring,bcast=binomial``; empty if valid."""
    wrong = []
    for rule in text.split(","):
        operation, given, algorithm = rule.partition("=")
        there = algorithms().get(operation, ())
        if not given:
            wrong.append(f"'{rule}': expected OPERATION=ALGORITHM, as {listed()}")
        elif not there:
            hint = near(operation, algorithms()) or f"; there are {', '.join(algorithms())}"
            wrong.append(f"'{rule}': no collective operation has this name{hint}")
        elif algorithm not in there:
            wrong.append(f"'{rule}': {operation} has no such algorithm; it has {', '.join(there)}")
    return wrong


def listed() -> str:
    """Return all operations with their algorithms in one line."""
    return "; ".join(f"{operation}={'|'.join(names)}" for operation, names in algorithms().items())
