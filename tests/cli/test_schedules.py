"""``scalegraph schedules``: the list, and a program under several schedules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph.cli.main import main

pytestmark = pytest.mark.compiler

# The first fifth of the iterations takes nearly all the time: with a static schedule its owner has all the work.
HEAVY = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double sum = 0;
#pragma omp parallel for reduction(+:sum)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < (i < n / 5 ? 400 : 4); j++) sum += j;
  printf("%g\\n", sum);
}
"""


def run(*words: str) -> int:
    try:
        main([*words])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.fixture
def heavy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "heavy.c").write_text(HEAVY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("schedules", "--list", "--json") == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)["schedules"]}
    assert {
        "static",
        "dynamic",
        "guided",
        "ML",
        "SE",
        "EA",
        "LA",
        "CA",
        "GA",
        "HA",
        "TSS",
        "FAC2",
        "AF",
    } <= found.keys()
    assert found["EA"]["parameters"][0]["name"] == "alpha"
    assert found["EA"]["parameters"][0]["default"] == "N/P^2"
    assert run("schedules") == 0
    assert "exponentially adaptive" in capsys.readouterr().out


@pytest.mark.slow
def test_comparison_says_which_is_best_and_why(heavy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["schedules", "heavy.c", "-p", "4,8", "--machine", "ksr1", "--schedules", "ML,dynamic,static"]
    assert run(*words, "-o", "kept.sgstudy", "--", "500") == 0
    out = capsys.readouterr().out
    rows = [line.split()[0] for line in out.splitlines()[1:5]]
    assert rows[0] in ("ML", "dynamic")
    assert set(rows) == {"ML", "dynamic", "static", "as"}
    assert "less time than the program as written" in out
    assert "waiting at barriers from" in out
    assert (heavy / "kept.sgstudy").exists()


@pytest.mark.slow
def test_json(heavy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("schedules", "heavy.c", "-p", "8", "--schedules", "EA,alpha=N/P;HA", "--json", "--", "100") == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in document["schedules"]] == ["as written", "EA,alpha=N/P", "HA"]
    assert all(one["runs"][0]["status"] == "ok" for one in document["schedules"])


def test_what_there_is_not_is_named(heavy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("schedules", "heavy.c", "-p", "2", "--schedules", "ML,gided,EA") == 2
    said = capsys.readouterr().err
    assert "--schedules: there is no schedule 'gided'; did you mean 'guided'?" in said


@pytest.mark.slow
def test_automatic_tries_few_schedules_says_why_and_ends_with_the_fastest(
    heavy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run("schedules", "heavy.c", "-p", "8", "--machine", "ksr1", "--schedules", "automatic", "--json", "--", "400")
        == 0
    )
    document = json.loads(capsys.readouterr().out)
    tried = {one["name"]: one["runs"][0]["time_s"] for one in document["schedules"]}
    assert 3 <= len(tried) <= 6
    (seen,) = document["automatic"]
    assert seen["loop"] == "heavy.c:7"
    assert set(seen["names"]) <= set(tried)
    assert "would wait 7" in seen["why"]  # the first of five parts takes nearly all the time
    (advice,) = document["advice"]
    assert advice["time_s"] <= min(tried.values())
    assert advice["time_s"] < 0.9 * tried["as written"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("schedules", "heavy.c", "-p", "2", "--schedules", "automatic,ML"), "it must stand alone"),
        (("schedules", "heavy.c", "-p", "2", "--target", "host", "--schedules", "automatic"), "name a machine"),
    ],
)
def test_automatic_where_it_cannot_be(
    heavy: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert run(*words, "--", "10") == 2
    assert said in capsys.readouterr().err
