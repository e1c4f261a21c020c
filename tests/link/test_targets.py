"""Targets describe themselves, and the host runs a program natively."""

from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import InputError
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Job, Limits, RunOptions
from scalegraph.link.targets import named, setting_faults, targets
from scalegraph.link.targets.base import MEASURES

pytestmark = pytest.mark.slow

PROGRAM = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
    int threads = 0;
    #pragma omp parallel
    #pragma omp single
    threads = omp_get_num_threads();
    printf("%d %s\\n", threads, count > 1 ? words[1] : "-");
    return count > 2 ? atoi(words[2]) : 0;
}
"""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "p.c").write_text(PROGRAM, encoding="utf-8")
    built = build(["p.c"], cwd=tmp_path, builds="host")
    return Job(built, machines.load("ksr1"), RunPoint(processors=2, target="host"), args=("here",))


def test_every_target_says_what_it_is_and_measures() -> None:
    found = targets()
    assert list(found)[:2] == ["simulated", "host"]
    for name, target in found.items():
        assert (target.name, bool(target.title), bool(target.help)) == (name, True, True)
        assert "time" in target.measures
        assert set(target.measures) <= set(MEASURES)
        assert target.check().found


def test_an_unknown_target_or_setting_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="unknown target 'hots'; did you mean 'host'"):
        named("hots")
    assert [str(fault) for fault in setting_faults(named("host"), {"queue": "x"})] == [
        "target.settings.queue: unknown setting 'queue'; target 'host' has no settings"
    ]


def test_the_host_runs_the_program_with_as_many_threads_as_processors(job: Job) -> None:
    record = named("host").run(job)
    assert (record.status, record.stdout, record.source, record.machine) == ("ok", "2 here\n", "measured", "host")
    assert record.time_s is not None
    assert record.time_s > 0
    assert record.misses is None  # not measured is not 0
    assert record.point == job.point


def test_a_failure_on_the_host_is_a_record(job: Job) -> None:
    record = named("host").run(Job(job.build, job.machine, job.point, args=("here", "3")))
    assert (record.status, record.exit_code) == ("failed", 3)
    accepted = named("host").run(
        Job(job.build, job.machine, job.point, args=("here", "3"), options=RunOptions(accept_exit=(3,)))
    )
    assert accepted.status == "ok"
    assert "ended with exit code 3, which is accepted" in accepted.warnings


def test_a_time_limit_ends_a_run_on_the_host(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int main(void) { for (;;) ; }", encoding="utf-8")
    built = build(["p.c"], cwd=tmp_path, builds="host")
    job = Job(built, machines.load("ksr1"), RunPoint(processors=1, target="host"), limits=Limits(time_s=0.2))
    record = named("host").run(job)
    assert (record.status, record.time_s) == ("timeout", None)


def test_more_processors_than_the_host_has_are_refused(job: Job) -> None:
    point = RunPoint(processors=4096, target="host")
    with pytest.raises(InputError, match="4096 processors: expected 1 to"):
        named("host").run(Job(job.build, job.machine, point))
