"""Successful runs: the content of the record."""

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.base.locks import FileLock
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.workplaces import LOCK

pytestmark = pytest.mark.compiler
Run = Callable[..., RunRecord]
UNTIMED = {"host_s": 0, "host_cpu_s": 0}


@pytest.mark.slow
def test_output_equals_that_of_the_native_program(run: Run, tmp_path: Path) -> None:
    programs = Path(__file__).parent / "programs"
    command = ["gcc", "-O2", "-fopenmp", "sums.c", "-o", str(tmp_path / "sums")]
    subprocess.run(command, cwd=programs, check=True)
    native = subprocess.run([tmp_path / "sums", "3000"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    record = run("sums", 4, "3000")
    assert record.ok, record.message
    assert record.stdout == native.stdout.decode()
    assert record.exit_code == 0
    assert record.host_cpu_s is not None
    assert record.host_cpu_s > 0  # one thread simulates, so it cannot take longer than the run
    assert record.host_cpu_s <= (record.host_s or 0)


@pytest.mark.slow
def test_leaves_of_every_processor_add_up_to_the_elapsed_time(run: Run) -> None:
    record = run("sums", 8, "5000")
    per_processor = [sum(values) for values in zip(*record.processor_categories.values(), strict=True)]
    assert per_processor == [record.time_cycles] * 8
    assert sum(record.categories.values()) == 8 * (record.time_cycles or 0)
    assert record.time_s == (record.time_cycles or 0) / (record.clock_hz or 1)


def test_groups_regions_and_totals_agree(run: Run) -> None:
    record = run("sums", 4, "5000")
    groups = [record.busy_s, record.memory_stall_s, record.idle_s, record.primitive_s]
    assert sum(group or 0 for group in groups) == pytest.approx(4 * (record.time_s or 0))
    assert sum(sum(region.categories.values()) for region in record.regions) == sum(record.categories.values())
    assert sum(region.counters.get("ops", 0) for region in record.regions) == record.work_ops
    assert record.references == record.counters["reads"] + record.counters["writes"]


def test_costs_are_given_to_the_lines_of_the_program(run: Run) -> None:
    record = run("sums", 2, "5000", schedule="static")
    assert {line.file for line in record.lines} == {"sums.c"}
    busiest = max(record.lines, key=lambda line: line.busy)
    assert busiest.line in (11, 12, 14, 15)
    busy = sum(cycles for name, cycles in record.categories.items() if name.startswith("busy"))
    assert sum(line.busy for line in record.lines) == pytest.approx(busy, rel=1e-3)


@pytest.mark.slow
def test_same_run_twice_gives_the_same_record_but_for_host_time(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run("sums", 8, "2000")
    monkeypatch.setenv("SOMETHING_ELSE", "x" * 1000)
    monkeypatch.setenv("HOME", "/somewhere/else/entirely")
    second = run("sums", 8, "2000")
    assert first.model_copy(update=UNTIMED) == second.model_copy(update=UNTIMED)


def test_program_gets_input_environment_schedule_and_coordinates(run: Run) -> None:
    point = RunPoint(processors=2, parameters={"n": 100})
    plain = run("sums", 2, "100")
    record = run(
        "sums", 2, "100", stdin=b"42\n", env={"GREETING": "hello"}, schedule="static", point=point, program="named"
    )
    assert record.stdout.splitlines()[:2] == ["extra 42", "sum 2475, greeting hello"]
    assert record.point == point
    assert record.program == "named"
    assert record.counters["chunks"] < plain.counters["chunks"]  # by default dynamic,1, as with libgomp


def test_schedule_may_come_from_the_environment(run: Run) -> None:
    assert run("sums", 2, "100", env={"OMP_SCHEDULE": "dynamic, 1"}).counters["chunks"] >= 100
    assert run("sums", 2, "100", env={"OMP_SCHEDULE": "static"}).counters["chunks"] < 100


def test_program_runs_in_the_directory_asked_for(run: Run, tmp_path: Path) -> None:
    (tmp_path / "input").write_text("7")
    assert run("sums", 1, "10", cwd=tmp_path, stdin=tmp_path / "input").stdout.startswith("extra 7")


@pytest.mark.parametrize("count", [0, 1089])
def test_processor_count_outside_the_machine_is_refused(run: Run, count: int) -> None:
    with pytest.raises(InputError, match=rf"{count} processors: machine 'ksr1' has 1 to 1088"):
        run("sums", point=RunPoint.model_construct(processors=count))  # a link validates points, whoever made them


@pytest.mark.slow
def test_long_output_is_cut_and_said(run: Run) -> None:
    record = run("prints", 1, limits={"output_bytes": 1000})
    assert record.ok
    assert len(record.stdout) == 1000
    assert "standard output truncated at 1000 bytes" in record.warnings


def test_directories_of_killed_runs_are_removed_and_no_others(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, held, other = (
        tmp_path / name for name in ("scalegraph-simulated-left", "scalegraph-simulated-held", "scalegraph-a")
    )
    for place in (left, held, other):
        place.mkdir()
        (place / LOCK).touch()
    lock = FileLock(held / LOCK)
    assert run("sums").ok
    assert set(tmp_path.iterdir()) >= {held, other}
    assert not left.exists()
    lock.release()
