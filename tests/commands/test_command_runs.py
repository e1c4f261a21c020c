"""Runs of commands: their times, how they end, and that they leave nothing behind."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.cancel import CancelToken
from scalegraph.base.run import RunPoint
from scalegraph.link import Build, Job, Limits, Measuring, targets
from scalegraph.link.build import AsItIs
from scalegraph.link.commands import started
from scalegraph.link.commands.started import Ended, Start

pytestmark = pytest.mark.slow


def ended(*words: str, **more: object) -> Ended:
    limits = {"time_s": 60.0, "output_bytes": 1000, "cancel": CancelToken()}
    limits |= {name: more.pop(name) for name in tuple(limits) if name in more}
    return started.run(Start(words, os.environ, **more), **limits)  # type: ignore[arg-type]


def python(text: str, **more: object) -> Ended:
    return ended(sys.executable, "-c", text, **more)


def test_a_sleeper_takes_its_time_and_hardly_a_processor() -> None:
    found = ended("sleep", "0.2").found
    assert found["wall_s"] >= 0.2
    assert found["user_s"] + found["system_s"] < 0.1
    assert found["started"] > 1.7e9


def test_processor_time_is_that_of_all_processes_and_threads() -> None:
    spin = "import time\nwhile time.process_time() < 0.1: pass"
    found = ended("sh", "-c", f'"{sys.executable}" -c "{spin}" & "{sys.executable}" -c "{spin}"; wait').found
    assert found["user_s"] + found["system_s"] >= 0.2


def test_the_time_of_a_process_that_its_parent_left_behind_counts() -> None:
    """The shell ends at once; the process it started is reparented to the runner, which ends it."""
    found = ended("sh", "-c", "(while :; do :; done) & sleep 0.1")
    assert found.outcome.exit_code == 0
    assert found.found["user_s"] > 0


def test_memory_is_that_of_the_whole_tree() -> None:
    """Two concurrent processes of 60 MB each use more than one of them."""
    hold = "import time; x = bytearray(60_000_000); time.sleep(0.3)"
    one = python(hold).found["peak_memory_bytes"]
    both = python(f"import os\nos.fork()\n{hold}").found["peak_memory_bytes"]
    assert one >= 60e6
    assert both >= 115e6


def test_how_a_command_ends_is_data() -> None:
    assert ended("sh", "-c", "exit 3").outcome.exit_code == 3
    assert ended("sh", "-c", "kill -9 $$").outcome.signal == 9
    late = ended("sleep", "60", time_s=0.1).outcome
    assert (late.timed_out, late.cancelled) == (True, False)
    with pytest.raises(FileNotFoundError):
        ended("./nothing-of-this-name")


def test_a_request_to_stop_ends_the_command_and_what_it_started(tmp_path: Path) -> None:
    stop = CancelToken()
    log = tmp_path / "pids"
    os.mkfifo(log)

    def wait() -> None:
        log.read_text()
        stop.cancel()

    waiter = threading.Thread(target=wait)
    waiter.start()
    found = ended("sh", "-c", f"sleep 60 & echo $! > {log}; wait", cancel=stop)
    waiter.join()
    assert found.outcome.cancelled
    assert found.outcome.host_s < 30


def test_output_is_kept_to_its_limit() -> None:
    outcome = python("import sys; print('x' * 5000, end=''); print('e', file=sys.stderr)").outcome
    assert outcome.stdout == "x" * 1000
    assert outcome.stderr == "e\n"
    assert outcome.truncated == ("standard output",)


def test_a_command_runs_on_the_processors_that_it_is_given() -> None:
    last = max(os.sched_getaffinity(0))
    text = "import os; print(sorted(os.sched_getaffinity(0)))"
    assert python(text, processors=[last]).outcome.stdout == f"[{last}]\n"


def test_standard_input_is_a_file_or_its_content(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("one")
    assert ended("cat", stdin=tmp_path / "in").outcome.stdout == "one"
    assert ended("cat", stdin=b"two").outcome.stdout == "two"
    assert ended("cat").outcome.stdout == ""


def test_counters_are_those_of_all_processes_where_the_kernel_counts() -> None:
    """Page faults are counted in software wherever counting is allowed at all."""
    events = {"faults": (1, 2)}
    one = python("pass", events=events).found
    if one["uncounted"]:
        pytest.skip("the kernel lets nobody count")
    two = python("import os; os.fork() and os.wait()", events=events).found
    assert two["counters"]["faults"] > one["counters"]["faults"] > 100


def test_counters_that_there_are_not_are_one_note_and_no_zero() -> None:
    found = python("pass", events={"hw_cycles": (99, 0)}).found
    assert found["counters"] == {}
    assert found["uncounted"]


def job(words: tuple[str, ...], command: AsItIs | None = None, processors: int = 1) -> Job:
    none = Path(sys.executable)
    build = Build("prog", none, none, none, (), (), (), "digest", command=True)
    return Job(
        build,
        machines.load("ksr1"),
        RunPoint(processors=processors, target="host"),
        words,
        command=command or AsItIs(),
        limits=Limits(time_s=60),
        measuring=Measuring(pin="none"),
    )


def test_a_record_says_what_the_command_used() -> None:
    record = targets.named("host").run(job(("sh", "-c", "echo out; sleep 0.05")))
    assert (record.status, record.source, record.stdout) == ("ok", "measured", "out\n")
    used = record.usage
    assert used is not None
    assert used.wall_s == record.time_s
    assert used.host is not None
    assert used.host.processors
    assert record.work_ops is None
    assert record.busy_s is None
    assert {"processor_time_s", "parallelism", "peak_memory_bytes"} <= set(record.row())


def test_the_time_that_a_program_prints_counts_and_the_wall_time_stays() -> None:
    record = targets.named("host").run(job(("echo", "took 40 ms"), AsItIs(time_from=r"took (\S+) ms")))
    assert record.time_s == pytest.approx(0.04)
    assert record.usage is not None
    assert record.usage.wall_s != record.time_s
    assert record.usage.reported == "took 40 ms"


def test_a_rate_gives_the_time_of_equal_work() -> None:
    record = targets.named("host").run(job(("echo", "4 GB/s"), AsItIs(rate_from=r"(\S+) GB", work=8.0)))
    assert record.time_s == pytest.approx(2e-9)
    assert record.usage is not None
    assert (record.usage.rate, record.usage.rate_unit) == (4e9, "B/s")


def test_output_without_the_time_is_a_failed_run() -> None:
    record = targets.named("host").run(job(("echo", "x"), AsItIs(time_from=r"took (\S+)")))
    assert (record.status, record.message) == ("failed", r"nothing in its output matches 'took (\S+)' (--time-from)")
    assert not record.ok


def test_what_a_daemon_runs_has_no_processor_time_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docker").write_text("#!/bin/sh\necho done\n")
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    record = targets.named("host").run(job(("docker", "run", "x")))
    assert record.usage is not None
    assert record.usage.processor_time_s is None
    assert record.usage.peak_memory_bytes is None
    assert "unknown" in record.warnings[0]
