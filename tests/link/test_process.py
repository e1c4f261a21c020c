"""Child processes: limits, streams, and no leftover processes."""

import os
import select
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.link.process import Command, Outcome, run
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.library import library

pytestmark = pytest.mark.compiler


@pytest.fixture(scope="module")
def launcher() -> Path:
    return library(find_compiler()).launcher


def shell(launcher: Path, script: str, **limits: object) -> Outcome:
    command = Command(launcher, Path("/bin/sh"), ["sh", "-c", script], {"PATH": os.environ["PATH"]})
    return run(command, **{"time_s": 60.0, "output_bytes": 1000, "cancel": CancelToken(), **limits})  # type: ignore[arg-type]


def test_streams_and_exit_code_are_kept(launcher: Path) -> None:
    outcome = shell(launcher, "echo out; echo err >&2; exit 3")
    assert (outcome.stdout, outcome.stderr, outcome.exit_code, outcome.signal) == ("out\n", "err\n", 3, None)


def test_signal_is_told_from_an_exit_code(launcher: Path) -> None:
    assert shell(launcher, "kill -SEGV $$").signal == signal.SIGSEGV


def test_both_streams_are_cut_at_the_limit(launcher: Path) -> None:
    outcome = shell(launcher, "yes | head -100000; yes | head -100000 >&2")
    assert (len(outcome.stdout), len(outcome.stderr)) == (1000, 1000)
    assert outcome.truncated == ("standard output", "standard error")
    assert outcome.exit_code == 0


def test_program_that_closes_its_streams_is_waited_for(launcher: Path) -> None:
    assert shell(launcher, "exec >&- 2>&-; sleep 0.1; exit 5").exit_code == 5


def test_grandchild_that_holds_the_pipe_is_ended(launcher: Path) -> None:
    outcome = shell(launcher, "sleep 1000 & echo $!")
    assert outcome.exit_code == 0
    assert ends(int(outcome.stdout))


@pytest.mark.slow
def test_time_limit_is_kept_even_by_a_program_that_ignores_the_polite_signal(
    launcher: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scalegraph.link.process._GRACE_S", 0.1)
    outcome = shell(launcher, "trap '' TERM; echo on; while :; do :; done", time_s=0.2)
    assert (outcome.timed_out, outcome.signal, outcome.stdout) == (True, signal.SIGKILL, "on\n")


def test_cancel_ends_the_program(launcher: Path) -> None:
    token = CancelToken()
    timer = threading.Timer(0.1, token.cancel)
    timer.start()
    outcome = shell(launcher, "sleep 1000", cancel=token)
    timer.join()
    assert outcome.cancelled


def test_no_core_file_and_fixed_addresses_are_asked_for(launcher: Path) -> None:
    outcome = shell(launcher, "ulimit -c; cat /proc/self/personality")
    core, persona = outcome.stdout.split()
    assert core == "0"
    assert int(persona, 16) & 0x0040000


def test_missing_program_is_said(launcher: Path) -> None:
    command = Command(launcher, Path("/nowhere/program"), ["program"], {})
    outcome = run(command, time_s=60, output_bytes=1000, cancel=CancelToken())
    assert outcome.exit_code == 127
    assert "/nowhere/program: cannot be started: No such file" in outcome.stderr


@pytest.mark.slow
def test_killed_parent_leaves_no_child(launcher: Path) -> None:
    reading, writing = os.pipe()
    script = f"""
        import os, subprocess
        from pathlib import Path
        from scalegraph.base.cancel import CancelToken
        from scalegraph.link.process import Command, run
        real = subprocess.Popen
        subprocess.Popen = lambda *a, **k: real(*a, pass_fds=({writing},), **k)
        arguments = ["sh", "-c", "echo $$ > /proc/self/fd/{writing}; exec sleep 1000"]
        command = Command(Path({str(launcher)!r}), Path("/bin/sh"), arguments, {{"PATH": os.environ["PATH"]}})
        run(command, time_s=1000, output_bytes=1000, cancel=CancelToken())
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], pass_fds=(writing,))
    os.close(writing)
    with os.fdopen(reading) as pipe:
        child = int(pipe.readline())
        parent.kill()
        parent.wait()
        assert ends(child)
        assert pipe.read() == ""  # nobody holds the other end


def ends(pid: int) -> bool:
    """Wait for the end of a process that is no longer our child."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 30)[0])
    finally:
        os.close(handle)
