"""The simulated KSR-1 reproduces the papers' findings, with the shipped requests unchanged.

No constant of a program or machine was fitted to them, except the cost of creating a thread, which comes from the size
of APSP1 on two processors; see docs/VALIDATION_TABLES.md for the figures.
"""

import itertools
from pathlib import Path

import pytest

from scalegraph.analyze.matrix import Matrix
from scalegraph.base.resources import resource_dir
from scalegraph.request import Session
from scalegraph.request.model import shipped
from scalegraph.runtime.compiler import find_compiler
from scalegraph.store import Study

pytestmark = [pytest.mark.slow(6), pytest.mark.compiler]


def session_with(name: str, directory: Path, processors: tuple[int, ...] = ()) -> tuple[Session, Path]:
    """Return a session and the study of a shipped request, on *processors* if given."""
    session = Session()
    path = directory / f"{name}.sgstudy"
    request = session.load(resource_dir("requests") / f"{name}.toml")
    if processors:
        request = request.model_copy(update={"processors": processors})
    session.submit(request, path).close()
    return session, path


def matrix(session: Session, path: Path, bound: str) -> Matrix:
    made = session.matrix(path, metric="latency", bound=bound)
    assert made is not None
    return made


@pytest.fixture(scope="module")
def billiard(tmp_path_factory: pytest.TempPathFactory) -> tuple[Session, Path]:
    """Return the shipped study of the demonstration, which tests/request/test_shipped.py compares with new runs."""
    place = tmp_path_factory.mktemp("billiard")
    path = shipped.opened_copy(place)
    assert path is not None
    with Study.open(path) as study:
        if study.facts(shipped.FACT)["compiler"] == find_compiler("c").identity:
            return Session(), path
    return session_with("demo", place)


def test_fixed_row_owners_scale_better_than_moving_rows(tmp_path: Path) -> None:
    """Order of Tables IX and X of the latency-metric paper, at efficiency 0.25 up to 32 processors."""
    fixed, moving = (matrix(*session_with(name, tmp_path), "efficiency") for name in ("ge2-owner", "ge1-owner"))
    assert fixed.processors == moving.processors == (2, 4, 8, 16, 32)
    assert_better_in_every_cell(fixed, moving)


def assert_better_in_every_cell(better: Matrix, worse: Matrix) -> None:
    assert better.processors == worse.processors
    for first, second in itertools.combinations(better.processors, 2):
        high, low = better.value(first, second), worse.value(first, second)
        assert high is not None
        assert low is not None
        assert high > low, (first, second)


def test_moving_rows_gain_nothing_from_a_second_ring() -> None:
    """The paper could not scale GE1 beyond 32 processors."""
    source = resource_dir("programs") / "ge-owner.c"
    with Session().simulate(
        [source], machine="ksr1", processors=(32, 48), args=("200",), cflags=("-DROWS_MOVE",), ldflags=("-lm",)
    ) as study:
        times = {run.point.processors: run.time_s for run in study.runs()}
    assert times[1] is not None
    assert times[32] is not None
    assert times[48] is not None
    assert times[48] > 1.2 * times[32]
    assert times[1] / times[48] < 0.25 * 48 / 1.5


def test_parallel_initialisation_scales_better_and_both_better_than_quick_sort(tmp_path: Path) -> None:
    """APSP1 > APSP2 > QS1 and QS2 in the order of section 6.5 of the latency-metric paper."""
    names = ("apsp1", "apsp2", "qs1", "qs2")
    parallel, serial, *sorts = (matrix(*session_with(name, tmp_path, (1, 2, 8, 16)), "efficiency") for name in names)
    assert parallel.processors == (2, 8, 16)
    assert_better_in_every_cell(parallel, serial)
    for sort in sorts:
        assert_better_in_every_cell(serial, sort)


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


def test_simple_barriers_stop_the_rarefied_flow_at_a_finite_number_of_processors(tmp_path: Path) -> None:
    """Tables II, III and V of the latency-metric paper: hardware barriers bring the least time to a larger N."""
    tables = {}
    for name in ("rarefied", "rarefied-hardware"):
        session, path = session_with(name, tmp_path, (8, 16, 32, 64))
        tables[name] = session.study_data(path).table.set_index("processors")
    times = {name: table["time_s"].to_dict() for name, table in tables.items()}
    simple, hardware = times["rarefied"], times["rarefied-hardware"]
    assert min(simple, key=lambda count: simple[count]) == 16
    assert simple[64] > 2 * simple[16]
    assert min(hardware, key=lambda count: hardware[count]) == 64

    remote = tables["rarefied"]["misses"]
    by_barriers = tables["rarefied"]["cause.barrier.misses"]
    assert remote[64] > 2 * remote[8]
    assert by_barriers[64] - by_barriers[8] > 0.8 * (remote[64] - remote[8])
    without = tables["rarefied-hardware"]["misses"]
    assert without[64] < 1.3 * without[8]
