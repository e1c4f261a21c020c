"""``scalegraph measure --command``: any command over N, without a build."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.run import RunRecord
from scalegraph.store import Study

pytestmark = pytest.mark.slow

# prints the time by Amdahl's law with a fifth serial, and small known deviations
AMDAHL = """
import sys
n, k = int(sys.argv[1]), len(open(sys.argv[2], "a+").read()) if len(sys.argv) > 2 else 0
print("Elapsed:", 1000 * (0.2 + 0.8 / n) * (1 + 0.002 * (n % 3 - 1)), "ms")
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "amdahl.py").write_text(AMDAHL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def measured(call: Any, *more: str) -> dict[str, Any]:
    code, out, err = call("measure", "--json", "--warm-up", "0", *more)
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_command_is_measured_over_n_without_a_build(call: Any, place: Path) -> None:
    found = measured(call, "--command", "sleep 0.0{N}", "-p", "1,2", "--repeat", "3")
    assert [run["processors"] for run in found["runs"]] == [1, 2]
    for run in found["runs"]:
        assert (run["kind"], run["status"], run["exit_code"], run["repetitions"]) == ("measured", "ok", 0, 3)
        assert 0.01 <= run["low_s"] <= run["time_s"] <= run["high_s"]
        assert len(run["times_s"]) == 3
        assert run["processor_time_s"] < run["time_s"] + 0.1
        assert run["work_ops"] is None
    assert found["runs"][0]["speedup"] == 1
    assert not list(place.glob("*.o"))


def test_the_share_of_amdahl_is_found_within_its_interval(call: Any, place: Path) -> None:
    command = f"{sys.executable} amdahl.py {{N}}"
    code, _out, err = call(
        "measure",
        "--command",
        command,
        "-p",
        "1,2,4,8",
        "--time-from",
        r"Elapsed: (\S+) ms",
        "-o",
        "a.sgstudy",
        "--warm-up",
        "0",
    )
    assert code == 0, err
    rows = json.loads(call("analyze", "a.sgstudy", "--what", "laws", "--json")[1])["rows"]
    share = next(row for row in rows if (row["law"], row["number"]) == ("amdahl", "s"))
    assert share["low"] <= 0.2 <= share["high"]
    assert share["value"] == pytest.approx(0.2, abs=0.01)
    assert share["best"]


def test_a_script_in_place_of_sources_is_a_command(call: Any, place: Path) -> None:
    (place / "run.sh").write_text("#!/bin/sh\necho $1 {kept} $OMP_NUM_THREADS $X\n")
    (place / "run.sh").chmod(0o755)
    found = measured(call, "./run.sh", "-p", "2", "--no-reference", "--env", "X={threads}", "--", "{N}")
    assert found["runs"][0]["stdout"] == "2 {kept} 2\n"
    found = measured(call, sys.executable, "-p", "1", "--", "-c", "print('{processes} {nodes}')")
    assert found["runs"][0]["stdout"] == "1 1\n"


def test_a_program_that_names_no_n_gets_its_threads_by_openmp_and_a_remark(call: Any, place: Path) -> None:
    code, out, err = call("measure", "--command", "printenv OMP_NUM_THREADS", "-p", "3", "--no-reference", "--json")
    assert code == 0
    assert json.loads(out)["runs"][0]["stdout"] == "3\n"
    assert "neither the command nor its environment names {N}" in err


def test_a_shell_runs_a_command_only_where_it_is_asked_for(call: Any, place: Path) -> None:
    assert measured(call, "--command", "echo a | cat", "-p", "1")["runs"][0]["stdout"] == "a | cat\n"
    assert measured(call, "--command", "echo a | cat", "--shell", "-p", "1")["runs"][0]["stdout"] == "a\n"


def test_weak_scaling_grows_a_parameter_and_searches_hold_an_efficiency(call: Any, place: Path) -> None:
    command = f"{sys.executable} -c \"print('took', {{n}} / {{N}} + 10 * ({{N}} - 1), 'ms')\""
    more = ("--command", command, "-p", "1,2", "--time-from", r"took (\S+) ms")
    grown = measured(call, *more, "--grow", "n=100*N")
    assert [(run["processors"], run["parameters"]["n"]) for run in grown["runs"]] == [(1, 100), (1, 200), (2, 200)]
    assert grown["runs"][2]["time_s"] == pytest.approx(0.11)
    held = measured(call, *more, "--grow", "n=10*N", "--hold", "efficiency=0.8")["searches"]
    assert held[0]["processors"] == 2
    assert held[0]["got"] == pytest.approx(0.8, rel=0.04)  # n / (n + 20 (N - 1)): n is about 80
    assert held[0]["parameters"]["n"] == pytest.approx(80, rel=0.2)


@pytest.mark.parametrize(
    "option",
    ["--verify", "--work=ops", "--budget=5", "--minimise=time", "--trace=calls", "--trace-runs=all", "--args-at=1=x"],
)
def test_no_option_of_a_built_program_is_ignored_with_a_command(option: str, call: Any, place: Path) -> None:
    code, out, err = call("measure", "--command", "true", "-p", "1", option)
    assert (code, out) == (2, "")
    assert f"{option.partition('=')[0]}: applies only to programs that ScaleGraph builds" in err


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--command", "nosuchprogram {N}"), "'nosuchprogram': no such program in PATH"),
        (("--command", "./amdahl.py"), "'./amdahl.py' is not executable"),
        (("--command", "./missing"), "'./missing': no such file"),
        (("--command", "echo {M}"), "'{M}' stands for nothing"),
        (("--command", "echo 'x"), "cannot be split into words"),
        (("--command", "true", "--cflags=-O3"), "--cflags: applies only to programs that ScaleGraph builds"),
        (("--command", "true", "--time-from", "x"), "has no group around the number"),
        (("--command", "true", "--time-from", "(x)", "--rate-from", "(x)"), "exclude each other"),
        (("--command", "true", "--grow", "n=N-1"), "a value above 0 was expected"),
        (("--command", "true", "--grow", "2=N"), "--grow: string should match pattern"),
        (("--command", ""), "--command: it is empty"),
        (("--command", "true", "--hold", "efficiency=0.5"), "searches sizes along --grow"),
        (("--command", "true", "--hold", "speed=0.5", "--grow", "n=N"), "holds nothing that is known"),
        (("--command", "true", "--env", "X={m}"), "'{m}' stands for nothing"),
        (("--shell",), "add --command"),
        (("--command", "true", "--schedule", "static"), "a command is measured as it is"),
        (("--command", "true", "--target", "simulated"), "a command is measured"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(
    more: tuple[str, ...], sentence: str, call: Any, place: Path
) -> None:
    code, out, err = call("measure", *more, "-p", "1")
    assert code == 2, err
    assert sentence in err
    assert not out


def test_a_command_that_fails_is_a_failed_run(call: Any, place: Path) -> None:
    code, out, _err = call("measure", "--command", "ls nothing{N}", "-p", "1", "--no-reference")
    assert code == 1
    assert "exit code 2" in out
    code, out, _err = call("measure", "--command", "sh -c 'exit 3'", "-p", "1", "--accept-exit", "3", "--json")
    assert code == 0
    assert json.loads(out)["runs"][0]["exit_code"] == 3


def test_a_study_is_completed_and_another_command_refused(call: Any, place: Path) -> None:
    arguments = ("measure", "--warm-up", "0", "-o", "s.sgstudy", "--command")
    assert call(*arguments, "true {N}", "-p", "1,2", "--repeat", "2")[0] == 0
    code, _out, err = call(*arguments, "true {N}", "-p", "1,2,3", "--repeat", "2")
    assert code == 0
    assert err.count("already in the study") == 4
    code, _out, err = call(*arguments, "true x{N}", "-p", "1")
    assert code == 2
    assert "runs that cannot be compared are not mixed" in err
    with Study.open(place / "s.sgstudy") as study:
        assert len(study) == 6
        runs: list[RunRecord] = study.runs(target="host")
        assert all(run.usage is not None and run.usage.started for run in runs)


def test_a_request_file_with_a_command_asks_for_consent_with_the_command_shown(call: Any, place: Path) -> None:
    request = place / "r.toml"
    request.write_text('processors = [1]\n[program]\ncommand = "touch made{N}"\n[target]\nname = "host"\n')
    code, _out, err = call("run", request)
    assert code == 2
    assert "command: touch 'made{N}'" in err
    assert not (place / "made1").exists()
    assert call("run", request, "--trust")[0] == 0
    assert (place / "made1").exists()


def test_a_measured_study_is_asserted_compared_and_reported(call: Any, place: Path) -> None:
    command = ("measure", "--command", f"{sys.executable} amdahl.py {{N}}", "--time-from", r"Elapsed: (\S+)")
    arguments = (*command, "-p", "1,2,4", "-o", "a.sgstudy", "--warm-up", "0")
    assert call(*arguments, "--assert", "E(4) > 0.6")[0] == 0
    assert call(*arguments, "--assert", "E(4) > 0.9")[0] == 1
    assert call(*command, "-p", "1,2,4", "--parameter", "n=3", "-o", "b.sgstudy")[0] == 0
    code, out, err = call("compare", "a.sgstudy", "b.sgstudy")
    assert code == 0, err
    assert out
