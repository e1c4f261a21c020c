"""The quick readers of debug information find what pyelftools finds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from scalegraph.instrument import inlining
from scalegraph.instrument.dwarf import entries
from scalegraph.instrument.dwarf.numbers import signed, unsigned
from scalegraph.instrument.dwarf.rows import rows_of
from scalegraph.runtime.compiler import find_compiler

PROGRAM = """
#include <algorithm>
#include <vector>
namespace outer {
template <int N> struct Item { double key; bool operator<(const Item &o) const { return key < o.key; } };
namespace inner {
inline double twice(double x) { return x > 3 ? 2 * x : x; }
}
template <int N> double work(int n)
{
    std::vector<Item<N>> items(n);
    for (int i = 0; i < n; i++)
        items[i].key = inner::twice(i * N % 7);
    std::sort(items.begin(), items.end());
    return inner::twice(items[0].key);
}
}
int main(int n, char **)
{
    double sum = outer::work<2>(n + 4) + outer::work<3>(n + 5);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += outer::inner::twice(i);
    return sum == 0.5;
}
"""


@pytest.fixture(scope="module", params=["-gdwarf-5", "-gdwarf-4", "-gdwarf-5 -gdwarf64"])
def dwarf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    place = tmp_path_factory.mktemp("dwarf")
    source = place / "p.cpp"
    source.write_text(PROGRAM)
    words = ["-O2", "-fopenmp", *request.param.split(), str(source), "-o", str(place / "p")]
    result = find_compiler("c++").run(words, cwd=Path(place))
    assert result.returncode == 0, result.stderr
    with (place / "p").open("rb") as stream:
        yield ELFFile(stream).get_dwarf_info(relocate_dwarf_sections=False)


@pytest.mark.slow
@pytest.mark.compiler
def test_line_programs_have_the_same_rows(dwarf: Any) -> None:
    for unit in dwarf.iter_CUs():
        if unit.structs.dwarf_format == 64:
            pytest.skip("pyelftools does not read their headers")
        program = dwarf.line_program_for_CU(unit)
        states = [entry.state for entry in program.get_entries() if entry.state is not None]
        expected = [(state.address, state.file, state.line, bool(state.end_sequence)) for state in states]
        assert list(rows_of(program)) == expected
        assert len(expected) > 20


@pytest.mark.slow
@pytest.mark.compiler
def test_inlined_calls_are_the_same(dwarf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    units = list(dwarf.iter_CUs())
    found = [inlining.calls(dwarf, unit) for unit in units]
    assert any(found)
    is_read = [type(entries.entries_of(dwarf, unit)).__name__ for unit in units]
    assert ("Slow" in is_read) == (units[0].structs.dwarf_format == 64)
    monkeypatch.setattr(inlining, "entries_of", lambda _dwarf, unit: entries.Slow(unit))
    assert [inlining.calls(dwarf, unit) for unit in units] == found


@pytest.mark.parametrize(
    ("data", "number", "with_sign"),
    [
        (b"\x02", 2, 2),
        (b"\x7f", 127, -1),
        (b"\x80\x01", 128, 128),
        (b"\xff\x7e", 16255, -129),
        (b"\xe5\x8e\x26",) + (624485,) * 2,
    ],
)
def test_numbers_of_variable_length(data: bytes, number: int, with_sign: int) -> None:
    assert unsigned(b"?" + data, 1) == (number, 1 + len(data))
    assert signed(b"?" + data, 1) == (with_sign, 1 + len(data))
