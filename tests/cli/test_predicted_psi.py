"""psi predicted on the command line: the line over log2 N, Theorems 1 and 2, Corollary 1."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph.analyze import speed_prediction, theorems
from scalegraph.analyze.bounds import Anchor
from scalegraph.analyze.matrix import Matrix
from scalegraph.analyze.overhead import Overhead, SequentialTime
from scalegraph.base.resources import resource_dir

TABLE = resource_dir("published") / "isospeed-table-2.csv"
# isospeed.txt IV.B, as printed; T(2)/T(128) is 0.2678 and T(4)/T(128) 0.3995 by the unrounded T(128)
LAST_COLUMN = [0.118, 0.269, 0.400, 0.520, 0.629, 0.751, 0.868]
TIMES = [0.004029, 0.00913, 0.01362, 0.01774, 0.02144, 0.02561, 0.0296]  # Table II
SPEED, HALF, STEP = 2e6, 5e4, 0.003  # r_inf, W_0, overhead per doubling


def document(call: Any, *arguments: object) -> dict[str, Any]:
    code, out, err = call("matrix", *arguments, "--json")
    assert code == 0, err
    made: dict[str, Any] = json.loads(out)
    return made


def linear(path: Path, counts: tuple[int, ...] = (1, 2, 4, 8, 16), *, grows: float = 0.0) -> Path:
    """Runs with exactly T = (W/N + W_0)/r + STEP log2 N + grows W."""
    lines = ["processors,n,time_s,work_ops"]
    for n in counts:
        for k in range(12):
            work = 10_000 * 3**k
            time = (work / n + HALF) / SPEED + STEP * math.log2(n) + (grows * work if n > 1 else 0)
            lines.append(f"{n},{work},{time!r},{work}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def works(n: int, speed: float, step: float = STEP) -> float:
    """Return the W with *speed* per processor on *n*: W/(N speed) = (W/N + W_0)/r + step log2 N, solved by hand."""
    return n * (HALF / SPEED + step * math.log2(n)) / (1 / speed - 1 / SPEED)


@pytest.mark.slow
def test_the_line_over_log2_n_gives_the_printed_time_on_128_processors(call: Any, tmp_path: Path) -> None:
    smaller = tmp_path / "smaller.csv"
    smaller.write_text("".join(TABLE.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    counts = "1,2,4,8,16,32,64,128"
    left_out = document(call, smaller, "--way", "log2", "-p", counts)
    hidden = document(call, TABLE, "--way", "log2", "--up-to", 64)
    for made in (left_out, hidden):
        assert made["metric"] == "isospeed"
        time = made["work"][-1] / (128 * 0.85e6)
        assert time == pytest.approx(0.0340946, abs=5e-8)  # printed 0.03409
        column = [row[-1] for row in made["matrix"][:-1]]
        assert column == pytest.approx([t / time for t in TIMES], rel=3e-4)  # eq. 2; W is rounded to operations
        assert [round(t / 0.03409, 3) for t in TIMES] == [0.118, 0.268, *LAST_COLUMN[2:]]
        assert column == pytest.approx(LAST_COLUMN, abs=1.3e-3)
        assert made["ways"]["64,128"] == "predicted"
        assert made["ways"]["32,64"] == "measured"
        low, high = made["intervals"]["64,128"]
        assert low < 0.887 < high  # as measured, Table III
        # mean x = 3, Sxx = 28, mean y = 0.0173099, Sxy = 0.117493
        assert any("T(N) = 0.004721 + 0.004196 log2 N s" in note for note in made["notes"])


@pytest.mark.slow
def test_a_line_needs_three_times_and_says_so(call: Any) -> None:
    code, out, _ = call("matrix", TABLE, "--way", "log2", "--up-to", 2)
    assert code == 0
    assert "needs 3 counts or more that meet the speed, not 2." in out


def test_a_rough_line_has_intervals_that_json_can_hold() -> None:
    anchors = {
        n: Anchor(n, "measured", work=n * time, time_s=time) for n, time in ((1, 1.0), (2, 9.0), (4, 2.0), (8, 12.0))
    }
    made = speed_prediction.over_log2(Matrix("isospeed", "speed", 1.0, (1, 2, 4, 8, 16), {}, anchors=anchors))
    assert made.ways[(8, 16)] == "predicted"
    assert (8, 16) not in made.intervals  # T(16) may be 0 within its interval, so psi has no upper end
    json.dumps(made.to_json(), allow_nan=False)


def test_times_of_nothing_on_one_processor_give_no_efficiency() -> None:
    law = SequentialTime(np.array([1.0, 2.0]), np.array([0.0, 0.0]))
    empty = Matrix("isospeed", "speed", 1.0, (1, 2), {})
    made = theorems.predicted(empty, law, Overhead(lambda _n, _w: 0.0, "none"), "Theorem 1")
    assert not made.values


@pytest.mark.slow
@pytest.mark.parametrize("way", ["theorem1", "theorem2"])
def test_of_a_linear_model_eq_5_is_eq_1_for_the_work_that_keeps_the_speed(call: Any, tmp_path: Path, way: str) -> None:
    made = document(call, linear(tmp_path / "linear.csv"), "--way", way)
    speed = made["speed"]
    assert speed == pytest.approx(SPEED / 2)
    counts = made["processors"]
    assert made["work"] == pytest.approx([works(n, speed) for n in counts], rel=1e-9)
    for i, n in enumerate(counts):
        for j in range(i + 1, len(counts)):
            eq1 = counts[j] * works(n, speed) / (n * works(counts[j], speed))
            assert made["matrix"][i][j] == pytest.approx(eq1, rel=1e-9)
            assert made["ways"][f"{n},{counts[j]}"] == "predicted"


@pytest.mark.slow
def test_the_overhead_by_a_formula_needs_runs_on_one_processor_only(call: Any, tmp_path: Path) -> None:
    alone = linear(tmp_path / "alone.csv", (1,))
    # ten lags of Burg's messages: one to the neighbour, and one per doubling (isospeed.txt eq. 10)
    formula = "10 * (alpha + 4 * beta + log2(N) * (alpha + 8 * beta))"
    made = document(
        call,
        alone,
        "--way",
        "theorem1",
        "-p",
        "1,2,4",
        "--speed",
        1e6,
        "--overhead",
        f"min(N - 1, 1) * {formula}",
        "--alpha",
        130e-6,
        "--beta",
        0.5e-6,
    )
    step, first = 10 * 134e-6, 10 * 132e-6  # s
    expected = [HALF / SPEED, HALF / SPEED + first + step, HALF / SPEED + first + 2 * step]
    # at equal speed psi = T/T', and T = 2 (W_0/r + t_o) where the speed is r/2
    assert made["matrix"][0][1] == pytest.approx(expected[0] / expected[1], rel=1e-9)
    assert made["matrix"][1][2] == pytest.approx(expected[1] / expected[2], rel=1e-9)
    assert made["matrix"][0][2] == pytest.approx(0.025 / 0.029)


@pytest.mark.slow
def test_theorem_2_takes_an_overhead_that_grows_with_the_work(call: Any, tmp_path: Path) -> None:
    grows = 2e-8  # s per operation: t_o(W) = STEP log2 N + grows W
    source = linear(tmp_path / "grows.csv", (1, 2, 4), grows=grows)
    made = document(call, source, "--way", "theorem2", "--speed", 1e6)
    works_ = [
        n * (HALF / SPEED + STEP * math.log2(n)) / (1 / 1e6 - 1 / SPEED - (n * grows if n > 1 else 0))
        for n in (1, 2, 4)
    ]
    assert made["work"] == pytest.approx(works_, rel=1e-9)
    assert made["matrix"][0][2] == pytest.approx(4 * works_[0] / works_[2], rel=1e-9)
    first = document(call, source, "--way", "theorem1", "--speed", 1e6)
    assert any("overhead on N = 2 varies with the work" in note for note in first["notes"])


@pytest.mark.slow
def test_a_speed_that_no_work_reaches_has_no_root(call: Any, tmp_path: Path) -> None:
    source = linear(tmp_path / "steep.csv", (1, 2, 4), grows=3e-7)
    code, out, _ = call("matrix", source, "--way", "theorem2", "--speed", 1e6)
    assert code == 0
    assert "the speed is not reached on N = 4 with any work" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--overhead", "log2(N)"), "--overhead: is given, but --way is runs"),
        (("--way", "theorem1", "--up-to", "4"), "--up-to: is given, but --way is theorem1"),
        (("--way", "theorem1", "--overhead", "alpha * N"), "needs a value of alpha"),
        (("--way", "theorem1", "--overhead", "W"), "depends on W"),
        (("--way", "theorem1", "--overhead", "open('x')"), "the available functions are"),
        (("--way", "theorem1", "--alpha", "1"), "no formula that uses it"),
    ],
)
def test_options_that_do_not_fit_the_way_are_named(
    call: Any, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    code, _, err = call("matrix", linear(tmp_path / "linear.csv"), *arguments)
    assert code == 2
    assert words in err


@pytest.mark.slow
def test_a_theorem_of_another_metric_says_which_it_is_of(call: Any, tmp_path: Path) -> None:
    code, out, _ = call("matrix", linear(tmp_path / "linear.csv"), "--metric", "latency", "--way", "theorem1")
    assert code == 1
    assert "Theorem 1 holds at a constant speed: choose the metric isospeed" in out


@pytest.mark.slow
def test_corollary_1_is_tested_on_the_printed_matrix_and_on_one_that_stays(call: Any, tmp_path: Path) -> None:
    code, out, _ = call("analyze", TABLE, "--what", "corollary-1", "--json")
    assert code == 0
    rows = {row["n"]: row for row in json.loads(out)["rows"]}
    assert set(rows) == {1, 2, 4, 8, 16}  # rows with at least four values
    # 1/psi(1, N') = T(N')/T(1): its slope is that of the line for Table II over T(1)
    assert rows[1]["slope"] == pytest.approx(0.00421 / 0.004029, rel=0.02)
    assert all(row["p_value"] < 1e-3 and "tends to 0" in row["verdict"] for row in rows.values())
    flat = tmp_path / "flat.csv"
    said = (
        "scalegraph published 1",
        "title: t",
        "source: s",
        "table: I",
        "program: p",
        "machine: m",
        "kind: matrix",
        "metric: isospeed",
        "bound: speed",
        "held: 1",
    )
    head = "".join(f"# {line}\n" for line in said)
    flat.write_text(head + "N,1,2,4,8,16\n1,1,0.98,1.01,0.99,1.00\n2,,1,1.03,1.01,1.02\n", encoding="utf-8")
    code, out, _ = call("analyze", flat, "--what", "corollary-1", "--json")
    assert code == 0
    assert all(row["p_value"] > 0.05 and "may stay" in row["verdict"] for row in json.loads(out)["rows"])
