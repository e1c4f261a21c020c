"""The input of a program: redirected standard input, arguments by N, our environment variables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.cli.main import run as scalegraph
from scalegraph.cli.pairs import pairs
from scalegraph.request.model.programs import balanced_factors, fill, verbatim
from scalegraph.runtime.mpi import rules

LINES = """#include <stdio.h>
int main(void)
{
    int lines = 0, c;
    while ((c = getchar()) != EOF)
        lines += c == '\\n';
    printf("lines %d\\n", lines);
}
"""


def simulate(
    directory: Path, *arguments: str, command: str = "simulate", **given: object
) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "scalegraph.cli.main", command, *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        words, cwd=directory, env=environment, capture_output=True, text=True, check=False, timeout=200, **given
    )


@pytest.mark.slow
@pytest.mark.compiler
def test_redirected_input_reaches_every_run(tmp_path: Path) -> None:
    (tmp_path / "lines.c").write_text(LINES)
    (tmp_path / "input").write_text("a\nb\nc\n")
    piped = simulate(tmp_path, "lines.c", "-p", "1,2", "--json", input="a\nb\n")
    assert [row["stdout"] for row in json.loads(piped.stdout)["runs"]] == ["lines 2\n", "lines 2\n"]
    with (tmp_path / "input").open() as file:
        named = simulate(tmp_path, "lines.c", "-p", "1", "--json", stdin=file)
    assert json.loads(named.stdout)["runs"][0]["stdout"] == "lines 3\n"
    (tmp_path / "two.c").write_text(LINES.replace('printf("lines %d\\n", lines)', "return lines != 2"))
    (tmp_path / "r.toml").write_text('processors = [1, 2]\n[program]\nsources = ["two.c"]\n')
    requested = simulate(tmp_path, "r.toml", "--json", "--trust", command="run", input="a\nb\n")
    assert (requested.returncode, requested.stderr.count("exit code")) == (0, 0), requested.stderr


@pytest.mark.parametrize(
    ("count", "dimensions", "sides"),
    [(1, 2, (1, 1)), (12, 2, (4, 3)), (16, 3, (4, 2, 2)), (7, 2, (7, 1)), (64, 3, (4, 4, 4)), (24, 1, (24,))],
)
def test_sides_of_a_grid_are_as_near_as_can_be(count: int, dimensions: int, sides: tuple[int, ...]) -> None:
    assert balanced_factors(count, dimensions) == sides


def test_arguments_name_as_many_sides_as_they_want() -> None:
    words = verbatim(("-P", "{px}x{py}", "{other}", "{N}"))
    assert fill(words, {}, 16, 8) == ("-P", "4x2", "{other}", "16")
    assert fill(("{px}", "{py}", "{pz}"), {}, 8) == ("2", "2", "2")


@pytest.mark.slow
@pytest.mark.compiler
def test_a_process_grid_by_arguments_is_one_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("echo.c").write_text("#include <stdio.h>\nint main(int c, char **v) { puts(v[1]); return c != 3; }\n")
    words = ["simulate", "echo.c", "-p", "1,4,6", "--json", "--args-at", "4=four 'of them'", "--", "{px}", "{py}"]
    assert scalegraph(words) == 0
    found = json.loads(capsys.readouterr().out)["runs"]
    assert [row["stdout"] for row in found] == ["1\n", "four\n", "3\n"]
    assert scalegraph(["simulate", "echo.c", "-p", "4", "--args-at", "8=x y"]) == 2
    assert "arguments for N = 8" in capsys.readouterr().err


def test_an_option_with_a_key_takes_one_value_for_it() -> None:
    assert pairs("--env", ["A=1", "B=x=y", "A=1"]) == {"A": "1", "B": "x=y"}
    assert pairs("--as", ["a=b=seconds"], last=True) == {"a=b": "seconds"}
    with pytest.raises(InputError) as caught:
        pairs("--args-at", ["2=a", "2=b", "3", "=c"])
    assert [fault.message for fault in caught.value.faults] == [
        "'2' was given twice, as 'a' and as 'b'",
        "'3': expected KEY=VALUE",
        "'=c': what stands before the '=' is missing; expected KEY=VALUE",
    ]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("allreduce=nonsense", "allreduce has no such algorithm; it has doubling, rabenseifner, ring"),
        ("alreduce=ring", "did you mean 'allreduce'?"),
        ("ring", "expected OPERATION=ALGORITHM"),
    ],
)
def test_rules_that_do_not_exist_are_refused_with_those_that_do(
    value: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.c").write_text("int main(void) { return 0; }\n")
    assert scalegraph(["simulate", "p.c", "-p", "1", "--env", f"SCALEGRAPH_MPI_RULE={value}"]) == 2
    assert said in capsys.readouterr().err
    assert scalegraph(["simulate", "p.c", "-p", "1", "--env", "SCALEGRAPH_MPI_RULES=x"]) == 2
    assert "did you mean 'SCALEGRAPH_MPI_RULE'?" in capsys.readouterr().err


def test_the_rules_that_there_are_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert scalegraph(["explain", "SCALEGRAPH_MPI_RULE"]) == 0
    assert "bcast=binomial|scatter-doubling|scatter-ring" in capsys.readouterr().out
    assert rules.faults("allreduce=ring,bcast=binomial,barrier=dissemination,scan=doubling") == []
