"""Names in common use, and redundant columns, in tables from real scaling studies."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.measurements import names
from scalegraph.measurements.mapping import Unanswered
from scalegraph.request.imports.sets import opened
from scalegraph.subjects.study import StudyData


def _efficiencies(path: Path) -> dict[tuple[int, float], float]:
    with opened([path]) as study:
        data = StudyData.from_runs(study.runs())
    rows = data.scaling.sort_values("processors")
    size = rows.get("param.n", rows["processors"] * 0)
    return dict(zip(zip(rows["processors"], size, strict=True), rows["efficiency"].round(3), strict=True))


@pytest.mark.slow
def test_a_processors_share_of_the_size_tells_no_problems_apart(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = [f"{p},{n},{n // p},{n / p + p}" for n in (1000, 2000) for p in (1, 2, 3, 8)]
    table.write_text("p,n,n_local,time_s\n" + "\n".join(rows) + "\n")
    found = _efficiencies(table)
    assert found[8, 1000] == round(1001 / (8 * 133), 3)
    assert all(value == value for value in found.values())


@pytest.mark.slow
def test_nodes_that_ranks_fill_tell_no_problems_apart(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = [f"{p},{max(1, p // 4)},{100 / p + 1}" for p in (1, 2, 4, 8, 16)]
    table.write_text("Num MPI ranks,Num nodes,time_s\n" + "\n".join(rows) + "\n")
    with opened([table]) as study:
        made = StudyData.from_runs(study.runs()).scaling
    assert made["efficiency"].notna().all()
    assert list(made["processors"]) == [1, 2, 4, 8, 16]
    table.write_text("nodes,threads,time_s\n1,4,9\n2,2,8\n2,4,5\n4,4,3\n")
    with pytest.raises(Unanswered, match=r"'nodes\*threads'"):
        opened([table])


def test_a_size_that_grows_with_the_processors_stays_a_size(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = [f"{p},{p * 100},100,{1 + p / 10}" for p in (1, 2, 4, 8)]
    table.write_text("p,n,n_local,time_s\n" + "\n".join(rows) + "\n")
    with opened([table]) as study:
        assert {run.point.parameters["n"] for run in study.runs()} == {100, 200, 400, 800}


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("Num MPI ranks", True),
        ("cpus_per_task", True),
        ("Number of threads", True),
        ("MPI", True),
        ("number of cells", False),
        ("time per node", False),
        ("thread_throughput", False),
    ],
)
def test_names_of_processor_counts(name: str, counts: bool) -> None:
    assert names.counts_processors(name) is counts


@pytest.mark.parametrize(
    ("title", "unit"),
    [
        ("zone-cycles/cpu_second", ""),
        ("GB/s", ""),
        ("cells_per_s", ""),
        ("throughput_mcells_s", ""),
        ("time/ms", "ms"),
        ("scatter_ms", "ms"),
        ("wall_s", "s"),
    ],
)
def test_rates_are_no_times(title: str, unit: str) -> None:
    assert names.without_unit(title)[1] == unit
