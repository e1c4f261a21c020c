"""``--sample``, ``--exact``: estimates are marked wherever runs are shown, and never taken for exact runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.runtime.compiler import find_compiler
from scalegraph.store import Study
from scalegraph.toolchain.inlining import may_inline

pytestmark = [
    pytest.mark.slow,
    pytest.mark.compiler,
    pytest.mark.skipif(not may_inline(find_compiler()), reason="hooks are put in line by gcc for x86-64 only"),
]

PROGRAM = """
    static volatile int x[1000];
    int main(void)
    {
        for (int step = 0; step < 60; step++)
    #pragma omp parallel for
            for (int i = 0; i < 1000; i++)
                x[i] += step;
        return 0;
    }"""


@pytest.fixture
def simulate(tmp_path: Path, call: Any) -> Any:
    """Return a function that simulates the program with additional arguments."""
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    return lambda *more: call("simulate", source, "-p", "4", "--machine", "ksr1", "--no-reference", *more)


def test_estimates_are_marked(simulate: Any, tmp_path: Path) -> None:
    code, table, _ = simulate("--sample")
    assert code == 0
    assert "~ " in table
    assert "\n~ estimated: " in table
    assert "of phase visits were not simulated, time ± " in table
    assert " (95 %)" in table
    lines = table.splitlines()
    at = next(number for number, line in enumerate(lines) if line.lstrip().startswith("N "))
    assert lines[at].split()[3] == "±"
    assert "!" not in lines[at + 1]
    code, text, _ = simulate("--sample", "--json")
    assert code == 0
    (run,) = json.loads(text)["runs"]
    assert run["sampled"]["skipped"] > 0
    assert run["sampled"]["why"] == ""
    assert run["sampled"]["intervals"]["time_cycles"] >= 0
    assert {"misses", "idle_barrier"} <= set(run["sampled"]["intervals"])
    assert sum(run["leaves"].values()) == 4 * run["time_cycles"]
    code, text, _ = simulate("--json")
    assert json.loads(text)["runs"][0]["sampled"] is None


def test_an_estimate_in_a_study_gives_way_to_an_exact_run_and_not_the_reverse(simulate: Any, tmp_path: Path) -> None:
    study = tmp_path / "runs.sgstudy"
    found = []
    for more in (["--sample"], [], ["--exact"], ["--sample"], []):
        assert simulate("-o", study, *more)[0] == 0
        with Study.open(study) as kept:
            (record,) = kept.runs()
            found.append(record.estimated)
    assert found == [True, True, False, False, False]


def test_exact_and_sample_exclude_each_other(simulate: Any) -> None:
    code, _, err = simulate("--exact", "--sample")
    assert code == 2
    assert "--sample and --exact were given; expected one of them" in err


@pytest.mark.parametrize("command", ["simulate", "schedules", "predict"])
def test_every_command_that_simulates_takes_both(call: Any, command: str) -> None:
    code, text, _ = call(command, "--help")
    assert code == 0
    assert "--exact" in text
    assert "--sample" in text


def test_a_run_stays_exact_while_it_is_short(simulate: Any) -> None:
    (default,), (exact,) = (json.loads(simulate("--json", *more)[1])["runs"] for more in ((), ("--exact",)))
    assert default["estimated"] is exact["estimated"] is False
    assert default["time_cycles"] == exact["time_cycles"]


@pytest.mark.parametrize("more", [("--collect", "classes"), ("--speedup", "line:program.c:8=2")])
def test_what_needs_exact_runs_replaces_estimates(simulate: Any, tmp_path: Path, more: tuple[str, ...]) -> None:
    study = tmp_path / "runs.sgstudy"
    assert simulate("-o", study, "--sample")[0] == 0
    assert simulate("-o", study, *more)[0] == 0
    with Study.open(study) as kept:
        assert not any(run.estimated for run in (*kept.runs(), *kept.variants()))


@pytest.mark.parametrize("more", [("--collect", "classes"), ("--trace",)])
def test_what_needs_the_whole_run_is_refused(simulate: Any, tmp_path: Path, more: tuple[str, ...]) -> None:
    words = (*more, "--trace-output", tmp_path / "traces") if more == ("--trace",) else more
    code, _, err = simulate("--sample", *words)
    assert code == 2
    assert f"{more[0]}: needs the whole run" in err


# One of the two loops has all its work in its first fifth, so that another schedule suits it better.
UNEVEN = """
    static volatile int x[1000];
    int main(void)
    {
        for (int step = 0; step < 40; step++) {
    #pragma omp parallel
            {
    #pragma omp for schedule(static)
                for (int i = 0; i < 200; i++)
                    for (int j = 0; j < (i < 40 ? 60 : 1); j++)
                        x[i] += step;
    #pragma omp for schedule(static)
                for (int i = 0; i < 1000; i++)
                    x[i] += step;
            }
        }
        return 0;
    }"""
ONCE = """
    static volatile int x[1000];
    int main(void)
    {
    #pragma omp parallel for
        for (int i = 0; i < 1000; i++)
            x[i] += i;
        return 0;
    }"""
# n rows of n elements, fifty times.
SIZED = """
    #include <stdlib.h>
    int main(int argc, char **argv)
    {
        int n = atoi(argv[1]);
        volatile double *a = malloc(n * n * sizeof *a);
        for (int step = 0; step < 50; step++) {
    #pragma omp parallel for schedule(static)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    a[i * n + j] = step + j;
        }
        return 0;
    }"""
MESSAGES = """
    #include <mpi.h>
    #include <stdlib.h>
    int main(int argc, char **argv)
    {
        MPI_Init(&argc, &argv);
        for (int i = 0; i < atoi(argv[1]); i++)
            MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }"""


@pytest.fixture
def compare(tmp_path: Path, call: Any) -> Any:
    """Return a function that compares schedules of a program with additional arguments."""

    def run(text: str, *more: Any) -> tuple[int, str, str]:
        source = tmp_path / "program.c"
        source.write_text(text)
        words = ("-p", "4", "--machine", "ksr1", "--schedules", "static;dynamic,4")
        found: tuple[int, str, str] = call("schedules", source, *words, *more)
        return found

    return run


def test_schedules_are_compared_by_estimates(compare: Any) -> None:
    code, text, err = compare(UNEVEN, "--sample", "--json")
    assert code == 0, err
    sampled = json.loads(text)
    code, text, _ = compare(UNEVEN, "--json")
    assert code == 0
    whole = json.loads(text)
    for estimate, actual in zip(sampled["schedules"], whole["schedules"], strict=True):
        (run,), (truth,) = estimate["runs"], actual["runs"]
        assert estimate["name"] == actual["name"]
        assert run["sampled"]["skipped"] > 0
        low, high = run["interval_s"]
        assert low <= run["time_s"] <= high
        assert low - 0.01 * truth["time_s"] <= truth["time_s"] <= high + 0.01 * truth["time_s"]
        assert truth["sampled"] is truth["interval_s"] is None
    (advice,), (truth,) = sampled["advice"], whole["advice"]
    assert truth["schedule"] == "program.c:8=dynamic,4"
    assert advice["schedule"] == truth["schedule"]
    assert advice["sure"]
    assert advice["gain"] == pytest.approx(truth["gain"], abs=0.02)
    for loop, actual in zip(advice["loops"], truth["loops"], strict=True):
        assert loop["loop"] == actual["loop"]
        assert loop["schedule"] == actual["schedule"]
        assert loop["cycles"] == pytest.approx(actual["cycles"], rel=0.02)


def test_a_table_of_schedules_marks_estimates_and_says_what_could_not_be_sampled(compare: Any) -> None:
    code, table, _ = compare(UNEVEN, "--sample")
    assert code == 0
    rows = table.splitlines()[1:4]
    assert all("~ " in row and " ± " in row for row in rows)
    assert "~ estimated: " in table
    code, table, _ = compare(ONCE, "--sample")
    assert code == 0
    assert "~" not in table
    assert "not sampled, the whole run was simulated: no phase is repeated often enough" in table


def test_what_runs_on_the_host_is_not_sampled(compare: Any, call: Any, tmp_path: Path) -> None:
    code, _, err = call("schedules", tmp_path / "program.c", "-p", "2", "--target", "host", "--sample")
    assert code == 2
    assert "--sample is for simulated runs; name a machine with --machine" in err


@pytest.fixture
def predict(tmp_path: Path, call: Any) -> Any:
    """Return a function that predicts the time of a program with additional arguments."""

    def run(text: str, *more: Any) -> tuple[int, str, str]:
        source = tmp_path / "program.c"
        source.write_text(text)
        words = ("-p", "4", "--machine", "ksr1", "--samples", "n=48,64", "--at", "n=96")
        found: tuple[int, str, str] = call("predict", source, *words, *more, "--", "{n}")
        return found

    return run


def test_predictions_come_from_estimates_and_whole_small_runs(predict: Any, tmp_path: Path) -> None:
    study = tmp_path / "runs.sgstudy"
    code, text, err = predict(SIZED, "--sample", "--verify", "--json", "-o", study)
    assert code == 0, err
    document = json.loads(text)
    estimated = {run["parameters"]["n"] for run in document["samples"] if run["interval_s"]}
    assert estimated == {48, 64}
    (point,) = document["predictions"]
    assert abs(point["error"]) < 0.05
    with Study.open(study) as kept:
        runs = {(run.point.processors, run.point.parameters["n"]): run for run in kept.runs()}
    assert runs[4, 64].estimated
    assert not runs[4, 96].estimated
    assert not any(run.estimated for (_, n), run in runs.items() if n not in (48, 64))
    code, text, _ = predict(SIZED, "--exact", "--json", "-o", study)
    assert code == 0
    assert not any(run["sampled"] for run in json.loads(text)["samples"])
    (again,) = json.loads(text)["predictions"]
    assert again["time_s"] == pytest.approx(point["time_s"], rel=0.03)


def test_what_predictions_come_from_is_marked(predict: Any) -> None:
    code, text, _ = predict(SIZED, "--sample")
    assert code == 0
    assert "sample runs took ~ " in text
    assert "! N = 4, n = 64: ~ " in text
    assert "(95 %)" in text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--blocks", "ge-dp"), "--blocks needs whole runs"),
        (("x=3", "--samples", ""), "the parameters of the sample runs are given by --samples"),
    ],
)
def test_what_a_prediction_cannot_sample_is_refused(predict: Any, more: tuple[str, ...], said: str) -> None:
    code, _, err = predict(SIZED, "--sample", *more)
    assert code == 2
    assert said in err


def test_a_prediction_of_a_program_that_passes_messages_is_not_sampled(predict: Any) -> None:
    code, _, err = predict(MESSAGES, "--sample")
    assert code == 2
    assert "--sample: the program passes messages: its graph is made of traces, which need the whole run" in err
