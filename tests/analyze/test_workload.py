"""W as flops or a formula, and predictions from a graph file, computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.analyze import metrics
from scalegraph.base.errors import InputError
from scalegraph.base.speeds import speeds
from scalegraph.request.imports import sets
from scalegraph.request.model import programs
from scalegraph.request.run.predicting_graphs import predict_graph
from tests.analyze.test_scaled import runs

GRAPH = """
parameters = ["n"]
[[class]]
name = "worker"
count = "N"
steps = [{ loop = "k", iterations = "n", steps = [{ segment = "row", time = "1e-6 * n / N" }, { barrier = "b", cost = "2e-6" }] }]
"""  # noqa: E501


def test_work_by_a_formula_is_that_of_the_parameters() -> None:
    table = runs()
    made = metrics.scaling(table.drop(columns=["work", "work_unit"]), "2 * w ** 2 / 3")
    assert list(made["work"]) == pytest.approx([2 * w**2 / 3 for w in made["param.w"]])
    assert list(made["unit_speed"]) == pytest.approx(list(made["work"] / made["processors"] / made["time_s"]))


def test_a_formula_of_what_is_no_parameter_is_refused() -> None:
    with pytest.raises(InputError, match="'n', which is not known here"):
        metrics.scaling(runs(), "n ** 3")


def test_burg_and_slalom_count_what_their_paper_counts() -> None:
    for name in ("burg", "slalom"):
        program = programs.load(name).program
        assert program.counted == program.work != ""
    assert programs.load("em").program.counted == ""


def test_memories_of_the_papers_machines() -> None:
    assert machine.load("ncube2").capacity_bytes == 2**20
    assert machine.load("maspar-mp1").capacity_bytes == 16 * 2**10
    assert machine.load("cm5").capacity_bytes == 32 * 2**20
    assert machine.load("ksr1").capacity_bytes is None


def test_a_graph_file_is_predicted_by_its_formulas(tmp_path: Path) -> None:
    (tmp_path / "g.toml").write_text(GRAPH)
    found = predict_graph(tmp_path / "g.toml", [{"n": 100}], (1, 4))
    assert [point.predicted.time_s for point in found.points if point.predicted] == pytest.approx([10.2e-3, 2.7e-3])
    assert found.points[1].efficiency == pytest.approx(10.2 / (4 * 2.7))
    with pytest.raises(InputError, match="no parameter 'm'"):
        predict_graph(tmp_path / "g.toml", [{"m": 1}], (1,))


@pytest.mark.parametrize("text", ["2*1+2*2.5", "1 1 2.5 2.5", "1, 1, 2.5, 2.5", "2 x 1; 2 x 2.5", "[1, 1, 2.5, 2.5]"])
def test_speeds_are_read_as_people_write_them(text: str) -> None:
    assert speeds(text) == [1, 1, 2.5, 2.5]
    assert machine.load("now-switched", {"nodes.speeds": text}).nodes.speeds == (1, 1, 2.5, 2.5)


@pytest.mark.parametrize("number", ["1e308", "1e-400", "1e-320", "1e400"])
def test_a_number_that_no_product_holds_is_no_time_and_no_size(number: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"p,time [s]\n1,{number}\n2,5.1\n4,2.6\n")
    found = sets.read_set([path])
    assert [(one.count, one.reason) for one in found.skipped] == [
        (1, "out of range; 0 or a number from 1e-150 to 1e150 was expected")
    ]
    path.write_text(f"p,n,time [s]\n1,{number},9\n2,{number},5.1\n4,{number},2.6\n")
    with pytest.raises(InputError, match="from 1e-150 to 1e150"):
        sets.opened([path])
