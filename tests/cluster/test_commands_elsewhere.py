"""Unmodified commands measured on Slurm nodes, over ssh and on workers; scripts stand in for salloc and srun."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

SALLOC = r"""
echo "salloc $*" >> PLACE/said
while [ "${1#--}" != "$1" ]; do shift; done
export SLURM_JOB_ID=7 SLURM_JOB_NODELIST=node1 SLURM_JOB_NUM_NODES=1
echo "salloc: Granted job allocation 7" >&2
"$@"
echo "given back" >> PLACE/said
"""
SRUN = 'echo "srun $*" >> PLACE/said\nwhile [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"\n'
SSH = 'echo "ssh $*" >> PLACE/said\nwhile [ "$1" = -o ]; do shift 2; done\nshift\nexec sh -c "$*"\n'
MPIRUN = 'echo "ranks $2 in job $SLURM_JOB_ID"\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("salloc", SALLOC), ("srun", SRUN), ("ssh", SSH), ("mpirun", MPIRUN)):
        (tmp_path / name).write_text("#!/bin/sh\n" + text.replace("PLACE", str(tmp_path)))
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def measured(call: Callable[..., tuple[int, str, str]], place: Path) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that measures a command and returns its runs."""

    def run(command: str, *more: str) -> list[dict[str, Any]]:
        code, out, err = call("measure", "--command", command, "--json", "--warm-up", "0", *more)
        assert code == 0, f"{out}{err}"
        found: list[dict[str, Any]] = json.loads(out)["runs"]
        return found

    return run


def test_each_n_has_a_batch_job_with_the_tasks_of_n(measured: Callable[..., list[dict[str, Any]]], place: Path) -> None:
    runs = measured("mpirun -np {N}", "-p", "1,2", "--repeat", "2", "--target", "slurm", "--target-set", "nodes=2")
    assert [run["stdout"] for run in runs] == ["ranks 1 in job 7\n", "ranks 2 in job 7\n"]
    said = (place / "said").read_text().splitlines()
    jobs = sorted(line for line in said if line.startswith("salloc"))
    assert len(jobs) == 2
    assert "--ntasks=1 --cpus-per-task=1 --nodes=1 --ntasks-per-node=1 " in jobs[0]
    assert "--ntasks=2 --cpus-per-task=1 --nodes=2 --ntasks-per-node=1 " in jobs[1]
    assert said.count("given back") == 2
    for run in runs:
        assert run["queue_s"] >= 0
        assert run["processor_time_s"] is None  # unknown for processes on other nodes


def test_all_runs_may_share_one_batch_job(measured: Callable[..., list[dict[str, Any]]], place: Path) -> None:
    runs = measured("mpirun -np {N}", "-p", "1,2", "--target", "slurm", "--target-set", "allocation=one")
    said = (place / "said").read_text().splitlines()
    (job,) = [line for line in said if line.startswith("salloc")]
    assert job.startswith("salloc --kill-command=TERM --ntasks=2 ")
    assert sorted(run["queue_s"] > 0 for run in runs) == [False, True]


def test_a_command_of_threads_runs_on_the_node(measured: Callable[..., list[dict[str, Any]]], place: Path) -> None:
    (run,) = measured("echo {threads}", "-p", "2", "--no-reference", "--target", "slurm")
    assert run["stdout"] == "2\n"
    assert run["processor_time_s"] is not None
    assert (
        "srun --quiet --jobid=7 --nodes=1 --ntasks=1 --cpu-bind=none --cpus-per-task=2 " in (place / "said").read_text()
    )


def test_no_nodes_are_a_sentence(call: Callable[..., tuple[int, str, str]], place: Path) -> None:
    (place / "salloc").write_text("#!/bin/sh\necho 'salloc: error: invalid partition specified: x' >&2; exit 1\n")
    code, _out, err = call("measure", "--command", "mpirun -np {N}", "-p", "1", "--target", "slurm")
    assert code == 1
    assert "the run gets no nodes: salloc: error: invalid partition specified: x" in err
    code, _out, err = call(
        "measure", "--command", "true", "-p", "1", "--target", "slurm", "--target-set", "allocation=some"
    )
    assert "'some' is not an allocation" in err
    assert code != 0


def test_a_command_runs_on_the_host_that_ssh_reaches(
    measured: Callable[..., list[dict[str, Any]]], place: Path
) -> None:
    (run,) = measured(
        "printenv PWD X", "-p", "3", "--no-reference", "--env", "X={N}", "--target", "ssh", "--target-set", "host=node7"
    )
    assert run["stdout"].splitlines()[-1] == "3"
    assert run["peak_memory_bytes"] is None or run["peak_memory_bytes"] > 0
    assert " node7 " in (place / "said").read_text()


def test_workers_measure_commands(call: Callable[..., tuple[int, str, str]], site: str, tmp_path: Path) -> None:
    study = tmp_path / "s.sgstudy"
    code, out, err = call("measure", "--command", "echo {N}", "-p", "1,2", "--on", site, "-o", study, "--json")
    assert code == 0, err
    runs = json.loads(out)["runs"]
    assert [run["stdout"] for run in runs] == ["1\n", "2\n"]
    assert {run["kind"] for run in runs} == {"measured"}
