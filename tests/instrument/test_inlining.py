"""Code from the compiler's headers gets the line of the program that it was inlined into."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from scalegraph.instrument.debuginfo import lines
from scalegraph.instrument.image import Image
from scalegraph.instrument.inlining import Call, climbed, is_foreign

SOURCE = """\
#include <numeric>
#include <vector>
#include "own.h"
int main(int count, char **)
{
    std::vector<int> cells(100 * count);
    cells[3] = twice(count);
    return std::accumulate(
        cells.begin(), cells.end(), 0);
}
"""
OWN = """\
inline int twice(int x)
{
    volatile int y = 2 * x;
    return y;
}
"""


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
def test_inlined_code_of_headers_has_the_line_of_its_caller_and_own_headers_keep_theirs(gcc: Any, version: str) -> None:
    gcc.gcc = shutil.which("g++") or pytest.skip("needs g++")
    (gcc.place / "sum.cpp").write_text(SOURCE)
    (gcc.place / "own.h").write_text(OWN)
    gcc("-O2", "-g", version, "-no-pie", "sum.cpp", "-o", "sum")
    main = next(function for function in Image(gcc.place / "sum").functions if function.name == "main")
    known = lines(gcc.place / "sum")
    addresses = list(range(main.start + 1, main.end + 1))
    places = known.lookup(addresses)
    found = {(place.file.removeprefix("./"), place.line) for place in places if place.line}
    assert {file for file, _ in found} == {"sum.cpp", "own.h"}
    assert {("sum.cpp", 6), ("sum.cpp", 8), ("own.h", 3)} <= found
    for address, place in zip(addresses, places, strict=True):
        if place.line:
            ranges = known.ranges(place.file, place.line, place.line)
            assert any(low <= address < high for low, high in ranges)


def test_the_innermost_call_in_the_programs_own_files_counts() -> None:
    own, header, other = 1, 2, 3
    rows = [(0, own, 10), (10, header, 500), (40, header, 600), (50, own, 12), (60, -1, 0)]
    inlined = [
        Call(5, 45, 1, own, 11),
        Call(20, 30, 2, other, 7),  # a function of the program, inlined into the first
        Call(22, 28, 3, header, 501),  # within the header
    ]
    assert climbed(rows, {header}, inlined) == [
        (0, own, 10),
        (10, own, 11),
        (20, other, 7),
        (30, own, 11),
        (40, own, 11),
        (45, header, 600),
        (50, own, 12),
        (60, -1, 0),
    ]


@pytest.mark.parametrize(
    ("file", "foreign"),
    [
        ("/usr/include/c++/12/bits/stl_vector.h", True),
        ("/usr/lib/gcc/x86_64-linux-gnu/12/include/xmmintrin.h", True),
        ("/usr/aarch64-linux-gnu/include/c++/12/vector", True),
        ("/opt/gcc-14/include/c++/14/vector", True),
        ("/home/me/include/mesh.h", False),
        ("../include/mesh.h", False),
        ("/usr/src/mine/solve.cpp", False),
    ],
)
def test_files_of_the_compiler_and_the_system_are_told_by_their_place(file: str, foreign: bool) -> None:
    assert is_foreign(file) == foreign
