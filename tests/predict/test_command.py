"""``scalegraph predict``: from sample runs of a program to the predicted time, and what is rejected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.cli.main import main
from scalegraph.cli.predict.command import sizes
from scalegraph.predict import graph as graphs
from scalegraph.predict.instantiate import instantiate
from scalegraph.predict.traverse import traverse
from scalegraph.request import Session
from scalegraph.store import Study
from scalegraph.views import common

pytestmark = pytest.mark.slow

# In every step one thread prepares a row while all others wait; then all use it in their rows.
STEPS = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double *a = malloc(sizeof *a * n * n), sum = 0;
#pragma omp parallel
  {
    double own = 0;
#pragma omp for schedule(static, 1)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) a[i * n + j] = i + j;
    for (int k = 0; k < n; k++) {
#pragma omp master
      for (int j = 0; j < n; j++) a[k * n + j] *= 0.5;
#pragma omp barrier
#pragma omp for schedule(static, 1)
      for (int i = k + 1; i < n; i++)
        for (int j = 0; j < n; j++) own += a[i * n + j] * a[k * n + j];
    }
#pragma omp critical
    sum += own;
  }
  printf("%g\\n", sum);
}
"""
# the number of barriers does not depend on n alone
WILD = """
#include <stdlib.h>
int main(int argc, char **argv) {
  unsigned n = atoi(argv[1]), random = n * 2654435761u;
#pragma omp parallel
  for (unsigned i = 0; i < 1 + (random >> 20) % 29; i++) {
#pragma omp barrier
  }
}
"""


def run(*words: str) -> int:
    try:
        main([*words])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "steps.c").write_text(STEPS)
    (tmp_path / "wild.c").write_text(WILD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.compiler
def test_small_runs_predict_a_large_one(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", "steps.c", "--machine", "ksr1", "-p", "4", "--samples", "n=32,64", "--at", "n=160"]
    assert run(*words, "--verify", "--graph", "g.toml", "--json", "--", "{n}") == 0
    document = json.loads(capsys.readouterr().out)
    found = document["predictions"][0]
    assert (found["processors"], found["parameters"]) == (4, {"n": 160})
    assert found["error"] == pytest.approx(abs(found["time_s"] / found["actual_s"] - 1))
    assert found["error"] < 0.1
    assert found["low_s"] < found["actual_s"] < found["high_s"]
    ratio = found["actual_s"] / (found["samples_s"] + found["estimate_s"])
    assert found["prediction_ratio"] == pytest.approx(ratio)
    host = found["actual_host_s"] / (found["samples_host_s"] + found["estimate_s"])
    assert found["prediction_ratio_host"] == pytest.approx(host)
    assert 0 < found["efficiency"] < 1
    parts = [one["time_s"] for one in found["regions"]]
    assert sum(parts) + found["events_s"] + found["waiting_s"] == pytest.approx(found["time_s"])
    assert all(run["parameters"]["n"] < 160 for run in document["samples"])
    graph = graphs.load(here / "g.toml")
    assert traverse(instantiate(graph, {}, 4)).time_s == pytest.approx(found["time_s"])
    loops = [step for one in graph.classes for step in graph.walk(one.steps) if step.kind == "loop"]
    assert [loop.iterations for loop in loops] == ["160"]


@pytest.mark.compiler
def test_a_study_with_several_sizes_is_used_as_it_is(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", "steps.c", "--machine", "ksr1", "-p", "4", "--samples", "n=24,48", "--at", "n=120"]
    assert run(*words, "--verify", "-o", "kept.sgstudy", "--", "{n}") == 0
    out = capsys.readouterr().out
    assert "steps on KSR-1" in out or "steps on ksr1" in out
    assert "for main:" in out
    assert run("predict", "kept.sgstudy", "--at", "n=120", "-p", "4", "--json") == 0
    found = json.loads(capsys.readouterr().out)["predictions"]
    assert [one["processors"] for one in found] == [4]
    assert found[0]["error"] < 0.1
    assert run("predict", "kept.sgstudy", "--at", "n=240", "-p", "4", "-o", "kept.sgstudy") == 0
    assert " waiting " in capsys.readouterr().out
    with Study.open(here / "kept.sgstudy") as study:
        assert [one.point.parameters["n"] for one in study.runs() if one.source == "predicted"] == [240]
    for option, said in (
        (("-o", "other.sgstudy"), "-o kept.sgstudy was expected"),
        (("--verify",), "no program is run: leave out --verify"),
        (("--no-counting",), "leave out --verify, --no-counting"),
    ):
        assert run("predict", "kept.sgstudy", "--at", "n=240", *option) == 2
        assert said in capsys.readouterr().err
    assert not (here / "other.sgstudy").exists()


@pytest.mark.compiler
def test_small_runs_that_fail_are_left_out_with_a_sentence(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failing = STEPS.replace("atoi(argv[1]);", "atoi(argv[1]); if (n < 12) return 3;", 1)
    (here / "failing.c").write_text(failing)
    words = ["predict", "failing.c", "--machine", "ksr1", "-p", "2", "--samples", "n=32,64", "--at", "n=128"]
    assert run(*words, "--json", "--", "{n}") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["notes"] == [
        f"the small run on N = {n}, n = {size} is left out: the program ended with exit code 3"
        for n in (1, 2)
        for size in (8, 4)
    ]
    assert all(known["parameters"]["n"] >= 16 for known in document["samples"])


@pytest.mark.compiler
def test_an_irregular_pattern_is_refused_with_the_place(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", "wild.c", "--machine", "ksr1", "-p", "2", "--samples", "n=24,48", "--at", "n=150"]
    assert run(*words, "--", "{n}") == 1
    said = capsys.readouterr().out
    assert "not predicted: how often the event of barrier main:7, on 2 processors, happens" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--samples", "n=24", "--at", "m=3", "--", "{n}"], "the parameters of samples and predicted points"),
        (["--samples", "n=x", "--at", "n=3", "--", "{n}"], "--samples: 'n=x': NAME=VALUE,.. with whole numbers"),
        (["--at", "n=3", "--", "{n}"], "--samples is missing"),
        (["--samples", "n=2", "--at", "n=3"], "arguments with a parameter were expected"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert run("predict", "steps.c", "--machine", "ksr1", "-p", "2", *words) == 2
    assert said in capsys.readouterr().err


def test_parameters_are_read_value_by_value() -> None:
    assert sizes("m=8,16;n=9,17;i=5", "--at") == [{"m": 8, "n": 9, "i": 5}, {"m": 16, "n": 17, "i": 5}]
    for wrong in ("m=8,16;n=1,2,3", "", "m"):
        with pytest.raises(InputError):
            sizes(wrong, "--at")


@pytest.mark.compiler
def test_predicted_points_are_rows_of_the_study_marked_predicted(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["predict", "steps.c", "--machine", "ksr1", "-p", "2,4", "--samples", "n=16,32", "--at", "n=64"]
    assert run(*words, "-o", "kept.sgstudy", "--json", "--", "{n}") == 0
    document = json.loads(capsys.readouterr().out)
    found = {one["processors"]: one["time_s"] for one in document["predictions"]}
    (limit,) = document["limits"]
    assert (limit["parameters"], limit["processors"], limit["since"] in (2, 4)) == ({"n": 64}, 4, True)
    with Study.open(here / "kept.sgstudy") as study:
        made = {one.point.processors: one for one in study.runs() if one.source == "predicted"}
        assert {n: one.time_s for n, one in made.items()} == pytest.approx(found)
        data = Session().study_data(study)
        assert common.origin(data.table[data.table["param.n"] == 64]) == "predicted"
        for name in views.everything():
            if views.get(name).subject == "study":
                views.get(name).build(data)
    # a predicted point is not a run: requesting it makes a run that takes its place
    assert run(*words, "-o", "kept.sgstudy", "--verify", "--", "{n}") == 0
    with Study.open(here / "kept.sgstudy") as study:
        assert {one.source for one in study.runs() if one.point.parameters["n"] == 64} == {"simulated"}
