"""What the papers found on the KSR-1 comes out of the simulated one, with the shipped requests as they are.

No constant of a program or machine was made for it; see docs/VALIDATION.md for the figures.
"""

import itertools
from pathlib import Path

import pytest

from scalegraph.analyze.matrix import Matrix
from scalegraph.base.resources import resource_dir
from scalegraph.request import Session

pytestmark = pytest.mark.compiler


def session_with(name: str, directory: Path) -> tuple[Session, Path]:
    session = Session()
    path = directory / f"{name}.sgstudy"
    session.submit(session.load(resource_dir("requests") / f"{name}.toml"), path).close()
    return session, path


def matrix(session: Session, path: Path, bound: str) -> Matrix:
    made = session.matrix(path, metric="latency", bound=bound)
    assert made is not None
    return made


@pytest.fixture(scope="module")
def billiard(tmp_path_factory: pytest.TempPathFactory) -> tuple[Session, Path]:
    return session_with("demo", tmp_path_factory.mktemp("billiard"))


def test_fixed_row_owners_scale_better_than_moving_rows(tmp_path: Path) -> None:
    """Order of Tables IX and X of the latency-metric paper, at efficiency 0.25 up to 32 processors."""
    fixed, moving = (matrix(*session_with(name, tmp_path), "efficiency") for name in ("ge2", "ge1"))
    assert fixed.processors == moving.processors == (2, 4, 8, 16, 32)
    for first, second in itertools.combinations(fixed.processors, 2):
        better, worse = fixed.value(first, second), moving.value(first, second)
        assert better is not None
        assert worse is not None
        assert better > worse, (first, second)


def test_a_billiard_of_fixed_size_has_its_least_time_at_a_finite_number_of_processors(
    billiard: tuple[Session, Path],
) -> None:
    """Fig. 9 of the Scale-Graph paper: the time falls to p_x and rises again."""
    session, path = billiard
    runs = session.study_data(path).table
    runs = runs[(runs["param.num_balls"] == 5000) & (runs["param.num_steps"] == 1000)]
    times = dict(zip(runs["processors"], runs["time_s"], strict=True))
    fastest = min(times, key=lambda count: times[count])
    assert 1 < fastest < max(times)
    assert times[max(times)] > 1.2 * times[fastest]


def test_the_time_bound_overestimates_the_billiard(billiard: tuple[Session, Path]) -> None:
    """Fig. 14 of the Scale-Graph paper: less scalable by the efficiency bound than by the time bound."""
    time, efficiency = (matrix(*billiard, bound) for bound in ("time", "efficiency"))
    compared = 0
    for first in efficiency.processors:
        for second in efficiency.processors:
            if first < second and second in time.processors:
                held, bounded = efficiency.value(first, second), time.value(first, second)
                if held is not None and bounded is not None:
                    assert held < bounded
                    compared += 1
    assert compared >= 6
