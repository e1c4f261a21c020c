"""A run of a large program asks for block times as it first executes a function: the result is the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph import machine
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control.build import build
from scalegraph.instrument.blocks import read_functions, section_of
from scalegraph.instrument.functions.known import known_table, write_known
from scalegraph.instrument.functions.rows import TIMING_SECTION
from scalegraph.instrument.image import Image
from scalegraph.instrument.timed import timing
from scalegraph.link import Build, Job, Simulated, rows
from scalegraph.machine import Machine
from scalegraph.runtime.format import TIMING, TIMING_UNKNOWN

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double table[4096];

__attribute__((noinline)) static double leaf(double x) { return 2 * x; }
__attribute__((noinline)) static double other(double x) { return x - 1; }
__attribute__((noinline)) static double idle(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[i % 7] > i ? leaf(sum) : other(sum);
    return sum;
}

static double (*const pointers[])(double) = {leaf, other};

__attribute__((noinline)) static double loop(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += pointers[i > n / 2](table[i]);
    return sum;
}

__attribute__((noinline)) static double walk(int n)
{
    int at = 0;
    for (int i = 0; i < n; i++)
        at = table[at * 31 % 4096] > 100 ? at * 7 + 1 : at * 3 + 2;
    return at;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **words)
{
    if (count > 5)
        return (int)idle(count);
    for (int i = 0; i < 4096; i++)
        table[i] = i * 37 % 211;
    double sum = loop(300) + clock();
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 8)
    for (int i = 0; i < 256; i++)
        sum += i % 3 ? leaf(table[i]) : walk(20);
    qsort(table, 500, sizeof *table, by_value);
    printf("%g %s\\n", sum, count > 1 ? words[1] : "");
    return 0;
}
"""

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

Running = Callable[..., RunRecord]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    source = tmp_path_factory.mktemp("rows") / "p.c"
    source.write_text(PROGRAM)
    return build([source], cflags="-O2 -fopenmp")


@pytest.fixture
def host() -> Machine:
    return machine.load("server-2x32")


@pytest.fixture
def asking(built: Build, host: Machine, monkeypatch: pytest.MonkeyPatch) -> Running:
    """Return a function that runs a program, which asks for block times however small it is."""

    def run(program: Build = built, processors: int = 4, **more: Any) -> RunRecord:
        monkeypatch.setattr(rows, "LARGE", 0)
        return Simulated().run(Job(program, host, RunPoint(processors=processors), **more))

    return run


def simulated(record: RunRecord) -> dict[str, object]:
    """Return *record* without what the host took."""
    found = record.model_dump(mode="json")
    return {key: value for key, value in found.items() if not key.startswith("host") and key != "trace"}


def known_blocks(cache: Path) -> tuple[int, int]:
    (path,) = (cache / "known").glob("[0-9a-f]*")
    table = known_table(path)
    assert table is not None
    known = section_of(table, TIMING_SECTION, TIMING)["millicycles"] != TIMING_UNKNOWN
    return int(known.sum()), known.size


@pytest.mark.parametrize("processors", [1, 4])
def test_cycles_are_those_of_a_run_that_knows_all_times(
    built: Build, host: Machine, asking: Running, empty_cache: Path, processors: int
) -> None:
    asked = asking(processors=processors)
    assert asked.status == "ok", asked.message
    known, blocks = known_blocks(empty_cache)
    assert 0 < known < blocks  # idle was not executed
    again = asking(processors=processors)
    rows.LARGE = 1 << 60
    whole = Simulated().run(Job(built, host, RunPoint(processors=processors)))
    assert simulated(asked) == simulated(whole) == simulated(again)


def test_a_run_asks_only_for_what_no_other_has_executed(
    asking: Running, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = asking()
    before = known_blocks(empty_cache)
    started: list[object] = []
    real = rows.subprocess.Popen
    monkeypatch.setattr(
        rows.subprocess, "Popen", lambda *words, **more: (started.append(words), real(*words, **more))[1]
    )
    assert simulated(asking()) == simulated(first)
    assert not any(rows._MODULE in words[0] for words in started)  # type: ignore[index]
    assert asking(args=tuple("abcdef")).status in ("ok", "failed")
    assert any(rows._MODULE in words[0] for words in started)  # type: ignore[index]
    after = known_blocks(empty_cache)
    assert before[0] < after[0] <= after[1]
    (damaged,) = (empty_cache / "known").glob("[0-9a-f]*")
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert simulated(asking()) == simulated(first)


def test_variants_and_machines_without_prediction_know_all_times(
    built: Build, host: Machine, monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    monkeypatch.setattr(rows, "LARGE", 0)
    branches = host.branches.model_copy(update={"penalty_cycles": 0})
    calm = host.model_copy(update={"branches": branches})
    assert Simulated().run(Job(built, calm, RunPoint(processors=2))).status == "ok"
    assert not (empty_cache / "known").exists()


def test_what_cannot_be_kept_only_costs_time(asking: Running, empty_cache: Path) -> None:
    empty_cache.mkdir(exist_ok=True)
    (empty_cache / "known").write_text("in the way")
    (empty_cache / "functions").write_text("in the way, too")
    assert asking().status == "ok"


def test_a_run_says_that_nobody_answers(asking: Running, monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> None:
    monkeypatch.setattr(rows, "_MODULE", "scalegraph.no_such_module")
    record = asking()
    assert record.status == "internal"
    assert "the process that times the program's functions has ended" in record.message


def test_a_program_may_close_all_descriptors(asking: Running, empty_cache: Path, tmp_path: Path) -> None:
    source = tmp_path / "closing.c"
    source.write_text(
        "#include <unistd.h>\n__attribute__((noinline)) static int f(int n) { return n > 5 ? f(n - 1) : n; }\n"
        "int main(int n, char **words) { for (int i = 3; i < 70000; i++) close(i); return f(6 + n) + !words; }\n"
    )
    program = build([source], cflags="-O1")
    first = asking(program)
    assert first.exit_code == 5, first.message
    assert simulated(asking(program)) == simulated(first)


def test_rows_of_several_runs_are_joined(tmp_path: Path, asking: Running, empty_cache: Path) -> None:
    asking()
    (path,) = (empty_cache / "known").glob("[0-9a-f]*")
    first = known_table(path)
    path.unlink()
    asking(args=tuple("abcdef"))
    second = known_table(path)
    assert first is not None
    assert second is not None
    write_known(path, first)
    joined = known_table(path)
    assert joined is not None
    known = [
        section_of(table, TIMING_SECTION, TIMING)["millicycles"] != TIMING_UNKNOWN for table in (first, second, joined)
    ]
    assert np.array_equal(known[0] | known[1], known[2])
    assert known[0].sum() < known[2].sum()


def test_all_references_are_found_without_disassembling(built: Build, host: Machine) -> None:
    image = Image(built.executable)
    sites = set(image.hook_sites().tolist())
    assert timing(built.executable, host.processor).loads.keys() <= sites
    hooks = {one.address + one.size for read in read_functions(image) for one in read.instructions if one.hook}
    assert hooks <= sites
