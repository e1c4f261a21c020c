"""Kill workers, schedulers and submitters at random during a long sweep; check that no run is lost or stored twice.

    python benchmarks/cluster_kills.py [--points 5000] [--workers 2] [--every 50] [--seconds 3600] [--seed 1]

Starts ``scalegraph run --on local:N`` with its own directories for temporary files and state. After random numbers of
runs it kills a random part of the sweep: a worker, the scheduler's process, the submitter (the next submitter takes
over its cluster), or all of them. When the submitter has ended, it starts the same command again. A run that was in
the study must stay there. At the end it counts the runs in the study and looks for leftover processes, directories and
contacts.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

_PROGRAM: Final = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    printf("%d\n", n * n);
    return 0;
}
"""
_MARK: Final = "SCALEGRAPH_KILLS"  # environment variable that identifies the processes of this sweep
_KINDS: Final = ("worker", "worker", "scheduler", "submitter", "all")
_PARTS: Final = {"submitter": "scalegraph.cli.main", "scheduler": "link.cluster.courier", "worker": "multiprocessing"}
_EARLY: Final = 0.2  # share of restarts that are followed by a kill within `_STARTING_S`
_STARTING_S: Final = 30.0
_SETTLING_S: Final = 60.0  # time for leftover processes to end


def _request(place: Path, points: int) -> Path:
    (place / "square.c").write_text(_PROGRAM)
    path = place / "request.toml"
    path.write_text(
        f'reference = false\nprocessors = [1]\n[program]\nsources = ["square.c"]\nargs = ["{{n}}"]\n'
        f'[parameters]\nn = {list(range(1, points + 1))}\n[machine]\nname = "ksr1"\n'
    )
    return path


class _Sweep:
    """The sweep: its directories, its submitter, and the processes that belong to it."""

    def __init__(self, place: Path, points: int, workers: int) -> None:
        self.place, self.study, self.log = place, place / "study.sgstudy", place / "said.txt"
        for name in ("tmp", "state"):
            (place / name).mkdir()
        given = {"TMPDIR": "tmp", "XDG_STATE_HOME": "state"}
        self._env = {**os.environ, **{name: str(place / part) for name, part in given.items()}, _MARK: str(place)}
        request = _request(place, points)
        self._command = [
            sys.executable,
            "-m",
            "scalegraph.cli.main",
            "run",
            str(request),
            "-o",
            str(self.study),
            "--on",
            f"local:{workers}",
            "--quiet",
        ]
        self.submitter: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def build(self) -> None:
        """Build the program and the simulator into the cache, so that no kill comes before the first run."""
        command = [
            sys.executable,
            "-m",
            "scalegraph.cli.main",
            "simulate",
            "square.c",
            "-p",
            "1",
            "-m",
            "ksr1",
            "--",
            "1",
        ]
        subprocess.run(command, env=self._env, cwd=self.place, stdout=subprocess.DEVNULL, check=True)

    def start(self) -> None:
        """Start the submitter, or restart it."""
        with self.log.open("ab") as log:
            self.submitter = subprocess.Popen(
                self._command, env=self._env, cwd=self.place, stdout=log, stderr=log, start_new_session=True
            )
        self.starts += 1

    def processes(self) -> dict[int, str]:
        """Return the processes of this sweep: the part (submitter, scheduler, worker or other) by process id."""
        found = {}
        mark = f"{_MARK}={self.place}".encode()
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if mark not in (place / "environ").read_bytes().split(b"\0") or b"Z" in _state(place):
                    continue
                words = (place / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            part = (
                "scheduler" if "link.cluster.courier" in words else "worker" if "multiprocessing" in words else "other"
            )
            found[int(place.name)] = "submitter" if "scalegraph.cli.main" in words else part
        return found

    def kill(self, what: str, chance: random.Random) -> bool:
        """Kill the process or processes of the part *what*; return whether there were any."""
        there = self.processes()
        mine = [pid for pid, part in there.items() if what in (part, "all") and part != "other"]
        if not mine:
            return False
        for pid in mine if what == "all" else [chance.choice(mine)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                return False
        return True

    def kept(self) -> list[str]:
        """Return the keys of the successful runs; opening the study rolls back a killed writer's transaction."""
        if not self.study.exists():
            return []
        connection = sqlite3.connect(f"file:{self.study}?mode=rw", uri=True, timeout=60)
        try:
            return [row[0] for row in connection.execute("SELECT key FROM runs WHERE status = 'ok'")]
        finally:
            connection.close()

    def left(self) -> list[str]:
        """List leftover processes, directories and contacts after the sweep."""
        files = [path for name in ("tmp", "state/scalegraph/clusters") for path in (self.place / name).glob("*")]
        return [f"process {pid} ({part})" for pid, part in self.processes().items()] + [
            str(path.relative_to(self.place)) for path in files
        ]


def _state(place: Path) -> bytes:
    return (place / "stat").read_bytes().rpartition(b")")[2].split()[0]


def _sweep(sweep: _Sweep, given: argparse.Namespace) -> tuple[Counter[str], int, bool]:
    """Run the sweep; return kills by part, the number of runs that vanished from the study, and whether it finished."""
    chance, killed, lost = random.Random(given.seed), Counter[str](), 0
    sweep.build()
    began, before = time.monotonic(), set[str]()
    due = chance.expovariate(1 / given.every)  # runs in the study at the next kill
    sweep.start()
    while True:
        assert sweep.submitter is not None
        if sweep.submitter.poll() is not None:
            kept = set(sweep.kept())
            lost, before = lost + len(before - kept), kept
            if sweep.submitter.returncode == 0:
                return killed, lost, True
            if time.monotonic() - began > given.seconds:
                return killed, lost, False
            sweep.start()
            if chance.random() < _EARLY:  # kill while it starts, plans or takes over the cluster
                due = len(kept)
                time.sleep(chance.uniform(0, _STARTING_S))
        if time.monotonic() - began > given.seconds:
            sweep.submitter.send_signal(signal.SIGINT)
            sweep.submitter.wait()
            return killed, lost, False
        time.sleep(1.0)
        if (count := len(sweep.kept())) >= due and sweep.kill(what := chance.choice(_KINDS), chance):
            killed[what] += 1
            due = count + chance.expovariate(1 / given.every)
            print(f"{time.monotonic() - began:.0f} s: {count} runs, killed {dict(killed)}", flush=True)


def main() -> int:
    """Run the sweep; print how many runs were lost or stored twice, and what is left over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--every", type=float, default=50.0, help="average number of runs between two kills")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scalegraph-kills-") as name:
        sweep = _Sweep(Path(name), given.points, given.workers)
        began = time.monotonic()
        killed, lost, over = _sweep(sweep, given)
        kept = sweep.kept()
        twice = len(kept) - len(set(kept))
        deadline = time.monotonic() + _SETTLING_S
        while (left := sweep.left()) and time.monotonic() < deadline:
            time.sleep(1.0)
        said = Counter(line.partition(": ")[2][:90] for line in sweep.log.read_text(errors="replace").splitlines())
        for line, count in said.most_common(12):
            print(f"  {count} x {line}")
        print(f"{len(kept)} of {given.points} runs in {time.monotonic() - began:.0f} s, {sweep.starts} submitters")
        print(f"killed: {', '.join(f'{count} x {what}' for what, count in killed.items())}")
        print(f"lost: {lost}, twice in the study: {twice}, left over: {len(left)} {left[:10]}")
        return 0 if over and not (lost or twice or left) and len(kept) == given.points else 1


if __name__ == "__main__":
    sys.exit(main())
