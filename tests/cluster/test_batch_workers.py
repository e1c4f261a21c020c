"""Batch jobs as workers: lost jobs are replaced; if jobs never begin, the request ends."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scalegraph.base.errors import LinkLost
from scalegraph.base.run import RunPoint
from scalegraph.link import Build, Job, Simulated
from scalegraph.link.cluster import batch_workers
from scalegraph.link.cluster.engine import Cluster
from scalegraph.link.cluster.places import parse
from scalegraph.machine import Machine


class Site:
    """The part of a dask-jobqueue cluster that `keep` uses; its jobs begin as soon as they are submitted.

    *story*: for each reading of the list of batch jobs, the numbers of the jobs that ended; the last ends the test.
    """

    def __init__(self, number: int, story: list[set[int]], begins: bool = True) -> None:
        self.story, self.begins, self.number, self.submitted = story, begins, number, 0
        self.workers: dict[str, Any] = {}
        self.scheduler_info: dict[str, Any] = {"workers": {}}
        self.live: set[str] = set()
        self.scale(number)

    def scale(self, jobs: int) -> None:
        while len(self.workers) < jobs:
            self.submitted += 1
            name, number = f"w{self.submitted}", str(self.submitted)
            self.workers[name] = SimpleNamespace(job_id=number)
            self.live.add(number)
            if self.begins:
                self.scheduler_info["workers"][number] = {"name": name}

    def __await__(self) -> Generator[None, None, None]:
        yield from asyncio.sleep(0).__await__()

    def pass_time(self) -> None:
        if not self.story:
            raise TimeoutError("the end of the story")
        for number in map(str, self.story.pop(0)):
            self.live.discard(number)
            self.scheduler_info["workers"].pop(number, None)


def keep(site: Site, monkeypatch: pytest.MonkeyPatch, *settings: str) -> str:
    """Return what `keep` returns; raise `TimeoutError` if it is still running at the end of the story."""
    turns = 0

    async def sleep(_seconds: float) -> None:
        nonlocal turns
        turns += 1
        if turns % batch_workers._EVERY == 0:
            site.pass_time()

    monkeypatch.setattr(batch_workers.asyncio, "sleep", sleep)
    monkeypatch.setattr(batch_workers, "living", lambda _kind: set(site.live))
    return asyncio.run(batch_workers.keep(site, parse("slurm:", settings), site.number))


def test_batch_jobs_whose_time_is_over_are_submitted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(2, [set(), {1}, {2, 3}, set()])
    with pytest.raises(TimeoutError):
        keep(site, monkeypatch)
    assert site.submitted == 5
    assert site.live == {"4", "5"}


def test_batch_jobs_that_wait_in_the_queue_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(3, [set()] * 5, begins=False)
    with pytest.raises(TimeoutError):
        keep(site, monkeypatch)
    assert site.submitted == 3


def test_a_batch_job_that_ends_before_its_worker_begins_ends_the_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slurm-1.out").write_text("modules loaded\n/no/python: not found\n")
    (tmp_path / "slurm-11.out").write_text("of another\n")
    site = Site(1, [{1}], begins=False)
    said = keep(site, monkeypatch, f"log-directory={tmp_path}")
    assert said == "slurm: batch job 1 ended before its worker began: /no/python: not found"


def test_one_bad_node_of_many_does_not_end_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(2, [set(), {1}, set()])
    site.scheduler_info["workers"].pop("1")  # its worker never began
    with pytest.raises(TimeoutError):
        keep(site, monkeypatch)
    assert site.submitted == 3


@pytest.mark.parametrize(
    ("kind", "text", "code", "found"),
    [
        ("slurm", "12\n13_4\n", 0, {"12", "13"}),
        ("slurm", "", 0, set()),
        ("slurm", "", 1, None),
        ("pbs", "\nserver:\n   Req'd\nJob ID  User\n-----\n77.server  me  batch\n", 0, {"77"}),
        ("sge", "job-ID prior name\n-----\n     5 0.5 dask\n", 0, {"5"}),
        ("lsf", "No unfinished job found", 255, set()),
    ],
)
def test_the_batch_system_is_asked_for_the_live_jobs(
    kind: str, text: str, code: int, found: set[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = 2 if kind == "lsf" else 1
    (tmp_path / "text").write_text(text)
    for name in ("squeue", "qstat", "bjobs"):
        (tmp_path / name).write_text(f"#!/bin/sh\ncat {tmp_path}/text >&{stream}\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert batch_workers.living(kind) == found


# Reads from the script, as Slurm does, where the batch job writes its output.
READS_PLACES = r"""
out=$(sed -n 's/^#SBATCH -o //p' "$1" | sed s/%J/7/)
err=$(sed -n 's/^#SBATCH -e //p' "$1" | sed s/%J/7/)
out=${out:-slurm-7.out}
err=${err:-$out}
echo modules loaded > $out
"""


@pytest.mark.slow
def test_a_request_on_batch_jobs_without_python_ends_with_what_they_printed(
    sums: Build, ksr1: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stand-ins for Slurm's commands: a batch job runs at once, on this computer."""
    for name, text in (
        ("sbatch", f'{READS_PLACES}sh "$1" >> $out 2> $err; echo Submitted batch job 7'),
        ("squeue", "exit 0"),
        ("scancel", "exit 0"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    with Cluster(parse("slurm:", ("python=/nowhere/python",)), "batch") as link:
        assert link.state.expected == 1
        with pytest.raises(LinkLost, match=r"^slurm: batch job 7 ended before its worker began: .*not found"):
            link.run(Job(sums, ksr1, RunPoint(processors=1), ("5",)))
    assert not [path.name for path in tmp_path.iterdir() if path.name.endswith((".out", ".err")) or path.is_dir()]


@pytest.mark.slow
def test_a_batch_system_that_is_not_there_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LinkLost, match=r"^pbs: no workers could be started: 'qsub' was not found$"):
        Cluster(parse("pbs:"), "batch")


# Submits the script in $1, or on standard input, as a batch job of this host.
SUBMITS = """
cd {place}
number=$$
cat "${{1:-/dev/stdin}}" > job-$number
setsid sh job-$number > printed-$number 2>&1 < /dev/null &
echo $! > pid-$number
echo {said}
"""
LISTS = """
cd {place}
{head}
for pid in pid-*; do
    [ -f $pid ] && kill -0 $(cat $pid) 2> /dev/null && echo "{line}" | sed s/NUMBER/${{pid#pid-}}/
done
exit 0
"""
DELETES = """
cd {place}
for word; do
    echo $word >> deleted
    number=${{word%%.*}}
    [ -f pid-$number ] && kill -- -$(cat pid-$number)
done
exit 0
"""
SYSTEMS = {
    "slurm": ("sbatch", "Submitted batch job $number", "squeue", ":", "NUMBER", "scancel"),
    "pbs": ("qsub", "$number.server", "qstat", "echo 'Job ID  Username'", "NUMBER.server  me", "qdel"),
    "sge": ("qsub", "Your job $number has been submitted", "qstat", "echo 'job-ID prior'", "  NUMBER 0.5 me", "qdel"),
    "lsf": ("bsub", "Job $number is submitted to the default queue", "bjobs", ":", "NUMBER", "bkill"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SYSTEMS)
def test_runs_on_batch_jobs_of_each_system_come_back(
    kind: str, sums: Build, ksr1: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stand-ins for the batch system's commands start the jobs that dask-jobqueue writes on this computer."""
    submit, said, listing, head, line, delete = SYSTEMS[kind]
    place = tmp_path / "spool"
    place.mkdir()
    words = {"place": place, "said": said, "head": head, "line": line}
    for name, text in ((submit, SUBMITS), (listing, LISTS), (delete, DELETES)):
        (tmp_path / name).write_text(f"#!/bin/sh{text.format(**words)}")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    job = Job(sums, ksr1, RunPoint(processors=2), ("5",))
    with Cluster(parse(f"{kind}:", ("workers=2",)), "batch") as link:
        assert link.state.expected == 2
        record = link.run(job)
        (key,) = tmp_path.glob(".scalegraph-batch-*/key.pem")
        assert [stat.S_IMODE(path.stat().st_mode) for path in (key, key.parent)] == [0o600, 0o700]
        assert not any("PRIVATE KEY" in path.read_text() for path in place.iterdir())
    here = Simulated().run(job)
    assert (record.status, record.time_cycles, record.stdout) == ("ok", here.time_cycles, here.stdout)
    begun = {path.name.removeprefix("pid-") for path in place.glob("pid-*")}
    assert len(begun) == 2
    assert {word.partition(".")[0] for word in (place / "deleted").read_text().split()} == begun


@pytest.mark.slow
def test_batch_jobs_that_still_wait_are_deleted_when_who_submitted_them_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """Stand-ins for Slurm's commands with a full queue: no job ever begins."""
    for name, text in (
        ("sbatch", "echo Submitted batch job 7"),
        ("squeue", "echo >> {place}/asked; [ -f {place}/deleted ] || echo 7"),
        ("scancel", 'echo "$@" >> {place}/deleted'),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text.format(place=tmp_path)}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    with Cluster(parse("slurm:"), "batch") as link:
        eventually((tmp_path / "asked").exists)  # for a job whose number is known
        link._process.kill()
        eventually((tmp_path / "deleted").exists)
    assert (tmp_path / "deleted").read_text() == "7\n"
