"""Places kept in a file equal those of the executable."""

from pathlib import Path
from typing import Any

from scalegraph.instrument.declared import places
from scalegraph.instrument.places import load, save

SOURCE = """
double table[100];
static double sum(const double *from, int count) {
    double total = 0;
    for (int i = 0; i < count; i++)
        total += from[i];
    return total;
}
int main(void) { return (int)sum(table, 100); }
"""


def test_places_that_were_saved_are_the_same(gcc: Any, tmp_path: Path) -> None:
    (gcc.place / "sum.c").write_text(SOURCE)
    gcc("-g", "-O0", "-no-pie", "sum.c", "-o", "sum")
    known = places(gcc.place / "sum")
    save(known, tmp_path / "places")
    again = load(tmp_path / "places")
    assert "table" in {name for _, _, name in again.variables}
    assert again.variables == known.variables
    addresses = range(known.lines.functions[0][0], known.lines.functions[-1][1] + 10)
    assert again.lines.lookup(addresses) == known.lines.lookup(addresses)
    assert ("sum.c", 6, "sum") in again.lines.lookup(addresses)
    assert again.lines.files() == known.lines.files()
    assert again.lines.ranges("sum.c", 5, 6) == known.lines.ranges("sum.c", 5, 6) != []
