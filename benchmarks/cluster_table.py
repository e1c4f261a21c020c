"""A table of cluster faults: the fault, and how the sweep reacted.

    python benchmarks/cluster_table.py [WORD ..]

Each row starts ``scalegraph run --on`` with its own state and temporary files, causes the fault, and reports what
happened. With WORDs, only the rows whose name contains one of them are run. Rows with two accounts need root and are
skipped otherwise. Some rows wait for the times that docs/howto/clusters.md promises, so the table takes some minutes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.cluster.conftest import Gate  # noqa: E402 - from the checkout; tests is not installed

_MARK: Final = "SCALEGRAPH_TABLE"
_NOTHING_LEFT_S: Final = 60.0
_PROGRAMS: Final = ("cli.main", "link.cluster.courier")


class Sweep:
    """A run, on the cluster *where*, of a program that waits at a gate; *home* holds the user's SSH keys."""

    def __init__(self, where: str, *settings: str, home: Path | None = None) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="scalegraph-table-"))
        (self.place / "tmp").mkdir()
        self.gate = Gate(self.place)
        env = {**os.environ, "TMPDIR": str(self.place / "tmp"), "XDG_STATE_HOME": str(self.place / "state")}
        env |= {_MARK: str(self.place), "PYTHONPATH": str(ROOT), **({"HOME": str(home)} if home else {})}
        command = [sys.executable, "-m", "scalegraph.cli.main", "run", str(self.gate.request), "--on", where]
        command += [word for setting in settings for word in ("--set", setting)]
        with (self.place / "said").open("wb") as said:
            self.process = subprocess.Popen(command, env=env, stdout=said, stderr=said, start_new_session=True)
        self.began = time.monotonic()

    def said(self) -> str:
        """Return the sweep's output so far."""
        return (self.place / "said").read_text(errors="replace")

    def end(self) -> str:
        """Wait for the end; return the elapsed time, the exit code and the last line of output."""
        code = self.process.wait()
        return f"{time.monotonic() - self.began:.0f} s, exit {code}: {self.said().strip().splitlines()[-1]}"

    def open(self) -> None:
        """Let programs pass the gate until the sweep has ended."""
        while self.process.poll() is None:
            threading.Thread(target=self.gate.open, daemon=True).start()
            time.sleep(1)

    def processes(self) -> dict[int, str]:
        """Return the processes of the sweep and their command lines."""
        found, mark = {}, f"{_MARK}={self.place}".encode()
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (place / "environ").read_bytes().split(b"\0"):
                    found[int(place.name)] = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return found

    def left(self) -> str:
        """Report leftover processes after at most a minute; the next start removes leftover directories."""
        began = time.monotonic()
        while (there := self.processes()) and time.monotonic() - began < _NOTHING_LEFT_S:
            time.sleep(0.5)
        return f"{len(there)} processes left after {time.monotonic() - began:.0f} s"


def _silent() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return Sweep(f"tcp://127.0.0.1:{server.getsockname()[1]}").end()


def _web() -> str:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_args: object) -> None:
            """Log nothing."""

    with HTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        said = Sweep(f"tcp://127.0.0.1:{server.server_port}").end()
        server.shutdown()
    return said


def _interrupted() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        sweep = Sweep(f"tcp://127.0.0.1:{server.getsockname()[1]}")
        server.accept()
        server.accept()
        began = time.monotonic()
        sweep.process.send_signal(signal.SIGINT)
        return f"{time.monotonic() - began:.0f} s after Ctrl+C: {sweep.end()}"


def _stopped() -> str:
    sweep = Sweep("local:2")
    sweep.gate.wait_for(1, "begun")
    [(_program, worker)] = sweep.gate.programs()
    os.kill(worker, signal.SIGSTOP)
    began = time.monotonic()
    sweep.gate.wait_for(2, "begun")
    elsewhere = time.monotonic() - began
    sweep.open()
    return f"run elsewhere after {elsewhere:.0f} s; {sweep.end()}; {sweep.left()}"


def _courier() -> str:
    sweep = Sweep("local:2")
    sweep.gate.wait_for(1, "begun")
    _kill(sweep, _PROGRAMS[1:])
    return f"{sweep.end()}; {sweep.left()}"


def _kill(sweep: Sweep, words: tuple[str, ...]) -> None:
    for pid, command in sweep.processes().items():
        if any(word in command for word in words):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _both(where: str, home: Path | None = None) -> str:
    sweep = Sweep(where, home=home)
    sweep.gate.wait_for(1, "begun")
    _kill(sweep, _PROGRAMS)
    sweep.process.wait()
    return sweep.left()


@contextlib.contextmanager
def _hosts() -> Iterator[Path]:
    """Yield a home directory whose SSH configuration reaches node1 and node2."""
    home = Path(tempfile.mkdtemp(prefix="scalegraph-table-")) / "home"
    command = [sys.executable, "-m", "tests.cluster.sshd", str(home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdout.readline()
        yield home
        server.stdin.close()


def _both_ssh() -> str:
    with _hosts() as home:
        return _both("ssh:node1,node2", home)


def _test(node: str) -> Callable[[], str]:
    def run() -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/cluster/{node}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip().splitlines()[-1]

    return run


ROWS: Final[dict[str, Callable[[], str]]] = {
    "an address where something listens but never answers": _silent,
    "the address of a web server": _web,
    "Ctrl+C while nothing answers": _interrupted,
    "tls:// without files": lambda: Sweep("tls://127.0.0.1:9").end(),
    "port 99999": lambda: Sweep("tcp://127.0.0.1:99999").end(),
    "a worker is stopped and never resumes": _stopped,
    "the courier, which uses Dask, is killed": _courier,
    "submitter and scheduler are killed at once, local": lambda: _both("local:2"),
    "submitter and scheduler are killed at once, ssh": _both_ssh,
    "one worker, or every worker, refuses at once": _test("test_bad_workers.py"),
    "another account tries every port, listens on an old cluster's port, forges its contact": _test("test_accounts.py"),
    "workers return false answers": _test("test_courier.py::test_workers_that_lie_or_fail_lose_their_own_runs_only"),
}


def main() -> int:
    """Print the table."""
    words = sys.argv[1:]
    for name, row in ROWS.items():
        if not words or any(word in name for word in words):
            print(f"| {name} | {row()} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
