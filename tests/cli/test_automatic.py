"""Automatic schedules of `simulate` and requests: chosen from the measured iterations, and run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import main

pytestmark = [pytest.mark.compiler, pytest.mark.slow]

TRIANGLE = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100;
    double *a = calloc(n, sizeof *a), sum = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 10 * i; j++)
            a[i] += 1.0 / (1 + j);
    for (int i = 0; i < n; i++)
        sum += a[i];
    printf("%.6f\\n", sum);
    return 0;
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory with a program whose last thread has most of the work."""
    monkeypatch.chdir(tmp_path)
    Path("tri.c").write_text(TRIANGLE)
    return tmp_path


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(here: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command: exit code, output, and messages."""

    def made(*words: str) -> tuple[int, str, str]:
        code = 0
        try:
            main([*words])
        except SystemExit as ended:
            code = int(ended.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return made


def simulated(run: Run, *words: str) -> dict[str, Any]:
    """Return the document of `simulate` for the program with *words*."""
    code, out, err = run("simulate", "tri.c", "--machine", "epyc-7763", "--json", *words, "--", "240")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_simulate_chooses_a_schedule_for_each_count_and_runs_it_there(run: Run) -> None:
    """The chosen schedule is faster than the program as written, and gives the same result as when named."""
    document = simulated(run, "--schedule", "automatic", "-p", "4,8", "-o", "a.sgstudy")
    runs = {one["processors"]: one for one in document["runs"]}
    found = {one["processors"]: one for one in document["automatic"]}
    assert set(runs) == set(found) == {4, 8}
    assert "what_if" not in document
    for count, one in runs.items():
        assert one["automatic"]
        assert one["schedule"] == found[count]["schedule"]
        assert one["time_s"] == found[count]["time_s"] == min(found[count]["tried_s"].values())
        assert one["time_s"] < 0.8 * found[count]["written_s"]
    itself = simulated(run, "--schedule", runs[8]["schedule"], "-p", "8")["runs"][-1]
    assert itself["time_s"] == runs[8]["time_s"]
    code, out, _err = run("choose", "a.sgstudy", "--json")
    choice = json.loads(out)["choice"]
    assert code == 0
    assert (choice["schedule"], choice["automatic"]) == (runs[8]["schedule"], True)
    again = run(
        "simulate",
        "tri.c",
        "--machine",
        "epyc-7763",
        "--schedule",
        "automatic",
        "-p",
        "4,8",
        "-o",
        "a.sgstudy",
        "--",
        "240",
    )
    assert again[0] == 0
    assert again[2].count("already in the study") == 3  # nothing is tried again
    assert "N = 8: schedule" in again[1]
    assert "less time than as written" in again[1]


def test_a_request_file_takes_automatic_beside_other_schedules(run: Run) -> None:
    """The automatic choice is no slower than any other in the space."""
    Path("r.toml").write_text(
        'processors = [4]\n[program]\nsources = ["tri.c"]\nargs = ["240"]\n[machine]\nname = "epyc-7763"\n'
        '[space]\nschedule = ["", "static", "automatic"]\n'
    )
    code, out, err = run("run", "r.toml", "-o", "r.sgstudy", "--json", "--trust")
    assert code == 0, err
    runs = [one for one in json.loads(out)["runs"] if one["processors"] == 4]
    times = {("automatic" if one.get("automatic") else one["schedule"]): one["time_s"] for one in runs}
    assert set(times) == {None, "static", "automatic"}
    assert times["automatic"] == min(times.values()) < 0.8 * times["static"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("measure", "tri.c", "--schedule", "automatic", "-p", "2"), "chosen from simulated runs"),
        (("simulate", "tri.c", "--schedule", "tri.c:8=automatic", "-p", "2"), "it must stand alone"),
        (("simulate", "tri.c", "--schedule", "automatic,static", "--budget", "4", "-p", "2,4,8"), "leave the bound"),
    ],
)
def test_where_nothing_can_be_chosen_a_sentence_says_so(run: Run, words: tuple[str, ...], said: str) -> None:
    """The exit code is 2, and nothing was built."""
    code, _out, err = run(*words)
    assert code == 2
    assert said in err
    assert "building" not in err


def test_measured_loops_that_say_nothing_run_under_any_schedule(run: Run) -> None:
    """Static loops call the library of schedules; the result is unchanged."""
    code, out, err = run("measure", "tri.c", "--schedule", "static,dynamic,EA", "-p", "1,2", "--json", "--", "120")
    assert code == 0, err
    runs = json.loads(out)["runs"]
    assert [(one["schedule"], one["processors"]) for one in runs] == [
        (name, count) for name in ("static", "dynamic", "EA") for count in (1, 2)
    ]
    assert len({one["stdout"] for one in runs}) == 1
    code, _out, err = run("measure", "tri.c", "--schedule", "tri.c:8=dynamic", "-p", "2")
    assert (code, "building" in err) == (2, False)
    assert "one schedule for all loops" in err
