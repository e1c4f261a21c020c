"""Calibration of this host. Nothing here depends on the speed of the host."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from scalegraph import machine
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, InputError, WorkError
from scalegraph.base.run import RunPoint
from scalegraph.cli.main import cli
from scalegraph.control import build
from scalegraph.control.calibration import QUICK, Row, Sample, Subject, compare, derive, measure, summary, this_host
from scalegraph.control.calibration.caches import fit
from scalegraph.control.calibration.compare import at_clock_of
from scalegraph.control.calibration.host import CacheLevel, Host
from scalegraph.control.calibration.measure import SOURCES, read_line, working_sets
from scalegraph.control.calibration.native import Pace, Run, Runs, is_met_again
from scalegraph.link import Job, Simulated
from scalegraph.machine.text import keys
from scalegraph.runtime.compiler import find_compiler

NS = {
    "clock": 0.28, "no_operation": 0.05, "int_add_free": 0.06, "int_add_chain": 0.28, "int_mul_free": 0.28,
    "int_mul_chain": 0.84, "int_div_free": 1.67, "int_div_chain": 3.06, "load_free": 0.093, "load_chain": 1.39,
    "store_free": 0.14, "store_chain": 0.14, "branch_not_taken": 0.16, "branch_taken": 0.28, "branch_never": 0.28,
    "branch_random": 4.1, "call_and_return": 1.07, "library_call": 2.52, "fp_add_free": 0.14,
    "fp_add_chain": 0.56, "fp_mul_free": 0.14,
    "fp_mul_chain": 0.84, "fp_fma_free": 0.14, "fp_fma_chain": 1.11, "fp_div_free": 1.1, "fp_div_chain": 3.9,
    "fp_sqrt_free": 1.25, "fp_sqrt_chain": 3.6, "convert_free": 0.24, "convert_chain": 1.67, "chase_12288": 1.39,
    "visit_12288": 0.65, "chase_524288": 4.96, "visit_524288": 0.69, "chase_8388608": 62.0, "visit_8388608": 2.3,
    "chase_33554432": 160.0, "visit_33554432": 10.0, "memory_chase": 166.0, "memory_visit": 16.0, "page_touch": 800.0,
    "thread_create": 9000.0, "thread_switch": 1200.0, "transfer": 62.0, "atomic_contended": 32.0, "atomic": 5.0,
    "lock_by_one": 17.0, "region_by_one": 236.0, "barrier_by_one": 120.0, "chunk_by_one": 6.7, "task_by_one": 6.6,
    "forward_chain": 0.28, "forward_fp_chain": 1.7, "fp_mixed_free": 0.14,
    "region_by_two": 760.0, "barrier_by_two": 300.0, "chunk_by_two": 25.0,
}  # fmt: skip
CACHES = (
    CacheLevel(1, 48 * 1024, 64, 12, 1),
    CacheLevel(2, 2**21, 64, 16, 1),
    CacheLevel(3, 480 * 2**20, 64, 16, 2),
)


@pytest.fixture
def measured() -> dict[str, Sample]:
    """Measurements of a current server, as seen by a virtual machine on it."""
    rates = {name: Sample("GB/s", 15.0, 15.0, 15.5, 9) for name in ("read_by_one", "read_by_two")}
    return {name: Sample("ns", value, value, 1.01 * value, 21) for name, value in NS.items()} | rates


@pytest.fixture
def host() -> Host:
    return Host("A Processor", (0, 1), 1, -1, CACHES, True, 4096, 2**32)


@pytest.mark.slow
@pytest.mark.compiler
def test_everything_is_measured_on_any_host() -> None:
    found = measure(find_compiler(), this_host(), QUICK, cancel=CancelToken())
    optional = {name for name in NS if "_two" in name or name.startswith(("chase_", "visit_", "fp_fma"))}
    assert set(NS) - optional - {"transfer", "atomic_contended"} <= set(found)
    assert all(sample.median > 0 for sample in found.values())


@pytest.mark.slow
@pytest.mark.compiler
def test_micro_benchmark_compiles_without_warnings(tmp_path: Path) -> None:
    flags = ["-std=gnu11", "-O2", "-fopenmp", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
    for source in SOURCES.glob("*.c"):
        result = find_compiler().run([*flags, "-c", str(source), "-o", str(tmp_path / "object.o")])
        assert result.returncode == 0, result.stderr


def test_machine_of_a_host_loads_and_says_where_every_value_comes_from(
    host: Host, measured: dict[str, Sample], tmp_path: Path
) -> None:
    found = derive(host, measured)
    path = tmp_path / "host.toml"
    path.write_text(found.to_toml())
    assert machine.load(str(path)) == found
    assert not set(keys(found)) - set(found.origin) - {"name", "title", "summary"}
    assert found.max_processors == 2


def test_values_follow_from_the_measurements(host: Host, measured: dict[str, Sample]) -> None:
    found = derive(host, measured)
    assert found.processor.clock_mhz == pytest.approx(1e3 / 0.28, abs=0.1)
    assert found.processor.issue_width == 6
    assert found.processor.operation_cycles.fp_add == pytest.approx(0.5, abs=0.001)
    assert found.processor.memory_parallelism == pytest.approx(166 / (16 - 0.65), abs=0.05)
    assert found.synchronisation.fork_cycles == round(236 / 0.28) - round(120 / 0.28)
    # including the barrier at its end, which cannot be separated
    assert found.synchronisation.alone_cycles == round(236 / 0.28)


def _waits(kind: str, size: int) -> dict[str, Sample]:
    """Two misses with instructions in between, of which *size* can be in flight."""
    return {
        f"{kind}_{number}": Sample("ns", ns, ns, 1.01 * ns, 21)
        for number in (16, 64, 128, 256, 448, 512, 768)
        for ns in (150.0 + 0.05 * number + (150.0 if number > size else 0.0),)
    }


def test_window_is_where_misses_cease_to_overlap(host: Host, measured: dict[str, Sample]) -> None:
    found = derive(host, measured | _waits("window", 500) | _waits("scheduler", 100)).processor.pipeline
    limit = 1.5 * (150.0 + 0.05 * 16)
    assert found.window == round(448 + 64 * (limit - 172.4) / (325.6 - 172.4))
    assert found.scheduler == round(64 + 64 * (limit - 153.2) / (306.4 - 153.2))
    assert found.fp_add == 2.0
    assert found.issue == pytest.approx(0.05 / 0.28, abs=0.0001)
    assert found.load == pytest.approx(1.39 / 0.28, abs=0.01)


def test_issue_of_a_processor_that_takes_two_instructions_without_effect_for_one(
    host: Host, measured: dict[str, Sample]
) -> None:
    two = {"no_operation": 0.025, "clear_register": 0.05}
    waits = _waits("window", 500) | _waits("scheduler", 500)
    seen = measured | waits | {name: Sample("ns", ns, ns, ns, 21) for name, ns in two.items()}
    found = derive(host, seen).processor
    assert found.issue_width == 6
    assert found.pipeline.issue == pytest.approx(0.05 / 0.28, abs=0.0001)


def test_predictor_is_as_large_as_ours_has_to_be_for_the_pattern_that_is_remembered(
    host: Host, measured: dict[str, Sample]
) -> None:
    periods = {f"branch_period_{period}": 0.3 if period <= 2048 else 4.0 for period in (512, 1024, 2048, 4096)}
    agreeing = {f"agree_{ways}_{jumps}": ns for jumps in (16, 64) for ways, ns in (("never", 9.0), ("random", 12.9))}
    agreeing["agree_random_64"] = 9.0 + 7.6  # both are mispredicted
    more = {name: Sample("ns", ns, ns, ns, 21) for name, ns in (periods | agreeing).items()}
    found = derive(host, measured | more).branches
    assert found.penalty_cycles == round(2 * (4.1 - 0.28) / 0.28)
    assert (found.entries, found.history) == (4096, 16)  # for a pattern of 2,900, half of which is predicted


def test_lines_that_come_in_order_show_the_prefetcher(host: Host, measured: dict[str, Sample]) -> None:
    def at(ns: float) -> tuple[str, int]:
        prefetch = derive(host, measured | {"ordered_8388608": Sample("ns", ns, ns, ns, 21)}).prefetch
        return prefetch.kind, prefetch.distance

    assert at(6.2) == ("stride", 10)
    assert at(0.5) == ("stride", 64)
    assert at(60.0)[0] == "none"
    assert derive(host, measured | {"ordered_8388608": Sample("ns", 6.2, 6.2, 6.2, 21)}).prefetch.under_way == 10
    assert derive(host, measured).prefetch.kind == "none"


def test_misses_of_the_last_cache_say_how_many_are_under_way(host: Host, measured: dict[str, Sample]) -> None:
    seen = measured | _waits("window", 500) | _waits("scheduler", 500)
    assert derive(host, seen).processor.pipeline.misses == round(62.0 / (2.3 - 0.65))
    unclear = seen | {"visit_8388608": Sample("ns", 0.5, 0.5, 0.5, 21)}
    assert derive(host, unclear).processor.pipeline.misses == 0  # faster than hits


def test_comparisons_take_what_is_left_of_a_mix_with_branches(host: Host, measured: dict[str, Sample]) -> None:
    seen = measured | _waits("window", 500) | _waits("scheduler", 500)
    for name, ns in (("select_mixed", 0.14), ("compare_mixed", 0.42)):
        seen |= {name: Sample("ns", ns, ns, ns, 21)}
    assert derive(host, seen).processor.pipeline.compare == pytest.approx((0.42 - 2 * 0.14) / 0.28, abs=0.001)


def test_calls_into_libraries_and_the_status_register_take_what_they_take_here(
    host: Host, measured: dict[str, Sample]
) -> None:
    seen = measured | _waits("window", 500) | _waits("scheduler", 500)
    pipeline = derive(host, seen | {"status_read": Sample("ns", 32 * 0.05 + 2.8, 4.4, 4.4, 21)}).processor.pipeline
    assert pipeline.library_call == pytest.approx(9.0)
    assert pipeline.status == pytest.approx(10.0)  # in addition to the 32 instructions around it
    assert derive(host, seen).processor.pipeline.status == 0  # not measured: like any other instruction


def test_schedulers_lines_and_additions_show_in_chains_and_calls(host: Host, measured: dict[str, Sample]) -> None:
    seen = measured | _waits("window", 500) | _waits("scheduler", 500)
    more = {"call_to_line": 1.1, "call_over_lines": 1.38, "add_multiply_chain": 1.68, "chains": 40 * 0.84 / 2.0}
    found = derive(host, seen | {name: Sample("ns", ns, ns, ns, 21) for name, ns in more.items()}).processor.pipeline
    assert found.line == pytest.approx(0.5)
    assert (found.fp_add, found.fp_add_on) == (2.0, pytest.approx(3.0))
    assert found.fp_scheduler == 40  # all of a chain are under way beside one that ends
    without = derive(host, seen).processor.pipeline
    assert (without.line, without.fp_add_on, without.fp_scheduler) == (0, 0, 0)


def test_chains_that_only_wait_for_their_units_show_no_scheduler(host: Host, measured: dict[str, Sample]) -> None:
    seen = measured | _waits("window", 500) | _waits("scheduler", 500)
    quick = 40 * 1.5 * 0.14
    assert derive(host, seen | {"chains": Sample("ns", quick, quick, quick, 21)}).processor.pipeline.fp_scheduler == 0


def test_small_pages_that_cost_more_show_the_translation(host: Host, measured: dict[str, Sample]) -> None:
    def at(**more: float) -> tuple[int, int]:
        large = {f"large_pages_{pages}": 5.0 for pages in (256, 512, 1024, 2048, 4096, 8192)}
        small = {name.replace("large", "small"): ns + more.get(f"p{name[12:]}", 0.0) for name, ns in large.items()}
        found = derive(host, measured | {name: Sample("ns", ns, ns, ns, 21) for name, ns in (large | small).items()})
        return found.translation.entries, found.translation.walk_cycles

    assert at(p2048=4.0, p4096=8.4, p8192=25.0) == (1024, 30)
    assert at()[1] == 0  # no large pages, or no difference
    assert derive(host, measured).translation.walk_cycles == 0


def test_host_whose_window_is_not_seen_has_no_pipeline(host: Host, measured: dict[str, Sample]) -> None:
    assert not derive(host, measured).processor.pipeline.is_given


def test_virtual_machine_has_as_much_of_the_last_cache_as_is_measured(host: Host, measured: dict[str, Sample]) -> None:
    last = derive(host, measured).cache[-1]
    assert last.size_kib == 16 * 1024  # 32 MiB are as slow as memory, despite what the system reports
    assert last.hit_cycles == round((62.0 - 4.96) / 0.28)


def test_host_without_description_of_its_caches_gives_a_machine_all_the_same(
    host: Host, measured: dict[str, Sample]
) -> None:
    found = derive(replace(host, caches=()), measured)
    assert found.origin["cache.0.size_kib"].startswith("estimate: ")


def test_one_processor_alone_makes_transfers_an_estimate(host: Host, measured: dict[str, Sample]) -> None:
    alone = {name: sample for name, sample in measured.items() if "two" not in name and name != "transfer"}
    found = derive(replace(host, processors=(0,)), alone)
    assert found.max_processors == 1
    assert found.origin["network.transfer_ns"].startswith("estimate: ")


def test_measurements_out_of_proportion_are_refused_in_a_sentence(host: Host, measured: dict[str, Sample]) -> None:
    with pytest.raises(WorkError, match=r"are implausible \(network.*transfer_ns: .*is the host busy"):
        derive(host, measured | {"transfer": Sample("ns", 1e9, 1e9, 1e9, 5)})


@pytest.mark.slow
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


def test_less_disturbed_round_is_kept() -> None:
    short, long = Sample("ns", 1.0, 1.0, 1.0, 3), Sample("ns", 2.0, 1.0, 2.0, 3)
    assert short.is_better(long)
    assert replace(long, unit="GB/s").is_better(replace(short, unit="GB/s"))


def test_round_with_the_fewest_cycles_is_kept_and_reported_at_one_clock() -> None:
    slow = Sample("ns", 2.0, 1.8, 2.2, 3, cycle_ns=0.5)  # four cycles while the clock was slow
    fast = Sample("ns", 1.9, 1.8, 2.0, 3, cycle_ns=0.4)  # more than four while it was fast
    assert slow.is_better(fast)
    assert not fast.is_better(slow)
    found = slow.at_clock(0.4)
    assert (found.median, found.low, found.high, found.cycle_ns) == pytest.approx((1.6, 1.44, 1.76, 0.4))
    memory = Sample("ns", 100.0, 90.0, 110.0, 3)
    assert memory.at_clock(0.4) == memory


def test_cycle_behind_the_values_of_a_line_is_read() -> None:
    _, sample = read_line("load_chain ns 2 1 3 @0.4")
    assert (sample.median, sample.count, sample.cycle_ns) == (2, 3, 0.4)


def test_line_of_measurements_gives_median_and_quartiles() -> None:
    name, sample = read_line("clock ns 4 1 2 3 100")
    assert (name, sample.unit, sample.median, sample.low, sample.high, sample.count) == ("clock", "ns", 3, 2, 4, 5)
    assert sample.spread == pytest.approx(2 / 3)


@pytest.mark.parametrize("line", ["clock", "clock ns", "clock ns fast", "clock ns @0.4", "clock ns 1 @"])
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
        Row("a", 1, 0.5, 1.0, 0.0, 1.2, predicted_optimised_s=0.6),
        Row("a", 2, 0.25, 0.5, 0.0, 0.8, predicted_optimised_s=0.25),
        Row("b", 1, 1.0, 1.0, 0.0, 0.8, predicted_optimised_s=0.5),
    ]


def test_errors_are_relative_to_the_measured_time() -> None:
    one, two, three = _rows()
    assert one.error == pytest.approx(0.2)
    assert one.error_optimised == pytest.approx(0.2)
    assert three.error_optimised == pytest.approx(-0.5)
    assert two.error == pytest.approx(0.6)
    assert three.error == pytest.approx(-0.2)


@pytest.mark.parametrize(("times", "met"), [((3.0, 1.0, 1.01, 1.02), True), ((1.0, 1.01, 1.03), False)])
def test_least_time_counts_when_two_more_runs_are_near_it(times: tuple[float, ...], met: bool) -> None:
    assert is_met_again([Run(taken, (Pace(3e9, 0.25),) * 2) for taken in times], 0.25) == met


@pytest.mark.parametrize(("crowded", "met"), [(0, False), (1, True), (2, True)])  # the fastest run, or another one
def test_a_least_time_counts_as_met_again_only_with_the_core_to_itself(crowded: int, met: bool) -> None:
    runs = [
        Run(taken, (Pace(3e9, 0.25), Pace(3e9, 0.5 if number == crowded else 0.25)))
        for number, taken in enumerate((1.0, 1.01, 1.015))
    ]
    assert is_met_again(runs, 0.25) == met


def test_runs_with_a_faster_clock_do_not_count_and_quiet_ones_are_known() -> None:
    here, slower, faster, crowded = Pace(2.95e9, 0.26), Pace(2.5e9, 0.25), Pace(3.4e9, 0.25), Pace(2.9e9, 0.45)
    quiet, slow, fast, shared = (Run(1.0, (here, other)) for other in (here, slower, faster, crowded))
    assert Runs((quiet, slow, fast, shared), 0).counting(2.9e9) == (quiet, slow, shared)
    assert Runs((fast,), 0).counting(2.9e9) == (fast,)
    assert [run.is_quiet(2.9e9, 0.25) for run in (quiet, slow, fast, shared)] == [True, False, False, False]


def test_the_fastest_run_is_predicted_at_its_clock() -> None:
    runs = [Run(taken, (Pace(clock, 0.2), Pace(clock + 2e8, 0.2))) for taken, clock in ((2.0, 3e9), (1.0, 2.6e9))]
    found = machine.load("server-2x32-inorder")
    at = at_clock_of(runs, found)
    assert at.processor.clock_mhz == 2700
    assert at.processor.pipeline == found.processor.pipeline
    assert at.cache == found.cache


def test_summary_is_in_ratios() -> None:
    total = summary(_rows())
    assert total.ratio == pytest.approx((1.2 * 1.6 * 0.8) ** (1 / 3))
    assert total.size == pytest.approx((1.2 * 1.6 * 1.25) ** (1 / 3))
    assert total.speedup_size == pytest.approx((1.0 / 0.5) / (1.2 / 0.8))
    assert (total.worst, total.worst_program, total.failed) == (pytest.approx(1.6), "a", 0)
    assert math.isnan(summary([]).ratio)


def test_summary_has_the_programs_as_they_are_built_too() -> None:
    total = summary(_rows())
    assert total.ratio_optimised == pytest.approx((1.2 * 1.0 * 0.5) ** (1 / 3))
    assert total.size_optimised == pytest.approx((1.2 * 1.0 * 2.0) ** (1 / 3))
    assert total.speedup_size_optimised == pytest.approx(1.2)
    assert (total.worst_optimised, total.worst_program_optimised) == (pytest.approx(2.0), "b")


def test_row_that_failed_is_counted_and_in_no_mean() -> None:
    total = summary([*_rows(), Row.failed("c", 1, "c: does not compile")])
    assert total.failed == 1
    assert replace(total, failed=0) == summary(_rows())


def _described(place: Path, name: str, text: str, more: str = "") -> Path:
    (place / f"{name}.c").write_text(text)
    path = place / f"{name}.toml"
    path.write_text(f'title = "{name}"\nsources = ["{name}.c"]\n{more}')
    return path


@pytest.mark.slow
@pytest.mark.compiler
def test_own_programs_are_in_the_table_and_one_that_fails_leaves_the_others(tmp_path: Path) -> None:
    status = "#include <stdlib.h>\nint main(int n, char **a) { return n == 2 ? atoi(a[1]) : 9; }\n"
    parameter = '[[parameter]]\nname = "status"\ntitle = "status"\ndefault = 3\n'
    files = [
        _described(tmp_path, "own", status, 'args = ["{status}"]\n' + parameter),
        _described(tmp_path, "broken", "int main(void) { return nothing; }\n"),
        _described(tmp_path, "crashing", "int main(void) { __builtin_trap(); }\n"),
    ]
    also = [word for path in files for word in ("--also", str(path))]
    words = [
        "machines",
        "calibrate",
        "--compare",
        "--machine",
        "server-2x32-inorder",
        "--quick",
        "--threads",
        "1",
        "--json",
    ]
    result = CliRunner().invoke(cli, [*words, *also, "--program", "own"])
    assert result.exit_code == 0, result.output
    rows = {row["program"]: row for row in json.loads(result.stdout)["rows"]}
    assert list(rows) == ["own", "broken", "crashing"]
    assert rows["own"]["failure"] == ""
    assert rows["own"]["predicted_s"] > 0
    assert rows["own"]["predicted_optimised_s"] > 0
    assert rows["own"]["clock_mhz"] > 100
    assert rows["own"]["as_calibrated"] <= 2
    assert "broken.c:1: 'nothing' undeclared" in rows["broken"]["failure"]
    assert rows["broken"]["error"] is None
    assert rows["crashing"]["failure"] == "crashing-0: ended by signal 4 on this host"
    assert json.loads(result.stdout)["summary"]["failed"] == 2


def test_own_program_cannot_have_the_name_of_a_shipped_one(tmp_path: Path) -> None:
    path = _described(tmp_path, "sor", "int main(void) { return 0; }\n")
    result = CliRunner().invoke(cli, ["machines", "calibrate", "--compare", "--machine", "ksr1", "--also", str(path)])
    assert result.exit_code == 2
    assert "there is a shipped program 'sor'" in result.output


def test_number_of_processors_cannot_stand_among_compared_arguments(tmp_path: Path) -> None:
    path = _described(tmp_path, "own", "int main(void) { return 0; }\n", 'args = ["{N}"]\n')
    result = CliRunner().invoke(cli, ["machines", "calibrate", "--compare", "--machine", "ksr1", "--also", str(path)])
    assert isinstance(result.exception, InputError)
    assert "'{N}' cannot be used in the arguments" in str(result.exception)


@pytest.mark.slow
@pytest.mark.compiler
def test_program_is_compared_with_one_and_two_threads(root: Path) -> None:
    subject = Subject("ge2", (root / "resources/programs/ge2.c",), ("40",), (), ("-lm",))
    found = machine.load("server-2x32-inorder")
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
        on = machine.load("server-2x32-inorder", overrides)
        record = Simulated().run(Job(program, on, RunPoint(processors=processors), ("60",)))
        assert (record.status, record.message) == ("ok", "")  # the runtime and the record check the identity
        times.append(record.time_s)
    assert times[1] < times[0]
