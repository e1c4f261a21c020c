"""Starts the command line many times from one interpreter that has loaded it, which saves most of the time of a start.

Each start is a process of its own with its own standard output, which ends as the interpreter ends.

    python -m tests.security.forking         reads one JSON object a line, and answers each by the exit code
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOM = 4000  # largest file, in bytes, with which a full disk is imitated
GONE = "gone"  # a pipe whose reader has gone
LOADED = (
    *(
        f"scalegraph.cli.{name}"
        for name in ("advise", "compare", "explain", "export", "machines", "report", "simulate")
    ),
    *(f"scalegraph.request.results.{name}" for name in ("report", "trace_find", "trace_quantities", "trace_tables")),
    *("scalegraph.cli.trace", "scalegraph.traces.otf2_whole", "matplotlib.backends.backend_agg", "scipy.stats"),
)  # what takes long


class Starter:
    """Starts the command line in children of one process."""

    def __init__(self, place: Path) -> None:
        self.out, self.err = place / "out", place / "err"
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", __name__]
        self.server = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=Path(__file__).parents[2])

    def __call__(self, *words: str | bytes | Path, out: str = "", limit: bool = False) -> tuple[int, bytes, str]:
        """Return exit code, standard output and standard error of a start.

        Standard output goes to the file *out*, or a pipe without a reader (`GONE`); *limit*: to files of `ROOM` bytes.
        """
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        asked = {
            "words": [os.fsdecode(word) for word in words],
            "out": out or str(self.out),
            "err": str(self.err),
            "limit": limit,
            "where": str(Path.cwd()),
            "environment": dict(os.environ),
        }
        print(json.dumps(asked), file=self.server.stdin, flush=True)
        code = int(self.server.stdout.readline())
        return code, b"" if out else self.out.read_bytes(), self.err.read_text()

    def close(self) -> None:
        """End the process."""
        self.server.communicate()


def _become(asked: dict[str, object]) -> None:
    """Take the standard output and error, limits, directory, environment and words of a start."""
    os.environ.clear()
    os.environ.update(asked["environment"])  # type: ignore[arg-type]
    os.chdir(str(asked["where"]))
    if asked["out"] == GONE:
        reader, out = os.pipe()
        os.close(reader)
    else:
        out = os.open(str(asked["out"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    err = os.open(str(asked["err"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, target in enumerate((nothing, out, err)):
        os.dup2(target, number)
        os.close(target)
    if asked["limit"]:
        # Python keeps a part of a module's bytecode where the disk is full, and fails at it ever after
        sys.dont_write_bytecode = True
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))
    sys.argv = ["scalegraph", *asked["words"]]  # type: ignore[misc]


def _serve() -> NoReturn:
    from scalegraph.cli.main import main, run

    for name in LOADED:
        importlib.import_module(name)
    with contextlib.redirect_stdout(io.StringIO()):
        for words in (["analyze", "--list"], ["export", "--list"]):  # these look for all analyses and views
            run(words)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
            main()
            sys.exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
    sys.exit(0)


if __name__ == "__main__":
    _serve()
