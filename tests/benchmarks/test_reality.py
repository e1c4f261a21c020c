"""benchmarks/reality.py: its tables are valid, and its kernels measure what follows from the machine's values."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import InputError, WorkError

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TABLES = sorted((BENCHMARKS / "reality").glob("*.toml"))
# A textbook server whose core waits for every miss: what a kernel takes is a sum of its values. Small, so that data
# of a few hundred KiB are in memory.
SMALL = {"cache.l1.size_kib": "12", "cache.l2.size_kib": "64", "cache.l3.size_kib": "480"}
TEXTBOOK = "server-4s"


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import reality_tables

    return reality_tables


@pytest.fixture
def runs(tables: ModuleType) -> ModuleType:
    import reality_runs

    return reality_runs


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_table_has_a_source_and_a_machine_that_is_shipped(path: Path, tables: ModuleType) -> None:
    table = tables.read(path)
    assert len(table.source) > 20
    assert table.described().max_processors >= 1


BANDWIDTH = """\
kind = "bandwidth"
title = "T"
machine = "server-4s"
source = "S"

[[measured]]
level = "memory"
kernel = "triad"
gb_s = [1.0, 2.0]
"""
MESSAGES = """\
kind = "messages"
title = "T"
machine = "server-4s"
source = "S"

[[measured]]
operation = "latency"
ranks = [2]
bytes = [1, 8]
us = [1.5, 2.0]
"""
PROGRAM = """\
kind = "program"
title = "T"
machine = "server-4s"
source = "S"

[program]
repository = "https://example.org/x"
commit = "0123456789012345678901234567890123456789"
sources = ["x.c"]

[measured]
processors = [1, 2]
time_s = [2.0, 1.0]
"""


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (BANDWIDTH, '"bandwidth"', '"band"', "t.toml:1:1: input tag 'band' found using 'kind' does not match"),
        (BANDWIDTH, "gb_s", "gbs", ":9:1: measured.0.gbs: unknown key 'gbs'"),
        (BANDWIDTH, '"triad"', '"tried"', ":8:1: measured.0.kernel: input should be 'load', "),
        (BANDWIDTH, "[1.0,", "[-1.0,", ":9:9: measured.0.gb_s.0: input should be greater than 0"),
        (BANDWIDTH, "gb_s", "cores = [1]\ngb_s", "expected as many cores as values of gb_s (2), got 1"),
        (PROGRAM, "[2.0, 1.0]", "[2.0]", "expected a time for each of 2 processors, got 1"),
        (PROGRAM, "[1, 2]", "[2, 1]", "expected processors in increasing order"),
        (PROGRAM, '"0123', '"main', ":8:1: program.commit: "),
        (PROGRAM, "[measured]", "[run]\nat = [3]\n\n[measured]", "measured numbers of processors, got 3"),
        (MESSAGES, "[1.5, 2.0]", "[1.5]", "expected one or 1 values of bytes, as many as of us; got 2"),
    ],
)
def test_a_fault_of_a_table_is_placed(
    text: str, old: str, new: str, said: str, tables: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "t.toml"
    path.write_text(text, encoding="utf-8")
    tables.read(path)
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        tables.read(path)
    assert said in "\n".join(map(str, caught.value.faults))


def test_tables_can_be_cut_to_levels(tables: ModuleType) -> None:
    found = tables.chosen([], ["bandwidth", "latency"], ["memory"])
    assert {row.level for table in found.values() for row in table.measured} == {"memory"}
    assert {table.kind for table in found.values()} == {"bandwidth", "latency"}
    assert "latency-epyc-7763" not in found  # has the caches only


def test_data_lie_in_the_level_that_is_measured(runs: ModuleType) -> None:
    machine = machines.load(TEXTBOOK)
    l1, l2, l3 = (cache.size_kib for cache in machine.cache)
    assert runs.level_kib(machine, "L1", 1) < l1 < runs.level_kib(machine, "L2", 1) < l2
    for cores in (1, 8, 32):
        of_each = runs.level_kib(machine, "L3", cores)
        assert l2 < of_each
        assert of_each * cores < l3 + cores * l2  # a level of victims
        assert runs.level_kib(machine, "memory", cores) * cores > 2 * l3
    assert runs.few([1, 2, 3, 4, 5, 6]) == [1, 3, 6]


@pytest.mark.slow
@pytest.mark.compiler
def test_a_chase_takes_the_look_into_the_levels_and_the_memory(runs: ModuleType) -> None:
    machine = machines.load(TEXTBOOK, SMALL)
    network, ghz = machine.network, machine.clock_hz / 1e9
    looks = [cache.hit_cycles / ghz for cache in machine.cache]
    issue = machine.processor.operation_cycles.load / ghz
    expected = {8: issue, 40: issue + looks[1], 400: issue + sum(looks), 4096: issue + sum(looks) + network.memory_ns}
    rows = runs.run(machine, 1, "chase", 64, 0, *expected)
    assert {int(kib) for kib, _ in rows} == set(expected)
    for kib, ns in rows:
        assert float(ns) == pytest.approx(expected[int(kib)], rel=0.03, abs=0.5), kib


@pytest.mark.slow
@pytest.mark.compiler
def test_streams_saturate_the_channels(runs: ModuleType) -> None:
    """A triad reads three lines, reads the fourth before it writes it, and gives it back: five for four."""
    machine = machines.load(TEXTBOOK, SMALL | {"network.channels": "1", "network.channel_gb_s": "2.0"})
    found = {kernel: float(gb_s) for kernel, gb_s in runs.run(machine, 8, "stream", 512, 1, "load", "copy", "triad")}
    assert found["load"] == pytest.approx(2.0, rel=0.05)
    assert found["copy"] == pytest.approx(2.0 * 2 / 3, rel=0.05)
    assert found["triad"] == pytest.approx(2.0 * 4 / 5, rel=0.05)
    ((_, alone),) = runs.run(machine, 1, "stream", 4096, 1, "load")
    looks = sum(cache.hit_cycles for cache in machine.cache) / (machine.clock_hz / 1e9)
    assert float(alone) == pytest.approx(
        64 / (looks + machine.network.memory_ns), rel=0.1
    )  # one miss at a time, and the sums


@pytest.mark.slow
@pytest.mark.compiler
def test_a_line_goes_to_and_fro_in_the_time_of_its_way(runs: ModuleType) -> None:
    """A thread that spins sees the other's value when it comes, not as late as processors may run ahead."""
    machine = machines.load("server-2x32")
    network, ghz = machine.network, machine.clock_hz / 1e9
    way = sum(cache.hit_cycles for cache in machine.cache) / ghz + network.transfer_ns
    rows = runs.run(machine, 40, "pingpong", 100, 0, 1, 0, 39, 3, 3, 0, 40)
    near, far = (float(ns) for _, _, ns in rows)  # a thread with itself, or with none, is not a pair
    assert near == pytest.approx(way, rel=0.15)  # and the operation itself
    assert far - near == pytest.approx(network.remote_transfer_ns - network.transfer_ns + 2 * network.link_ns, rel=0.05)


@pytest.mark.slow
@pytest.mark.compiler
def test_a_barrier_takes_longer_with_more_threads(runs: ModuleType) -> None:
    machine = machines.load(TEXTBOOK, SMALL)
    times = [float(runs.run(machine, count, "barrier", 20)[0][1]) for count in (2, 8, 32)]
    assert 0 < times[0] < times[1] < times[2] < 100


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.parametrize("operation", ["latency", "bandwidth", "bcast", "allreduce", "barrier"])
def test_operations_of_mpi_take_longer_with_more_bytes(
    operation: str, tables: ModuleType, runs: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "t.toml"
    text = MESSAGES.replace('"latency"', f'"{operation}"').replace("[1, 8]", "[8, 4096]")
    if operation == "barrier":
        text = text.replace("[2]", "[2, 8]").replace("bytes = [8, 4096]\n", "")
    path.write_text(text, encoding="utf-8")
    few, many = runs.compared(tables.read(path), runs.few, lambda _text: None, None)
    assert (few.measured, many.measured) == (1.5, 2.0)
    assert few.unit == ("MB/s" if operation == "bandwidth" else "us")
    assert 0 < few.simulated < many.simulated


@pytest.mark.slow
@pytest.mark.compiler
def test_a_program_is_fetched_built_run_and_compared(tables: ModuleType, runs: ModuleType, tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    (origin / "src").mkdir(parents=True)
    (origin / "src/work.c").write_text(
        """#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **argument)
{
    double start = omp_get_wtime(), sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < atoi(argument[1]); i++)
        sum += 1.0 / (1 + i);
    printf("sum %g with %s, elapsed %.9f ms\\n", sum, argument[2], (omp_get_wtime() - start) * 1e3);
    return count != 3;
}
""",
        encoding="utf-8",
    )

    def git(*words: str) -> str:
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        done = subprocess.run(["git", "-C", str(origin), *who, *words], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "x")
    text = f"""kind = "program"
title = "Work"
machine = "{TEXTBOOK}"
source = "a test"

[program]
repository = "{origin.as_uri()}"
commit = "{git("rev-parse", "HEAD")}"
sources = ["src/*.c"]
cflags = "-O2 -fopenmp"

[run]
arguments = ["100000", "{{N}}"]
arguments_at = {{ 4 = ["100000", "four"] }}
before = [["{sys.executable}", "-c", "open('made', 'w').close()"]]
pictures = [{{ path = "pictures/p.pgm", side = 6, most = 3 }}]
at = [1, 4]
time_from = 'elapsed ([0-9.]+) ms'
time_unit_s = 1e-3
scale = 10.0
threads_per_process = 0

[measured]
processors = [1, 4, 16]
time_s = [0.01, 0.0025, 0.001]
"""
    path = tmp_path / "work.toml"
    path.write_text(text, encoding="utf-8")
    table = tables.chosen([str(path)])["work"]
    said: list[str] = []
    points = list(runs.compared(table, lambda counts: counts[:2], said.append, tmp_path / "programs"))
    assert [(point.series, point.at) for point in points] == [("time", "1"), ("time", "4"), ("speedup", "4")]
    assert points[2].measured == 4.0
    assert points[2].simulated == pytest.approx(points[0].simulated / points[1].simulated)
    assert 3 < points[2].simulated <= 4.1
    (place,) = (tmp_path / "programs").iterdir()
    assert (place / "made").exists()
    head, cells = (place / "pictures/p.pgm").read_bytes().split(b"3\n", 1)
    assert (head, len(cells), set(cells)) == (b"P5\n6 6\n", 36, {0, 3})
    assert runs.compared_at(table, lambda counts: counts[1:]) == [1, 4]
    assert runs.compared_at(table, list) == [1, 4, 16]
    assert points[0].simulated > 10 * 100_000 * 0.5e-9
    found = runs.summary(points)
    assert found["worst"] == max(abs(point.error) for point in points)
    with pytest.raises(WorkError, match="--programs DIRECTORY"):
        list(runs.compared(table, runs.few, said.append, None))


def test_a_part_of_the_work_has_as_many_passes_of_the_system_as_all(runs: ModuleType) -> None:
    machine = machines.load("xeon-8480")
    wanted = machines.load("xeon-8480", {"balancing.pace": "1000"}).runtime_config()
    assert runs.hastened(machine, 1000.0).runtime_config() == wanted
    assert runs.hastened(machine, 1.0) == machine
    desktop = machines.load("desktop-8")
    assert runs.hastened(desktop, 1000.0).runtime_config()["machine.balancing_delay_cycles"] == "0"
