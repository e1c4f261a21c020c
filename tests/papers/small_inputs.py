"""Small inputs of the shipped programs, with which a run takes a fraction of a second."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.resources import resource_dir

CHECKED = {
    "adjoint": ("12", "verify"),
    "apsp": ("20", "parallel", "verify"),
    "billiard-linked": ("120", "400", "2", "2.5", "0.4", "0.6", "3.0"),
    "cholesky": ("12", "verify"),
    "closure": ("40", "random", "verify"),
    "em-shared": ("5", "6", "20", "21", "verify"),
    "ge-owner": ("24", "verify"),
    "ge-owner, rows move": ("24", "verify"),
    "jacobi": ("40", "6", "verify"),
    "matmul": ("16", "verify"),
    "quicksort": ("3000", "100", "verify"),
    "rarefied": ("400", "3"),
    "sor": ("24", "12", "verify"),
    "water": ("27", "2"),
}
# all shipped programs; tests of their own check the results of these three
SMALL = CHECKED | {"billiard": ("500", "20"), "ge1": ("24", "4", "1"), "ge2": ("24", "4", "1")}
FLAGS = {"ge-owner, rows move": ("-DROWS_MOVE",)}  # as in ge1-owner.toml


def source_of(name: str) -> Path:
    """Return the source of a program that is named here."""
    return resource_dir("programs") / f"{name.partition(',')[0]}.c"
