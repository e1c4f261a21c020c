"""Parameters of runs on the command line: saved in the study, and used to predict larger sizes."""

import json
from pathlib import Path

import pytest

from scalegraph.cli.main import run
from scalegraph.store import Study

pytestmark = pytest.mark.slow

SUMS = """
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
    double sum = 0;
    for (int i = 0; i < atoi(words[1]); i++)
        sum += i;
    printf("%g %s\\n", sum, words[2]);
    return 0;
}
"""


def test_parameters_of_measured_runs_are_kept_so_that_a_study_predicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.c").write_text(SUMS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    command = ["measure", "p.c", "-p", "1", "--parameter", "n=1000,2000,4000", "--warm-up", "0", "-o", "s.sgstudy"]
    assert run([*command, "--", "{n}", "{N}"]) == 0
    with Study.open(tmp_path / "s.sgstudy") as study:
        runs = study.runs(target="host")
        assert [record.point.parameters for record in runs] == [{"n": n} for n in (1000, 2000, 4000)]
    capsys.readouterr()
    assert run(["predict", "s.sgstudy", "--at", "n=8000", "--json"]) == 0
    (predicted,) = json.loads(capsys.readouterr().out)["predictions"]
    assert predicted["parameters"] == {"n": 8000}
    assert run([*command[:5], "n=many", "--", "{n}"]) == 2
    assert "--parameter" in capsys.readouterr().err
