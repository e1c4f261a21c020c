"""Options with several values, and the document of a study of several choices."""

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import InputError
from scalegraph.cli.simulating import lists
from scalegraph.link import loops

SUM = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    double sum = 0, all = 0;
    MPI_Init(&argc, &argv);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 400; i++)
        sum += i;
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("static", ("static",)),
        ("dynamic,4", ("dynamic,4",)),
        ("static,dynamic,guided", ("static", "dynamic", "guided")),
        ("dynamic,4,EA,alpha=N/P,static", ("dynamic,4", "EA,alpha=N/P", "static")),
        ("runtime=guided,runtime=dynamic", ("runtime=guided", "runtime=dynamic")),
        ("a.c:3=ML,size=2,static", ("a.c:3=ML,size=2", "static")),
        ("mine.c,size=8,static,static", ("mine.c,size=8", "static")),
    ],
)
def test_a_chunk_or_parameter_belongs_to_the_schedule_in_front(text: str, found: tuple[str, ...]) -> None:
    assert loops.alternatives(text) == found


def test_options_of_schedules_combine() -> None:
    assert lists.schedules(("static,dynamic", "a.c:3=ML")) == ("static;a.c:3=ML", "dynamic;a.c:3=ML")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"program_threads_per_process": "1,"}, "--threads-per-process: '1,': a value is missing"),
        ({"schedule": ("static,,dynamic",)}, "--schedule: 'static,,dynamic': a value is missing"),
        ({"schedule": ("static,dinamic",)}, "did you mean 'dynamic'"),
        ({"target_pin": "close,far"}, "'far' is not an affinity"),
    ],
)
def test_what_is_no_value_is_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        lists.axes((), given)
    assert said in str(refused.value)


def test_a_value_that_is_named_twice_counts_once() -> None:
    given = {"program_threads_per_process": "4,1,4", "schedule": ("static,static",), "target_pin": "first,close"}
    found = lists.axes(lists.items("--machine", "ksr1,cm5, ksr1"), given)
    assert found == lists.Axes(("ksr1", "cm5"), (4, 1), ("static",), ("close",))


@pytest.mark.parametrize("text", ["ksr1,,cm5", "ksr1,", ",", " "])
def test_a_machine_that_is_missing_in_a_list_is_said(text: str) -> None:
    with pytest.raises(InputError, match=r"--machine: '.*': a value is missing next to a comma"):
        lists.items("--machine", text)


@pytest.mark.slow
@pytest.mark.compiler
def test_each_run_names_machine_split_and_schedule(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sum.c").write_text(SUM)
    words = ("--machine", "xeon-6126,a64fx", "--threads-per-process", "1,4", "--schedule", "static,dynamic,8")
    code, out, err = call("simulate", "sum.c", *words, "-p", "4,48", "--json", "-o", "s.sgstudy")
    assert code == 0, err
    found = json.loads(out)
    names = ("machine", "processors", "processes", "threads_per_process", "schedule")
    assert [tuple(run[name] for name in names) for run in found["runs"]] == [
        *(("xeon-6126", 4, 4 // t, t, s) for t in (1, 4) for s in ("static", "dynamic,8")),
        *(("a64fx", n, n // t, t, s) for t in (1, 4) for s in ("static", "dynamic,8") for n in (4, 48)),
    ]
    assert all(run["efficiency"] and run["time_s"] for run in found["runs"])
    assert len(found["left_out"]) == 4
    assert "left out: machine 'xeon-6126' has 1 to 24 processors" in err
    code, out, err = call("analyze", "s.sgstudy", "--what", "efficiency", "--select", "machine=a64fx", "--json")
    assert (code, "has runs of 4 choices" in err) == (0, True)
    assert call("analyze", "s.sgstudy", "--what", "efficiency", "--select", "machine=cm5")[0] == 2
    assert call("simulate", "sum.c", "--machine", "a64fx,a64fy", "-p", "4")[0] == 2


@pytest.mark.slow
@pytest.mark.compiler
def test_a_search_under_a_bound_says_what_it_left_out(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sum.c").write_text(SUM)
    words = ("--machine", "xeon-6126,a64fx", "--threads-per-process", "1,2,4", "-p", "4,8", "--budget", "5")
    code, out, err = call("simulate", "sum.c", *words, "--json", "-o", "s.sgstudy")
    assert code == 0, err
    found = json.loads(out)
    assert (len(found["runs"]), found["search"]["left_out"], found["search"]["points"]) == (5, 7, 12)
    assert "5 runs of a space of 12 points, in search of the least time: 7 were left out; the risk" in err
    code, out, _ = call("choose", "s.sgstudy", "--json")
    assert (code, json.loads(out)["points"]) == (0, 5)
    assert "7 were left out" in json.loads(out)["remarks"][0]
    code, out, _ = call("simulate", "sum.c", *words[:-1], "100", "--json", "-o", "s.sgstudy")
    assert (code, len(json.loads(out)["runs"])) == (0, 12)
    code, _, err = call("simulate", "sum.c", *words[:-1], "0")
    assert (code, "2 runs or more were expected" in err) == (2, True)
