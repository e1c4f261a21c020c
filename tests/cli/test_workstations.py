"""Networks of workstations computed by hand: T = W/(sum of speeds) + C (n - 1), so the latency is C (n - 1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scalegraph import views
from scalegraph.analyze.stations import workstations
from scalegraph.cli.study_input import open_input
from scalegraph.figures.figure import Field, Table
from scalegraph.request.results.data import study_data

C = 2.0
CONFIGURATIONS = ("1*1", "1*2", "2*1", "2*2", "4*1", "4*2", "2*1+2*2")
WORKS = tuple(2**k for k in range(2, 9))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    lines = ["processors,speeds,n,time_s,work_ops"]
    for text in CONFIGURATIONS:
        terms = [term.split("*") for term in text.split("+")]
        count, total = sum(int(n) for n, _ in terms), sum(int(n) * int(s) for n, s in terms)
        lines += [f"{count},{text},{work},{work / total + C * (count - 1)!r},{work}" for work in WORKS]
    path = tmp_path / "network.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def rows(call: Any, source: Path, what: str) -> list[dict[str, Any]]:
    code, out, err = call("analyze", source, "--what", what, "--json")
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["rows"]
    return found


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("4*1+2*2.5", 6, [1, 1, 1, 1, 2.5, 2.5]),
        ("1 1 2", 3, [1, 1, 2]),
        ("2x1e+6; 1x2e+6", 3, [1e6, 1e6, 2e6]),
        (3.0, 2, [3, 3]),
    ],
)
def test_speeds_are_written_as_terms(text: object, count: int, expected: list[float]) -> None:
    assert workstations.speeds_of(text, count).tolist() == expected


@pytest.mark.parametrize(
    ("text", "words"), [("fast", "were expected"), ("2*1", "of 2 stations; 3 were"), ("0", "such")]
)
def test_what_are_no_speeds_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        workstations.speeds_of(text, 3)


def test_weights_heterogeneity_and_weighted_work() -> None:
    assert workstations.weights([1, 1, 2, 4]).tolist() == [0.25, 0.25, 0.5, 1]
    assert workstations.heterogeneity([1, 1, 2, 4]) == 0.5
    assert workstations.heterogeneity([3, 3]) == 0
    assert workstations.weighted_work(120, [1, 1, 2]).tolist() == [30, 30, 60]


@pytest.mark.slow
def test_weighted_speedup_efficiency_and_latency(call: Any, source: Path) -> None:
    found = {(row["configuration"], row["work"]): row for row in rows(call, source, "workstations")}
    mixed = found[("2 x 1 + 2 x 2", 64)]
    # T = 64/6 + 6; T_fastest = 64/2; sum W_i = 1/2 + 1/2 + 1 + 1
    time = 64 / 6 + 6
    assert mixed["power"] == 3
    assert mixed["power_n"] == 6
    assert mixed["heterogeneity"] == 0.25
    assert mixed["speedup"] == pytest.approx(32 / time)
    assert mixed["efficiency"] == pytest.approx(32 / time / 3)
    assert mixed["latency_s"] == pytest.approx(6)
    for row in found.values():
        assert row["latency_s"] == pytest.approx(C * (row["processors"] - 1), abs=1e-9)
        assert row["speedup"] <= row["power"] + 1e-9
        # L = T (1 - E), as with equal processors
        assert row["latency_s"] == pytest.approx(row["time_s"] * (1 - row["efficiency"]), abs=1e-9)


@pytest.mark.slow
def test_physical_scaling_raises_the_latency_and_power_scaling_lowers_the_efficiency(call: Any, source: Path) -> None:
    found = {(row["configuration"], row["work"]): row for row in rows(call, source, "workstations")}
    assert found[("2 x 1", 64)]["latency_s"] < found[("4 x 1", 64)]["latency_s"]
    assert found[("4 x 1", 64)]["latency_s"] == pytest.approx(found[("4 x 2", 64)]["latency_s"])
    assert found[("4 x 1", 64)]["efficiency"] == pytest.approx(16 / 22)
    assert found[("4 x 2", 64)]["efficiency"] == pytest.approx(8 / 14)


@pytest.mark.slow
def test_the_matrix_between_configurations_is_the_ratio_of_latencies(call: Any, source: Path) -> None:
    made = {row["from"]: row for row in rows(call, source, "workstations-matrix")}
    assert list(made) == ["2 x 1", "2 x 2", "4 x 1", "2 x 1 + 2 x 2", "4 x 2"]  # sorted by power-equivalent N
    assert {row["efficiency_held"] for row in made.values()} == {0.5}
    # L = C (n - 1) at any work: 1/3 from two stations to four, 1 where only the power grows
    assert made["2 x 1"]["4 x 1"] == pytest.approx(1 / 3)
    assert made["2 x 1"]["2 x 2"] == pytest.approx(1)
    assert made["4 x 1"]["2 x 1 + 2 x 2"] == pytest.approx(1)
    assert made["2 x 2"]["4 x 2"] == pytest.approx(1 / 3)


def test_without_a_run_on_the_fastest_station_another_ones_time_counts_by_speed() -> None:
    import pandas as pd

    from scalegraph.analyze import metrics
    from scalegraph.base.run import RunPoint, RunRecord

    def run(n: int, speeds: str, time_s: float) -> dict[str, Any]:
        point = RunPoint(processors=n, parameters={"speeds": speeds})
        return RunRecord(source="imported", program="p", machine="m", point=point, time_s=time_s, work_ops=10).row()

    found = workstations.table(metrics.scaling(pd.DataFrame([run(1, "1*1", 10.0), run(2, "1*1+1*4", 2.5)])))
    assert found["time_fastest_s"].tolist() == [10.0, 2.5]
    assert found["speedup"].tolist() == [1.0, 1.0]


@pytest.mark.slow
def test_the_view_maps_stations_and_speeds(source: Path) -> None:
    with open_input(source) as study:
        figure = views.get("physical-power").build(study_data(study), work=64.0)
    field, table = figure.panels
    assert isinstance(field, Field)
    assert isinstance(table, Table)
    assert field.columns == (1.0, 2.0, 4.0)
    assert field.rows == (1.0, 2.0)
    # E = (W/(n s))/(W/(n s) + C (n - 1))
    expected = [[64 / (n * s) / (64 / (n * s) + C * (n - 1)) for n in (1, 2, 4)] for s in (1, 2)]
    assert np.asarray(field.values) == pytest.approx(np.array(expected))
    assert "2 x 1 + 2 x 2" in {row.values[0] for row in table.rows}
    assert "Physical scaling from 1 to 4 stations takes the efficiency from 1.00 to 0.727" in figure.sentence
    assert "power scaling of 4 stations from 1 to 2 from 0.727 to 0.571" in figure.sentence


def test_isospeed_efficiency_of_unlike_stations_by_hand(call: Any, source: Path) -> None:
    """T = W/C + 2 (n - 1), so E_S = 1/(1 + 2 C (n - 1)/W): W = 2 C (n - 1) E_S/(1 - E_S), psi = (n - 1)/(n' - 1)."""
    marked = {row["configuration"]: row for row in rows(call, source, "marked-speed") if row["work"] == 64}
    assert marked["2 x 1 + 2 x 2"]["marked_speed"] == pytest.approx(6.0)
    assert marked["2 x 1 + 2 x 2"]["speed_efficiency"] == pytest.approx(64 / (64 / 6 + 6) / 6)
    assert marked["1 x 2"]["speed_efficiency"] == pytest.approx(1.0)
    matrix = {row["from"]: row for row in rows(call, source, "isospeed-efficiency-matrix")}
    assert matrix["2 x 2"]["2 x 1 + 2 x 2"] == pytest.approx(1 / 3, rel=0.06)  # n from 2 to 4, between runs
    assert matrix["4 x 1"]["4 x 2"] == pytest.approx(1.0, rel=0.06)
    assert matrix["4 x 1"]["2 x 1 + 2 x 2"] == pytest.approx(1.0, rel=0.06)


def test_isospeed_efficiency_of_equal_processors_is_isospeed() -> None:
    """W = 10 N at E_S = 1/2 on 2 processors, 30 N on 4: psi = 1/3 in both metrics."""
    from scalegraph.analyze.stations import marked_speed

    runs = [(1, 10.0, 10.0), (2, 20.0, 20.0), (2, 40.0, 25.0), (4, 120.0, 60.0), (4, 40.0, 30.0)]
    scaling = pd.DataFrame(runs, columns=pd.Index(["processors", "work", "time_s"])).assign(label="", keys="")
    found = marked_speed.scalability(marked_speed.table(scaling), 0.5)
    assert found is not None
    matrix, names = found
    assert names == ("1 x 1", "2 x 1", "4 x 1")
    assert matrix.value(2, 3) == pytest.approx(4 * 20 / (2 * 120))
