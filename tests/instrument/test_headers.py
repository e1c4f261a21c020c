"""C++ statements that call computing functions from the program's own headers become regions."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.instrument import instrument_source
from scalegraph.instrument.headers import last_name, working

HEADERS = {
    "lib/inner.h": """
template <class F> void each(int n, F f)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        f(i);
}
inline int small(int x) { return x + 1; }
class pool {
  public:
    explicit pool(int n) { while (n--) start(); }
    void start();
    int size() const { return 3; }
};
""",
    "outer.h": """
#include "lib/inner.h"
#include <vector>
namespace par {
template <class F> void rows(int n, F f) { each(n, f); }
inline void tell(int *x) { MPI_Barrier(MPI_COMM_WORLD); }
inline int none(int x) { return small(x); }
}
""",
}
SOURCE = """\
#include <outer.h>
int f(int n, int *a)
{
    pool p(n);
    int x = small(n), y = p.size();
    par::rows(n, [&](int i) {
        par::none(i);
        for (int k = 0; k < i; k++)
            a[i] += k;
    });
    if (each<int>(n, a))
        par::tell(a);
    auto *q = new pool(3);
#pragma omp parallel
    par::rows(n, a);
    return par::rows(n, a), par::none(x);
}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, text in HEADERS.items():
        (tmp_path / "include" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "include" / name).write_text(text)
    return tmp_path


def test_functions_of_headers_work_that_loop_share_out_or_wait_or_call_one_that_does(place: Path) -> None:
    found = working(place / "a.cpp", SOURCE, ("-O2", "-Iinclude"), place)
    assert found == {"each", "pool", "rows", "tell"}
    assert working(place / "a.cpp", SOURCE, (), place) == frozenset()
    assert working(place / "a.c", SOURCE, ("-Iinclude",), place) == frozenset()
    assert working(place / "a.f90", SOURCE, ("-Iinclude",), place) == frozenset()
    (place / "own.cpp").write_text('#include "include/lib/inner.h"\n#include "/usr/include/stdlib.h"\n')
    assert working(place / "own.cpp", (place / "own.cpp").read_text()) >= {"each"}


def test_a_statement_that_calls_one_is_a_region_and_a_declaration_stays_visible(place: Path) -> None:
    made = instrument_source(SOURCE, "a.cpp", working=working(place / "a.cpp", SOURCE, ("-I", "include"), place))
    found = [(one.name, one.line, one.end_line) for one in made.regions if one.kind == "library call"]
    assert found == [
        ("library call pool:4", 4, 4),
        ("library call par::rows:6", 6, 10),
        ("library call each:11", 11, 12),
        ("library call par::tell:12", 12, 12),
        ("library call pool:13", 13, 13),
        ("library call par::rows:16", 16, 16),
    ]
    assert "SCALEGRAPH_LIBRARY_ENTER(2); pool p(n); SCALEGRAPH_LEAVE(2);" in made.text
    assert "SCALEGRAPH_LIBRARY_SCOPE(10); return par::rows(n, a)" in made.text
    assert not made.faults


def test_names_are_without_what_is_around_them() -> None:
    assert [last_name(one) for one in ("f", "a::b<c::d>::e<g>", "p.q", "p->q<int>")] == ["f", "e", "q", "q"]
