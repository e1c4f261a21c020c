"""Functions with the same code are costed and timed once, and results are kept by function."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scalegraph import machine
from scalegraph.base.cancel import CancelToken
from scalegraph.control.build import build
from scalegraph.instrument.blocks import block_table, probed_functions, read_function, read_functions
from scalegraph.instrument.functions import side_by_side
from scalegraph.instrument.functions.kept import kept_functions, nothing_kept
from scalegraph.instrument.functions.shapes import Shape, shape_of
from scalegraph.instrument.functions.skeletons import Skeletons
from scalegraph.instrument.functions.times import Paths
from scalegraph.instrument.image import Function, Image
from scalegraph.instrument.timed import found_timing, table_with, timed_table
from scalegraph.link import Build
from scalegraph.link import timing as linked

FUNCTION = """
static double total{n};
double sum{n}(const double *x, int count)
{{
    for (int i = 0; i < count; i++)
        total{n} += x[{factor} * i];
    return twice(total{n});
}}
"""
PROGRAM = """
__attribute__((noinline)) static double twice(double x) { return 2 * x; }
%s
int main(int count, char **words)
{
    double x[3] = {count, words[0][0], 2};
    return sum1(x, 3) > sum2(x, count) + sum3(x, 2);
}
"""

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


def program(where: Path, factors: Sequence[int] = (3, 3, 5)) -> Build:
    source = where / "p.c"
    source.write_text(PROGRAM % "".join(FUNCTION.format(n=n, factor=f) for n, f in enumerate(factors, 1)))
    return build([source], cflags="-O2")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return program(tmp_path_factory.mktemp("functions"))


@pytest.fixture
def host() -> machine.Machine:
    return machine.load("server-2x32")


def test_functions_with_the_same_code_have_one_shape_wherever_they_are(built: Build) -> None:
    shapes = {one.function.name: one.shape for one in read_functions(Image(built.executable))}
    assert shapes["sum1"].digest == shapes["sum2"].digest != shapes["sum3"].digest
    assert shapes["sum1"].start != shapes["sum2"].start
    assert shapes["sum1"].outside == shapes["sum2"].outside
    assert len({one.digest for one in shapes.values()}) == len(shapes) - 1


def test_what_is_shared_is_what_each_has_by_itself(
    built: Build, host: machine.Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert built.plain is not None
    plain = built.plain(CancelToken())
    table = block_table(built.executable).content
    shared = (
        table,
        timed_table(table, built.executable, host),
        timed_table(table, built.executable, host, built.lines, plain),
    )

    def alone(image: Image, function: Function, *more: Any, frame: bool) -> Shape:
        return replace(shape_of(image, function, *more, frame=frame), digest=str(function.start))

    monkeypatch.setattr("scalegraph.instrument.blocks.shape_of", alone)
    table = block_table(built.executable).content
    found = [
        table_with(table, found_timing(built.executable, host.processor, lines, other, nothing_kept))
        for lines, other in ((None, None), (built.lines, plain))
    ]
    assert (table, *found) == shared


def timed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows with each function that is timed."""
    found: list[int] = []
    real = Paths.timing

    def counted(self: Paths, *more: object) -> object:
        found.append(len(self.chunks))
        return real(self, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(Paths, "timing", counted)
    return found


def test_a_rebuilt_program_has_only_its_changed_function_timed(
    tmp_path: Path, empty_cache: Path, host: machine.Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = timed(monkeypatch)
    first = program(tmp_path)
    began = found_timing(first.executable, host.processor, None, None, kept_functions)
    assert len(count) == len(list(read_functions(Image(first.executable)))) - 1  # sum1 stands for sum2
    of_first = len(count)
    assert found_timing(first.executable, host.processor, None, None, kept_functions) == began
    assert len(count) == of_first
    second = program(tmp_path, (3, 3, 7))
    assert found_timing(second.executable, host.processor, None, None, kept_functions).cycles
    assert len(count) == of_first + 1
    third = program(tmp_path, (3, 8, 7))
    fresh = found_timing(third.executable, host.processor, None, None, nothing_kept)
    assert found_timing(third.executable, host.processor, None, None, kept_functions) == fresh


def test_a_damaged_database_costs_only_time(tmp_path: Path, empty_cache: Path, host: machine.Machine) -> None:
    one = program(tmp_path)
    began = found_timing(one.executable, host.processor, None, None, kept_functions)
    (file,) = empty_cache.rglob("functions.sqlite")
    with sqlite3.connect(file) as database:
        database.execute("UPDATE kept SET value = x'00'")
    assert found_timing(one.executable, host.processor, None, None, kept_functions) == began
    file.write_bytes(b"no database")
    assert found_timing(one.executable, host.processor, None, None, kept_functions) == began


def test_a_process_of_its_own_writes_the_same_table(
    built: Build, host: machine.Machine, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert built.plain is not None
    plain = built.plain(CancelToken())
    here = timed_table(built.blocks.read_bytes(), built.executable, host, built.lines, plain)
    monkeypatch.setattr(linked, "LARGE", 0)
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0, 1, 2})
    with monkeypatch.context() as patch:
        patch.setattr("scalegraph.instrument.timed.timed_table", lambda *_: pytest.fail("made here"))
        assert linked.timed_blocks(built, host, plain).read_bytes() == here
    assert list(empty_cache.rglob("functions.sqlite"))
    monkeypatch.setattr(linked, "_MODULE", "no_such_module")
    assert linked.timed_blocks(built, host, None).read_bytes() == timed_table(
        built.blocks.read_bytes(), built.executable, host
    )


def test_each_process_gets_whole_shapes_and_about_as_much_work(built: Build) -> None:
    read = list(read_functions(Image(built.executable)))
    lists = side_by_side._dealt(read, 2)
    assert sorted(one.function.start for some in lists for one in some) == sorted(one.function.start for one in read)
    assert not {one.shape.digest for one in lists[0]} & {one.shape.digest for one in lists[1]}
    assert all(lists)


ALIKE = """
#include <math.h>
#include <string.h>
double variable[4] = {1, 2, 3, 4}, another[4] = {1};
static const volatile double fixed[4] = {1, 2, 3, 4};
__attribute__((noinline)) void one(double x) { variable[0] += x; }
__attribute__((noinline)) void two(double x) { variable[1] *= x; }
void first(void) { one(variable[1]), two(another[1]), one(another[2]); }
void other_data(void) { two(another[1]), one(variable[1]), two(variable[2]); }
void other_order(void) { one(variable[1]), two(another[1]), two(another[2]); }
void same_again(void) { one(another[1]), two(variable[1]), one(variable[2]); }
void writable(volatile double *x) { *x = variable[2]; }
void constant(volatile double *x) { *x = fixed[2]; }
void by_sine(volatile double *x) { *x = sin(*x); }
void by_cosine(volatile double *x) { *x = cos(*x); }
void by_one(volatile double *x) { one(*x), *x = 0; }
void by_two(volatile double *x) { two(*x), *x = 0; }
int number(void) { return 12345678; }
int other_number(void) { return 23456789; }
int main(void) { return 0; }
"""


def test_a_form_found_by_comparing_bytes_is_that_of_the_disassembled_function(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(ALIKE)
    image = Image(build([tmp_path / "p.c"], cflags="-O2", ldflags="-lm").executable)
    known, found = Skeletons(image), set()
    for function in probed_functions(image):
        shape = known.shape(function, frame=False)
        read = read_function(image, function, frame=False, forms=known if shape is None else None)
        if shape is not None:
            found.add(function.name)
            assert shape == read.shape, function.name
    assert found >= {"same_again", "by_two", "other_number"}
    assert found.isdisjoint({"other_data", "other_order", "by_cosine", "constant"})
