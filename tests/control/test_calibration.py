"""This host as a machine. Nothing here depends on how fast the host is."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from scalegraph import machine
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, WorkError
from scalegraph.cli.main import cli
from scalegraph.control import build
from scalegraph.control.calibration import QUICK, Row, Sample, Subject, compare, derive, measure, summary, this_host
from scalegraph.control.calibration.caches import fit
from scalegraph.control.calibration.host import CacheLevel
from scalegraph.control.calibration.measure import SOURCES, read_line, working_sets
from scalegraph.link import Simulated
from scalegraph.machine.text import keys
from scalegraph.runtime.compiler import find_compiler


@pytest.fixture(scope="module")
def measured() -> dict[str, Sample]:
    """What a run with as few repetitions as possible measures."""
    return measure(find_compiler(), this_host(), QUICK, cancel=CancelToken())


@pytest.mark.compiler
def test_micro_benchmark_compiles_without_warnings(tmp_path: Path) -> None:
    flags = ["-std=gnu11", "-O2", "-fopenmp", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
    for source in SOURCES.glob("*.c"):
        result = find_compiler().run([*flags, "-c", str(source), "-o", str(tmp_path / "object.o")])
        assert result.returncode == 0, result.stderr


@pytest.mark.compiler
def test_machine_of_this_host_loads_and_says_where_every_value_comes_from(
    measured: dict[str, Sample], tmp_path: Path
) -> None:
    found = derive(this_host(), measured)
    path = tmp_path / "host.toml"
    path.write_text(found.to_toml())
    assert machine.load(str(path)) == found
    unsaid = set(keys(found)) - set(found.origin) - {"name", "title", "summary"}
    assert not unsaid
    assert found.max_processors == len(this_host().processors)


@pytest.mark.compiler
def test_host_without_description_of_its_caches_gives_a_machine_all_the_same(measured: dict[str, Sample]) -> None:
    found = derive(replace(this_host(), caches=()), measured)
    assert found.origin["cache.0.size_kib"].startswith("estimate: ")


@pytest.mark.compiler
def test_one_processor_alone_makes_transfers_an_estimate(measured: dict[str, Sample]) -> None:
    alone = {name: sample for name, sample in measured.items() if "two" not in name and name != "transfer"}
    found = derive(replace(this_host(), processors=(0,)), alone)
    assert found.max_processors == 1
    assert found.origin["network.transfer_ns"].startswith("estimate: ")


@pytest.mark.compiler
def test_stop_ends_the_measurement() -> None:
    token = CancelToken()
    done: list[str] = []

    def progress(name: str, _count: int) -> None:
        done.append(name)
        token.cancel()

    with pytest.raises(Cancelled):
        measure(find_compiler(), this_host(), replace(QUICK, microseconds=1e3), cancel=token, progress=progress)
    assert len(done) == 1


def test_missing_compiler_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    result = CliRunner().invoke(cli, ["machines", "calibrate", "--quick"])
    assert result.exit_code == 1
    assert "C compiler (gcc) was not found; install one with" in result.output + str(result.exception)


def test_machine_without_compare_is_refused() -> None:
    result = CliRunner().invoke(cli, ["machines", "calibrate", "--machine", "ksr1"])
    assert result.exit_code == 2
    assert "--machine goes with --compare" in result.output


def test_line_of_measurements_gives_median_and_quartiles() -> None:
    name, sample = read_line("clock ns 4 1 2 3 100")
    assert (name, sample.unit, sample.median, sample.low, sample.high, sample.count) == ("clock", "ns", 3, 2, 4, 5)
    assert sample.spread == pytest.approx(2 / 3)


@pytest.mark.parametrize("line", ["clock", "clock ns", "clock ns fast"])
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises(WorkError, match="a name, a unit and numbers were expected"):
        read_line(line)


@pytest.mark.parametrize(
    ("size", "ways", "fitted"),
    [
        (48 * 1024, 12, (48 * 1024, 12)),
        (503316480, 16, (503316480, 15)),  # 15 x 2^25 bytes
        (33 * 2**20, 11, (32 * 2**20, 8)),  # 3 x 11 x 2^20: would need 33 ways
    ],
)
def test_cache_sets_become_a_power_of_two(size: int, ways: int, fitted: tuple[int, int]) -> None:
    assert fit(size, 64, ways) == fitted


def test_working_sets_lie_in_every_level() -> None:
    levels = (CacheLevel(1, 48 * 1024, 64, 12, 1), CacheLevel(2, 2**21, 64, 16, 1), CacheLevel(3, 2**25, 64, 16, 2))
    sizes = working_sets(replace(this_host(), caches=levels, available_bytes=2**32), replace(QUICK, quick=False))
    before = 0
    for level in levels:
        assert any(2 * before <= size <= level.size_bytes // 2 for size in sizes)
        before = level.size_bytes
    assert max(sizes) > before


def _rows() -> list[Row]:
    return [
        Row("a", 1, 0.5, 1.0, 0.0, 1.2),
        Row("a", 2, 0.25, 0.5, 0.0, 0.8),
        Row("b", 1, 1.0, 1.0, 0.0, 0.8),
    ]


def test_errors_are_relative_to_the_measured_time() -> None:
    one, two, three = _rows()
    assert one.error == pytest.approx(0.2)
    assert one.error_optimised == pytest.approx(1.4)
    assert two.error == pytest.approx(0.6)
    assert three.error == pytest.approx(-0.2)


def test_summary_is_in_ratios() -> None:
    total = summary(_rows())
    assert total.ratio == pytest.approx((1.2 * 1.6 * 0.8) ** (1 / 3))
    assert total.size == pytest.approx((1.2 * 1.6 * 1.25) ** (1 / 3))
    assert total.speedup_size == pytest.approx((1.0 / 0.5) / (1.2 / 0.8))
    assert math.isnan(summary([]).ratio)


@pytest.mark.compiler
def test_program_is_compared_with_one_and_two_threads(root: Path) -> None:
    subject = Subject("ge2", (root / "resources/programs/ge2.c",), ("40",), (), ("-lm",))
    found = machine.load("server-2x32")
    rows = list(compare(find_compiler(), found, [subject], repeat=1, cancel=CancelToken()))
    assert [(row.program, row.threads) for row in rows] == [("ge2", 1), ("ge2", 2)]
    assert all(row.predicted_s > 0 for row in rows)


@pytest.mark.compiler
@pytest.mark.parametrize("processors", [1, 5])
def test_out_of_order_processor_keeps_every_cycle_in_one_leaf_and_is_faster(root: Path, processors: int) -> None:
    program = build([root / "resources/programs/ge2.c"], ldflags="-lm")
    changes = {"processor.out_of_order": "true", "processor.memory_parallelism": "6.5"}
    times = []
    for overrides in ({}, changes):
        on = machine.load("server-2x32", overrides)
        record = Simulated().run(program, on, processors, ["60"])
        assert (record.status, record.message) == ("ok", "")  # the runtime and the record check the identity
        times.append(record.time_s)
    assert times[1] < times[0]
