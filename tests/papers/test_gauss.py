"""Gauss elimination as the papers describe it: correct on random matrices, and moving rows scale worse."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from scalegraph.base.resources import resource_dir
from scalegraph.base.run import RunRecord
from scalegraph.request import Session

pytestmark = pytest.mark.compiler

COUNTS = (1, 2, 3, 4, 8, 16, 31, 32, 64)
TYPES: dict[int, type[np.floating]] = {4: np.float32, 8: np.float64}
Array = NDArray[np.float64]


def matrix_of(n: int, seed: int) -> Array:
    """Return the matrix of gauss.h before rounding, computed independently from the comment there."""
    mask = 0xFFFFFFFF
    row, column = np.meshgrid(np.arange(n, dtype=np.uint64), np.arange(n, dtype=np.uint64), indexing="ij")
    random = ((row * np.uint64(65537) + column + np.uint64(1)) * np.uint64(2654435761)) & np.uint64(mask)
    random ^= np.uint64(seed * 2246822519 & mask)
    for shift, factor in ((15, 2246822519), (13, 3266489917)):
        random ^= random >> np.uint64(shift)
        random = (random * np.uint64(factor)) & np.uint64(mask)
    random ^= random >> np.uint64(16)
    return np.asarray(random / 4294967296.0 - 0.5, np.float64)


@functools.cache
def runs_of(name: str, n: int, size: int, seed: int) -> tuple[RunRecord, ...]:
    source: Path = resource_dir("programs") / f"{name}.c"
    arguments = (str(n), str(size), str(seed), "verify")
    with Session(workers=1).simulate(
        [source], machine="ksr1", processors=COUNTS, args=arguments, ldflags=("-lm",)
    ) as study:
        return tuple(study.runs(output=True))


def printed(run: RunRecord) -> tuple[float, Array]:
    """Return the logarithm of the determinant and the solution that a run printed."""
    assert (run.status, run.exit_code, run.stderr) == ("ok", 0, "")
    head, *numbers = run.stdout.splitlines()
    return float(head.rpartition(" ")[2]), np.array([float(number) for number in numbers])


@pytest.mark.few(4)
@pytest.mark.slow
@pytest.mark.parametrize("size", TYPES)
@pytest.mark.parametrize("name", ["ge1", "ge2"])
@pytest.mark.parametrize(("n", "seed"), [(1, 3), (37, 403), (64, 1182)])
def test_solution_is_that_of_a_reference_for_random_matrices(name: str, n: int, size: int, seed: int) -> None:
    exact = matrix_of(n, seed)
    right = functools.reduce(
        lambda total, j: (total + exact.astype(TYPES[size])[:, j]).astype(TYPES[size]),
        range(n),
        np.zeros(n, TYPES[size]),
    )
    matrix = exact.astype(TYPES[size]).astype(np.float64)
    reference = np.linalg.solve(matrix, right.astype(np.float64))
    tolerance = 8 * n * np.finfo(TYPES[size]).eps * np.linalg.cond(matrix)
    records = runs_of(name, n, size, seed)
    assert tuple(run.point.processors for run in records) == COUNTS
    for run in records:
        determinant, solution = printed(run)
        assert np.linalg.norm(solution - reference) <= tolerance * np.linalg.norm(reference), run.point.processors
        assert determinant == pytest.approx(np.linalg.slogdet(matrix)[1], rel=0, abs=max(tolerance, 1e-9))
    assert len({run.stdout for run in records}) == 1, "the order of operations does not depend on the processors"


@pytest.mark.parametrize(("n", "seed"), [(37, 403), (64, 1182)])
def test_the_matrices_of_the_reference_need_pivoting(n: int, seed: int) -> None:
    """Without exchanges single precision misses the solution by more than the test above allows."""
    matrix = matrix_of(n, seed).astype(np.float32)
    system = np.hstack([matrix, matrix.sum(1, keepdims=True)])
    for k in range(n):
        system[k + 1 :] -= np.outer(system[k + 1 :, k] / system[k, k], system[k])
    solution = np.linalg.solve(np.triu(system[:, :n]).astype(np.float64), system[:, n].astype(np.float64))
    tolerance = 8 * n * np.finfo(np.float32).eps * np.linalg.cond(matrix.astype(np.float64))
    assert np.linalg.norm(solution - 1) > 2 * tolerance * n**0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ge1", "ge2"])
def test_a_wrong_precision_is_refused(name: str) -> None:
    source = resource_dir("programs") / f"{name}.c"
    with Session(workers=1).simulate([source], machine="ksr1", args=("8", "5"), ldflags=("-lm",)) as study:
        (run,) = study.runs(output=True)
    assert run.exit_code == 2
    assert run.stderr.startswith("usage: ")


def size_at(name: str, processors: int, efficiency: float) -> float:
    """Return the order of the system with that efficiency, found by bisection."""
    source = resource_dir("programs") / f"{name}.c"
    session = Session(workers=1)

    def reached(n: int) -> bool:
        with session.simulate(
            [source], machine="ksr1", processors=(1, processors), args=(str(n),), ldflags=("-lm",)
        ) as study:
            one, many = (run.time_s or 0.0 for run in study.runs())
        return one / (processors * many) >= efficiency

    return halved(reached, 4, 400)


def halved(reached: Callable[[int], bool], low: int, high: int) -> float:
    assert not reached(low)
    assert reached(high)
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return (low + high) / 2


@pytest.mark.slow
def test_sizes_on_two_processors_are_the_published_ones_and_rows_that_move_need_larger_systems() -> None:
    """Latency-metric paper, 6.4: E = 0.25 with orders 55 (GE2) and 59 (GE1) on two processors."""
    fixed, moving = ({count: size_at(name, count, 0.25) for count in (2, 4)} for name in ("ge2", "ge1"))
    assert 55 / 1.5 < fixed[2] < 55 * 1.5
    assert 59 / 1.5 < moving[2] < 59 * 1.5
    assert all(moving[count] > fixed[count] for count in fixed)
    assert moving[4] / moving[2] > fixed[4] / fixed[2], "GE2 is more scalable from 2 to 4"
