"""Kill workers and submitters during a sweep on a cluster; check that no run is lost or stored twice.

    python benchmarks/cluster_faults.py [--points 200] [--workers 4] [--worker-kills 10] [--submitter-kills 2]

Starts a LocalCluster of separate worker processes, and ``scalegraph run --on`` as another process. At regular
intervals, counted in completed runs, it kills a worker or the submitter with SIGKILL; it then restarts the submitter.
At the end it compares every number in the study with the same runs on this host. It also compares the study with a log
to which the simulated programs themselves append one line for each completed run.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from scalegraph.base.run import RunRecord
from scalegraph.request import Session, load_request
from scalegraph.store import Study

_PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n * 100000; i++)
        sum += 1.0 / (1.0 + i);
    FILE *log = fopen(argv[2], "a");
    fprintf(log, "%d %d\n", omp_get_max_threads(), n);
    fclose(log);
    printf("%d %.12g\n", n, sum);
    return 0;
}
"""


def _request(place: Path, points: int) -> Path:
    (place / "sum.c").write_text(_PROGRAM)
    sizes = list(range(1, points // 4 + 1))
    text = f"""reference = false
processors = [1, 2, 3, 4]
[program]
sources = ["sum.c"]
args = ["{{n}}", "{place / "log"}"]
[parameters]
n = {sizes}
[machine]
name = "ksr1"
"""
    path = place / "request.toml"
    path.write_text(text)
    return path


def _count(path: Path) -> int:
    if not path.exists():
        return 0
    with Study.open(path) as study:
        return len(study)


def _ended(place: Path) -> int:
    """Return the number of completed runs, from the log that the programs write."""
    log = place / "log"
    return log.read_text().count("\n") if log.exists() else 0


class _Submitter:
    """``scalegraph run`` as a process that writes its output to a file."""

    def __init__(self, request: Path, study: Path, address: str, log: Path) -> None:
        command = [sys.executable, "-m", "scalegraph.cli.main", "run", str(request), "-o", str(study), "--on", address]
        self._log = log.open("ab")
        self.process = subprocess.Popen(command, stdout=self._log, stderr=subprocess.STDOUT, start_new_session=True)

    def kill(self) -> None:
        """Kill the submitter and its courier, the process that uses Dask, as the end of a login session would."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.process.kill()
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        self.process.wait()


def _worker_pids(cluster: Any) -> list[int]:
    return [nanny.process.pid for nanny in cluster.workers.values() if nanny.process is not None and nanny.process.pid]


def _carry_out(given: argparse.Namespace, cluster: Any, request: Path, place: Path) -> dict[str, Any]:
    """Run the request while killing workers and submitters; return what happened."""
    study, log = place / "study.sgstudy", place / "submitters.txt"
    step = given.points // (given.worker_kills + 1)
    pause = given.points // (given.submitter_kills + 1)
    kills = [(step * (k + 1), "worker") for k in range(given.worker_kills)]
    kills += [(pause * (k + 1), "submitter") for k in range(given.submitter_kills)]
    kills.sort()
    began = time.monotonic()
    submitter = _Submitter(request, study, cluster.scheduler_address, log)
    killed: list[tuple[str, int, int]] = []
    tick = threading.Event()
    while submitter.process.poll() is None:
        tick.wait(0.05)
        if not kills or _ended(place) < kills[0][0]:
            continue
        _at, what = kills.pop(0)
        if what == "submitter":
            submitter.kill()
            submitter = _Submitter(request, study, cluster.scheduler_address, log)
        elif pids := _worker_pids(cluster):
            os.kill(pids[len(killed) % len(pids)], signal.SIGKILL)
        killed.append((what, _ended(place), _count(study)))
    return {
        "seconds": time.monotonic() - began,
        "exit": submitter.process.returncode,
        "killed": killed,
        "left": kills,
        "said": log.read_text(errors="replace"),
    }


def _compare(request: Path, study_path: Path, place: Path) -> tuple[int, int]:
    """Return (runs in the study, runs that are missing or differ from this host's in anything but host time)."""
    log = (place / "log").read_text()
    with Session().submit(load_request(request), None) as here, Study.open(study_path) as there:
        mine = {run.point.key: run for run in here.runs(output=True)}
        theirs = {run.point.key: run for run in there.runs(output=True)}
    (place / "log").write_text(log)
    differ = [key for key in mine if key not in theirs or _timeless(mine[key]) != _timeless(theirs[key])]
    return len(theirs), len(differ)


def _timeless(record: RunRecord) -> RunRecord:
    return record.model_copy(update={"host_s": None, "host_cpu_s": None})


def main() -> int:
    """Run the sweep and print what was lost and what ran twice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--worker-kills", type=int, default=10)
    parser.add_argument("--submitter-kills", type=int, default=2)
    given = parser.parse_args()
    from distributed import LocalCluster

    logging.disable(logging.CRITICAL)  # the scheduler reports every client and worker that is killed

    with tempfile.TemporaryDirectory(prefix="scalegraph-faults-") as name:
        place = Path(name)
        request = _request(place, given.points)
        with LocalCluster(
            n_workers=given.workers, threads_per_worker=1, dashboard_address=None, memory_limit=0, silence_logs=50
        ) as cluster:
            done = _carry_out(given, cluster, request, place)
            left = len(cluster.scheduler.tasks)
        ended = Counter((place / "log").read_text().split("\n")[:-1])
        runs, differ = _compare(request, place / "study.sgstudy", place)
        for line in done["said"].splitlines():
            if line.startswith("tcp:") or "fail" in line:
                print(f"  {line}")
        print(f"{given.points} points, {given.workers} worker processes: {done['seconds']:.0f} s, exit {done['exit']}")
        for what in ("worker", "submitter"):
            at = [f"{ended} ({kept})" for killed, ended, kept in done["killed"] if killed == what]
            print(f"killed: {len(at)} {what}s, after this many completed runs (runs in the study): {', '.join(at)}")
        print(f"in the study: {runs} runs; missing, or different from runs on this host: {differ}")
        again = sum(ended.values()) - len(ended)
        print(f"completed runs: {len(ended)} points, and {again} repeated after a worker was lost")
        print(f"left at the scheduler: {left} tasks")
        return 0 if runs == given.points and not differ and not done["left"] and done["exit"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
