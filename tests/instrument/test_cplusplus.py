"""Region probes in C++."""

import pytest

from scalegraph.instrument import instrument_source

TEXT = """\
#include <vector>
namespace app {
template <class T> struct Grid {
    explicit Grid(int n) : data(n) { for (auto &x : data) x = 1; }
    T total() const;
    static constexpr int twice(int n) { int s = 0; for (int i = 0; i < n; i++) s += 2; return s; }
    std::vector<T> data;
};
template <class T> T Grid<T>::total() const
{
    T t{};
#pragma omp parallel for reduction(+ : t)
    for (std::size_t i = 0; i < data.size(); i++)
        t += data[i];
    return t;
}
}
int run(int n) try {
    auto work = [&](int k) {
        int s = 0;
        for (int i = 0; i < k; i++) s += 1'000;
        return s;
    };
    const char *raw = R"x(") { #pragma omp parallel)x";
    for (int i : {1, 2, 3})
        n += work(i) + raw[0];
    return n;
} catch (...) {
    return 0;
}
"""


def names(text: str, **options: str) -> list[str]:
    return [region.name for region in instrument_source(text, "p.cpp", **options).regions[1:]]  # type: ignore[arg-type]


def test_members_templates_lambdas_and_range_loops_are_regions() -> None:
    made = instrument_source(TEXT, "p.cpp")
    assert [region.name for region in made.regions[1:]] == [
        "function Grid::Grid",
        "loop Grid::Grid:4",
        "function Grid<T>::total",
        "parallel for Grid<T>::total:12",
        "function run",
        "lambda run:19",
        "loop run:21",
        "loop run:25",
    ]
    assert [str(fault) for fault in made.faults] == [
        "p.cpp:6: function Grid::twice left without probes: what the compiler computes may not call the probes"
    ]


def test_the_same_text_named_as_c_is_read_as_c() -> None:
    made = instrument_source("int f(int n) { for (;;) g(); }", "p.h", language="c++")
    assert len(made.regions) == 3


@pytest.mark.parametrize("condition", ["#ifdef __cplusplus", "#if defined(__cplusplus)"])
def test_branches_for_cplusplus_are_read(condition: str) -> None:
    text = f'{condition}\nextern "C" {{\n#endif\nvoid f(int n) {{ for (;;) g(n); }}\n{condition}\n}}\n#endif\n'
    assert names(text) == ["function f", "loop f:4"]
