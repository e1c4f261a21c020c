"""Commands on studies: what is computed, written and imported; and a whole request from its file."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.store import Manifest, Study

pytestmark = pytest.mark.slow


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return a study of runs with T = n/N + 10 log N, in which E = 1/2 is met at every N."""
    path = tmp_path / "a.sgstudy"
    request = {"bound": [{"kind": "efficiency", "value": 0.5, "tolerance": 0.03}]}
    with Study.create(path, Manifest.new(program="p", machine="ksr1", request=request, memory="8 * n")) as made:
        for n in (20, 40, 80, 160, 320, 640):
            for count in (1, 2, 4, 8):
                time = n / count + 10 * (count - 1)
                made.add_run(
                    RunRecord(
                        source="simulated",
                        program="p",
                        machine="ksr1",
                        point=RunPoint(processors=count, parameters={"n": n}),
                        time_s=time,
                        clock_hz=1e6,
                        work_ops=n * 1000,
                        busy_s=float(n),
                        memory_stall_s=0.0,
                        idle_s=count * time - n,
                        primitive_s=0.0,
                        host_s=0.1,
                    )
                )
    return path


def test_a_matrix_as_table_and_document(call: Any, study: Path) -> None:
    code, out, _ = call("matrix", study)
    assert code == 0
    assert "efficiency held at 0.5" in out
    code, out, _ = call("matrix", study, "--json")
    made = json.loads(out)
    assert made["processors"] == [2, 4, 8]
    assert made["bound"] == "efficiency"
    assert made["efficiency"] == 0.5
    # E = 1/2 where n = 10 N (N - 1), and L = T/2 there: L(2)/L(4) = 10/30
    assert made["matrix"][0][1] == pytest.approx(1 / 3, rel=0.1)
    assert made["matrix"][1][0] is None


def test_cells_that_cannot_be_computed_say_why_and_strict_minds(call: Any, study: Path) -> None:
    code, out, _ = call("matrix", study, "--efficiency", "0.95", "--strict")
    assert code == 1
    assert "–: no run at N = 8 reaches E = 0.95" in out
    assert call("matrix", study, "--efficiency", "0.95")[0] == 0


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf", ".csv", ".tex", ".json"])
def test_a_matrix_goes_into_every_format(call: Any, study: Path, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"m{ending}"
    assert call("matrix", study, "-o", target)[0] == 0
    assert target.stat().st_size > 100


def test_views_are_exported_with_their_options(call: Any, study: Path, tmp_path: Path) -> None:
    assert call("export", study, "--view", "time", "-o", tmp_path / "t.svg", "--size", "12x8")[0] == 0
    code, _, err = call("export", study, "--view", "tme", "-o", tmp_path / "t.png")
    assert code == 2
    assert "did you mean 'time'" in err
    code, _, err = call("export", study, "--view", "matrix", "--option", "effciency=0.5", "-o", tmp_path / "t.png")
    assert code == 2
    assert "did you mean 'efficiency'" in err
    code, out, _ = call("export", "--list")
    assert code == 0
    assert "matrix: Scalability matrix" in out


def test_every_quantity_is_computed(call: Any, study: Path) -> None:
    from scalegraph.request.results.quantities import QUANTITIES

    for name in QUANTITIES:
        code, out, err = call("analyze", study, "--what", name, "--json")
        refused = 2 * ("add a section [" in err)  # power and price belong to the machine
        assert code == (refused or "nothing to show" in err), (name, err)
        assert json.loads(out)["what"] == name
    code, _, err = call("analyze", study, "--what", "spedup")
    assert code == 2
    assert "did you mean 'speedup'" in err
    code, _, err = call("analyze", study, "--what", "profile", "-p", "3")
    assert code == 2
    assert "there are runs on 1, 2, 4, 8" in err


def test_cells_are_marked_with_their_way_and_predictions_with_an_interval(call: Any, study: Path) -> None:
    code, out, _ = call("matrix", study, "--way", "best", "-p", "2,4,8,16", "--json")
    assert code == 0
    made = json.loads(out)
    assert made["processors"] == [2, 4, 8, 16]
    assert {made["ways"][f"{n},16"] for n in (2, 4, 8)} == {"predicted"}
    assert set(made["intervals"]) == {"2,16", "4,16", "8,16"}
    assert made["ways"]["2,4"] in ("measured", "computed")
    # E = 1/2 where n = 10 N (N - 1), and L = T/2: L(8)/L(16) = 70/150
    assert made["matrix"][2][3] == pytest.approx(70 / 150, rel=0.1)
    code, out, _ = call("matrix", study, "--way", "predicted")
    assert code == 0
    assert "*: predicted by models" in out
    assert "Model: T(N, W) =" in out
    code, out, _ = call("matrix", study, "--way", "measured", "--json")
    assert set(json.loads(out)["ways"].values()) <= {"measured"}


def test_work_that_keeps_the_efficiency_gives_the_isoefficiency_matrix(call: Any, study: Path) -> None:
    code, out, _ = call("matrix", study, "--metric", "isoefficiency", "--json")
    assert code == 0
    made = json.loads(out)
    # n = 10 N (N - 1): (W/N)/(W'/N') = (2 - 1)/(4 - 1)
    assert made["matrix"][0][1] == pytest.approx(1 / 3, rel=0.1)
    assert made["metric"] == "isoefficiency"


def test_an_average_over_efficiencies_as_table_document_and_picture(call: Any, study: Path, tmp_path: Path) -> None:
    code, out, _ = call("matrix", study, "--average", "0.5,0.55,0.6", "--json")
    assert code == 0
    made = json.loads(out)
    assert made["efficiencies"] == [0.5, 0.55, 0.6]
    assert made["matrix"][0][1] == pytest.approx(1 / 3, rel=0.1)
    code, out, _ = call("matrix", study, "--average", "0.5,0.6", "--way", "best", "-p", "2,16", "--json")
    made = json.loads(out)
    low, high = made["intervals"]["2,16"]
    assert low <= made["matrix"][0][1] <= high
    assert call("matrix", study, "--average", "usual", "-o", tmp_path / "a.png")[0] == 0
    assert "average over E" in call("matrix", study, "--average", "usual")[1]
    code, _, err = call("matrix", study, "--average", "0.4,2")
    assert code == 2
    assert "'2': an efficiency between 0 and 1 was expected" in err
    code, _, err = call("matrix", study, "--average", "0.4", "--bound", "time")
    assert code == 2
    assert "--bound efficiency was expected" in err
    code, _, err = call("matrix", study, "-p", "2,many")
    assert code == 2
    assert "'many': a number of processors was expected" in err


def test_published_tables_open_as_matrices_and_say_what_contradicts(call: Any, tmp_path: Path) -> None:
    from scalegraph.base.resources import resource_dir

    tables = resource_dir("published")
    code, out, _ = call("matrix", tables / "latency-metric-table-11.csv")
    assert code == 0
    assert "The entry (2, 4) = 0.9419 contradicts the others; 1.042 would fit." in out
    code, out, _ = call("matrix", tables / "isospeed-table-9.csv", "--metric", "isospeed", "--json")
    made = json.loads(out)
    assert [[cell and round(cell, 2) for cell in row[i:]] for i, row in enumerate(made["matrix"])] == [
        [1.0, 0.93, 0.89, 0.83],
        [1.0, 0.95, 0.9],
        [1.0, 0.94],
        [1.0],
    ]
    code, _, err = call("matrix", tables / "isospeed-table-9.csv")
    assert code == 1
    assert "but a unit speed is: use --metric isospeed" in err
    target = tmp_path / "s.png"
    assert call("export", tables / "isospeed-table-1.csv", "--view", "scalability-surface", "-o", target)[0] == 0
    assert target.stat().st_size > 1000


def test_without_a_matrix_no_file_is_written(call: Any, tmp_path: Path) -> None:
    table, picture = tmp_path / "runs.csv", tmp_path / "m.csv"
    table.write_text("processors,time_s\n2,10\n4,6\n")
    code, _, err = call("matrix", table, "--metric", "isospeed", "-o", picture)
    assert code == 1
    assert "work_ops" in err
    assert not picture.exists()


def test_memory_of_imported_runs_is_kept(call: Any, tmp_path: Path) -> None:
    table, made = tmp_path / "runs.csv", tmp_path / "runs.sgstudy"
    lines = ["processors,time_s,work_ops,param.n,memory_bytes"]
    lines += [f"{n},{size / n + n},{size * 9},{size},{size * 8}" for size in (10, 20, 40) for n in (1, 2, 4)]
    table.write_text("\n".join(lines) + "\n")
    assert call("import", table, "-o", made)[0] == 0
    for place in (table, made):
        code, out, err = call("matrix", place, "--bound", "memory", "--memory", "80", "--json")
        assert code == 0, err
        assert json.loads(out)["matrix"][0][1] is not None
    table.write_text("processors,time_s,memory_bytes\n1,1,much\n")
    assert ":2: memory_bytes: a number" in call("import", table, "-o", tmp_path / "other.sgstudy")[2]


def test_small_numbers_keep_their_digits_in_a_document(call: Any, study: Path) -> None:
    with Study.open(study, write=True) as made:
        run = made.runs()[0]
        tiny = run.model_copy(update={"time_s": 1.234567890123e-9, "point": RunPoint(processors=1)})
        made.add_run(tiny)
    rows = json.loads(call("analyze", study, "--what", "runs", "--json")[1])["rows"]
    assert 1.234567890123e-9 in [row["time_s"] for row in rows]
    assert [row["param.n"] for row in rows].count(None) == 1


def test_a_table_of_runs_goes_out_and_comes_back(call: Any, study: Path, tmp_path: Path) -> None:
    table, again = tmp_path / "runs.csv", tmp_path / "again.sgstudy"
    assert call("analyze", study, "--what", "runs", "-o", table)[0] == 0
    assert call("import", table, "-o", again)[0] == 0
    with Study.open(again) as made:
        assert len(made) == 24
        assert {run.source for run in made.runs()} == {"imported"}
    assert (
        json.loads(call("matrix", again, "--json")[1])["matrix"]
        == json.loads(call("matrix", study, "--json")[1])["matrix"]
    )
    assert call("import", table, "-o", again)[0] == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ":1: is empty"),
        ("procesors,time_s\n1,2\n", "column 1 'procesors' may be a parameter or a metric"),
        ("processors,time_s,mises\n", "unknown column 'mises'; did you mean 'misses'"),
        ("processors,time_s\n1,fast\n", ":2: time_s: a number of 0 or more was expected, got 'fast'"),
        ("processors,time_s\n1.5,2\n", ":2: processors: a whole number"),
        ("processors,time_s\n0,2\n", ":2:"),
        ("processors,time_s\n1\n", ":2: does not have 2 fields"),
        ("processors,time_s\n", "holds no run"),
        ("processors,time_s,leaf.busy_imt\n1,2,3\n", "column 'leaf.busy_imt'; did you mean 'busy_int'"),
        ("processors,time_s,program\n1,2,a\n2,1,b\n", "holds runs of several programs (a, b)"),
        ("processors,time_s,machine\n1,2,a\n2,1,b\n", "holds runs of several machines (a, b)"),
        ("processors,time_s\n1,1e300\n", "less than or equal to"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_line(call: Any, tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    code, _, err = call("import", path)
    assert code == 2
    assert expected in err


def test_other_formats_are_named(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.xyz"
    path.write_text("hello\n")
    code, _, err = call("import", path)
    assert code == 2
    assert ".cubex" in err
    assert "--list-formats" in err


def test_a_study_of_a_newer_version_is_refused(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "text.sgstudy"
    path.write_text("hello")
    code, _, err = call("matrix", path)
    assert code == 1
    assert "is not a ScaleGraph study" in err


_SOURCE = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 10;
    double sum = 0;
    if (n == 13) abort();
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += 1.0 / (i + 1);
    printf("%f\\n", sum);
    return 0;
}
"""


def _request(tmp_path: Path, more: str = "", n: str = "20000") -> Path:
    (tmp_path / "p.c").write_text(_SOURCE)
    path = tmp_path / "r.toml"
    path.write_text(
        f'processors = [1, 2, 4]\n{more}\n[program]\nsources = ["p.c"]\nargs = ["{{n}}"]\n[parameters]\nn = {n}\n'
    )
    return path


@pytest.mark.compiler
def test_a_request_runs_and_resumes(call: Any, tmp_path: Path) -> None:
    path = _request(tmp_path)
    code, out, err = call("run", path, "--plan")
    assert code == 0
    assert "3 runs, 0 of them in the study" in out
    code, out, err = call("run", path, "--json")
    assert code == 0, err
    made = json.loads(out)
    assert [run["processors"] for run in made["runs"]] == [1, 2, 4]
    assert made["runs"][0]["stdout"] == "10.480728\n"
    code, out, err = call("run", path)
    assert code == 0
    assert err.count("already in the study") == 3
    assert "3 runs in" in out


@pytest.mark.compiler
def test_a_search_runs_end_to_end(call: Any, tmp_path: Path) -> None:
    path = _request(tmp_path)
    bound = '[scaling]\ngrow = { n = "N" }\n[bound]\nkind = "efficiency"\nvalue = 0.5\nprocessors = [2, 4]\n'
    path.write_text(path.read_text() + bound)
    code, out, _ = call("run", path, "--json")
    assert code == 0
    assert [(search["processors"], search["met"]) for search in json.loads(out)["searches"]] == [(2, True), (4, True)]
    assert call("matrix", path.with_suffix(".sgstudy"))[0] == 0


@pytest.mark.compiler
def test_a_program_that_crashes_is_reported_and_kept(call: Any, tmp_path: Path) -> None:
    code, out, err = call("run", _request(tmp_path, n="13"))
    assert code == 1
    assert "3 of them failed" in out
    assert "failed: " in err


@pytest.mark.compiler
def test_a_source_that_does_not_compile_is_reported_with_its_place(call: Any, tmp_path: Path) -> None:
    path = _request(tmp_path)
    (tmp_path / "p.c").write_text("int main(void) {\n  return x;\n}\n")
    code, _, err = call("run", path)
    assert code == 1
    assert "p.c:2" in err
    assert not path.with_suffix(".sgstudy").exists()


@pytest.mark.compiler
def test_a_killed_request_goes_on_where_it_stood(call: Any, tmp_path: Path) -> None:
    path = _request(tmp_path, more="repetitions = 400", n="200")
    command = [sys.executable, "-m", "scalegraph.cli.main", "run", str(path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as first:
        assert first.stderr
        for line in first.stderr:
            if line.startswith("[5/"):
                break
        first.send_signal(signal.SIGKILL)
    with Study.open(path.with_suffix(".sgstudy")) as study:
        kept = len(study)
    assert kept >= 5
    code, out, _ = call("run", path, "--plan", "--json")
    assert code == 0
    assert json.loads(out)["done"] == kept
