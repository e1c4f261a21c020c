"""The shipped requests of the isospeed paper: the sizes at which each processor keeps half of its speed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from scalegraph.base.resources import resource_dir
from scalegraph.request import Request, Session

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


def held(name: str, counts: Sequence[int], size: dict[str, int], path: Path) -> tuple[Request, Session]:
    """Return the shipped request *name* on *counts*, starting at *size*, and a session that ran it into *path*."""
    session = Session()
    request = session.load(resource_dir("requests") / f"{name}.toml")
    bounds = [
        bound.model_copy(update={"processors": tuple(counts[1:]) if bound.processors else ()})
        for bound in request.bound
    ]
    few = request.model_copy(
        update={"processors": tuple(counts), "bound": tuple(bounds), "parameters": {**request.parameters, **size}}
    )
    session.submit(few, path).close()
    return few, session


@pytest.mark.parametrize(
    ("name", "counts", "size"),
    [
        ("slalom", (1, 4, 16), {"patches": 60}),
        ("burg", (1, 4, 8), {"points": 500}),
        ("slalom-maspar", (1, 16, 64), {"patches": 80}),
        ("burg-maspar", (1, 32, 64), {"points": 200}),
    ],
)
def test_the_search_finds_sizes_that_keep_the_unit_speed(
    name: str, counts: tuple[int, ...], size: dict[str, int], tmp_path: Path
) -> None:
    path = tmp_path / f"{name}.sgstudy"
    request, session = held(name, counts, size, path)
    (wanted,) = (bound.value for bound in request.bound if bound.kind == "speed")
    made = session.matrix(path, metric="isospeed", bound="speed")
    assert made is not None
    assert made.target == wanted
    low, high = counts[1:]
    for n in (low, high):
        anchor = made.anchors[n]
        assert anchor.work is not None
        assert anchor.time_s is not None
        assert anchor.work / (n * anchor.time_s) == pytest.approx(wanted, rel=0.011)
    psi = made.value(low, high)
    assert psi is not None
    first, second = made.anchors[low], made.anchors[high]
    assert psi == pytest.approx(high * (first.work or 0) / (low * (second.work or 1)), rel=1e-9)  # eq. 1
    assert 0 < psi < 1
    assert all(run.ok for run in session.open(path).runs())


def test_the_bound_of_slalom_is_half_of_what_one_processor_tends_to(tmp_path: Path) -> None:
    session = Session()
    request = session.load(resource_dir("requests") / "slalom.toml")
    (wanted,) = (bound.value for bound in request.bound if bound.kind == "speed")
    speeds = {}
    for n in (200, 400):
        source = resource_dir("programs") / "mpi" / "slalom.c"
        study_path = tmp_path / f"{n}.sgstudy"
        with session.simulate(
            [source],
            machine="ncube2",
            processors=(1,),
            args=(str(n), "unchecked"),
            ldflags=("-lm",),
            study_path=study_path,
        ) as study:
            (run,) = study.runs()
        speeds[n] = (2 * n**3 / 3 + 41 * n**2) / (run.time_s or 0)  # W as the program's description counts it
    # the rest of O(n^2) makes 1/r nearly straight in 1/n, so 2/r(2n) - 1/r(n) is what it tends to
    assert wanted == pytest.approx(1 / (2 / speeds[400] - 1 / speeds[200]) / 2, rel=0.08)
