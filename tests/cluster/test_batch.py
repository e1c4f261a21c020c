"""Requests as batch jobs: written, run by scripts, collected; damaged, repeated, collected twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import InputError
from scalegraph.link.cluster import batch
from scalegraph.request import Session
from scalegraph.request.run.batches import collect
from scalegraph.store import Study
from tests.cluster.conftest import SUMS
from tests.cluster.test_orders import timeless

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
# Stands for sbatch with an array: runs every task with its number, one after another
SBATCH = """#!/bin/sh
eval last=\\${$#}
range=$(sed -n 's/^#SBATCH --array=0-//p' "$last")
for task in $(seq 0 "$range"); do SLURM_ARRAY_TASK_ID=$task SLURM_JOB_ID=7 sh "$last" || exit 1; done
"""


# Runs a command of ScaleGraph, and fails if unpickling looked up a class or function.
UNPICKLING = """
import sys
found = []
sys.addaudithook(lambda event, values: found.append(values) if event == "pickle.find_class" else None)
from scalegraph.cli.main import run
code = run(sys.argv[1:])
sys.exit(str(found) if found else code)
"""


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    (tmp_path / "sums.c").write_text(SUMS)
    path = tmp_path / "r.toml"
    path.write_text(
        'processors = [1, 2, 4]\n[program]\nsources = ["sums.c"]\nargs = ["{n}"]\n[parameters]\nn = [8, 16]\n'
        '[machine]\nname = "ksr1"\n'
    )
    return path


def test_jobs_are_written_run_by_an_array_of_slurm_and_collected(call: Any, request_file: Path, tmp_path: Path) -> None:
    jobs, study = tmp_path / "jobs", tmp_path / "r.sgstudy"
    code, out, _err = call("run", request_file, "--write-jobs", jobs, "--set", "workers=2", "--set", "partition=night")
    assert code == 0
    assert out.startswith(f"6 runs written into {jobs}\n")
    assert "#SBATCH --partition=night\n" in (jobs / "slurm.sh").read_text()
    assert "#PBS -J 0-1\n" in (jobs / "pbs.sh").read_text()
    assert call("collect", jobs) == (0, f"0 runs collected into {study}, 6 not run yet\n", "")

    fake = tmp_path / "sbatch"
    fake.write_text(SBATCH)
    subprocess.run(["/bin/sh", str(fake), str(jobs / "slurm.sh")], check=True, stdin=subprocess.DEVNULL)
    command = [sys.executable, "-c", UNPICKLING, "collect", str(jobs), "--json"]
    collected = subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert json.loads(collected.stdout) == {
        "study": str(study),
        "collected": 6,
        "known": 0,
        "missing": 0,
        "failures": [],
    }
    assert call("collect", jobs) == (0, f"0 runs collected into {study}, 6 already there\n", "")
    code, out, _err = call("run", request_file, "--write-jobs", jobs)
    assert out == f"nothing to write: {study} has every run of this request\n"
    session = Session()
    with session.submit(session.load(request_file), None) as here, Study.open(study) as there:
        mine = {run.point.key: timeless(run) for run in here.runs(output=True)}
        assert {run.point.key: timeless(run) for run in there.runs(output=True)} == mine


# An array of batch jobs as Grid Engine starts it; there a job outside an array has no task number.
QSUB = """
array=$(sed -n 's/^#\\$ -t 1-//p' "$1")
for task in $(seq ${array:-1}); do
    SGE_TASK_ID=${array:+$task} sh "$1"
done
"""


def test_jobs_are_run_by_an_array_of_grid_engine(call: Any, request_file: Path, tmp_path: Path) -> None:
    """Arrays of PBS count from 0; with its script, half of the runs were once missing."""
    jobs = tmp_path / "jobs"
    settings = ("workers=2", "cores=2", "account=me", "walltime=00:10:00")
    words = [word for setting in settings for word in ("--set", setting)]
    out = call("run", request_file, "--write-jobs", jobs, *words)[1]
    assert str(jobs / "sge.sh") in out
    text = (jobs / "sge.sh").read_text()
    assert "#$ -t 1-2\n#$ -pe smp 2\n#$ -l mem_free=2G\n#$ -l h_rt=00:10:00\n" in text
    assert "#$ -P me\n" in text
    (tmp_path / "qsub").write_text(QSUB)
    subprocess.run(["/bin/sh", str(tmp_path / "qsub"), str(jobs / "sge.sh")], check=True, stdin=subprocess.DEVNULL)
    assert call("collect", jobs)[1].startswith("6 runs collected")


@pytest.mark.parametrize("variable", ["PBS_ARRAY_INDEX", "PBS_ARRAYID", "SLURM_ARRAY_TASK_ID"])
def test_jobs_for_pbs_know_their_number_as_each_system_says_it(
    variable: str, call: Any, request_file: Path, tmp_path: Path
) -> None:
    """PBS, Torque, and Slurm with commands named like those of PBS, where both jobs once did the same share."""
    jobs = tmp_path / "jobs"
    call("run", request_file, "--write-jobs", jobs, "--set", "workers=2", "--set", "python=/bin/echo")
    env = {"PATH": os.environ["PATH"], variable: "1"}
    ran = subprocess.run(["/bin/sh", str(jobs / "pbs.sh")], check=True, env=env, capture_output=True, text=True)
    assert " --task 1 --of 2 " in ran.stdout


def test_a_search_is_written_size_by_size(call: Any, request_file: Path, tmp_path: Path) -> None:
    """The sizes of a search depend on results: each round writes the next runs, until no more are needed."""
    text = request_file.read_text().replace("[1, 2, 4]", "[1, 2]").replace("n = [8, 16]", "n = 400")
    request_file.write_text(text + '[scaling]\ngrow = { n = "N" }\n[[bound]]\nkind = "efficiency"\nvalue = 0.3\n')
    jobs = tmp_path / "jobs"
    rounds = 0
    while call("run", request_file, "--write-jobs", jobs)[1].startswith("nothing") is False:
        assert batch.main([str(jobs)]) == 0
        assert call("collect", jobs)[0] == 0
        rounds += 1
        assert rounds < 20
    assert rounds > 1
    with Study.open(tmp_path / "r.sgstudy") as study:
        assert study.facts("searches")[0]["processors"] == 2


def test_a_damaged_answer_is_a_failure_and_its_run_is_repeated(call: Any, request_file: Path, tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    call("run", request_file, "--write-jobs", jobs)
    assert batch.main([str(jobs), "-j", "2"]) == 0
    found = sorted((jobs / "answers").iterdir())
    two = found[1].read_bytes()
    found[0].write_bytes(two)  # the answer to another order
    found[1].write_bytes(b"")
    code, out, err = call("collect", jobs)
    assert code == 1
    assert out.startswith("4 runs collected")
    assert "its run is" in err
    assert "is cut off" in err
    assert batch.main([str(jobs)]) == 0
    assert found[0].read_bytes() not in (two, b"")  # its own run's answer again
    assert call("collect", jobs)[1].startswith("2 runs collected")


def test_jobs_of_another_program_or_none_are_refused(call: Any, request_file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no jobs"):
        collect(tmp_path, None)
    jobs = tmp_path / "jobs"
    call("run", request_file, "--write-jobs", jobs)
    request_file.write_text(request_file.read_text().replace("ksr1", "mesh-manycore"))
    call("run", request_file, "--write-jobs", tmp_path / "others", "-o", tmp_path / "o.sgstudy")
    code, _out, err = call("collect", jobs, "-o", tmp_path / "o.sgstudy")
    assert (code, "holds runs of another program, machine or arguments" in err) == (2, True)
    order = next((jobs / "orders").iterdir())
    order.write_bytes(order.read_bytes() + b" ")
    code, _out, err = call("collect", jobs)
    assert (code, "is damaged: its SHA-256 is not its name" in err) == (2, True)
    (jobs / "jobs.json").write_text("{}")
    code, _out, err = call("collect", jobs)
    assert (code, "is damaged: study: Field required" in err) == (2, True)


def test_options_that_do_not_go_together_are_one_sentence(call: Any, request_file: Path, tmp_path: Path) -> None:
    assert "--on ADDRESS was expected" in call("run", request_file, "--set", "workers=2")[2]
    both = call("run", request_file, "--on", "local:2", "--write-jobs", tmp_path / "jobs")
    assert (both[0], "one of them was expected" in both[2]) == (2, True)
    assert "did you mean 'slurm'" in call("run", request_file, "--on", "slurn:")[2]
