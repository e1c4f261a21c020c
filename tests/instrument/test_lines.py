"""Whatever probes are planted, the program keeps its text and line numbers."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.instrument import Instrumented, instrument_source, instrumented_text, side_by_side
from scalegraph.instrument.lexer import scan

DIRECTIVES = (
    "#pragma omp parallel",
    "#pragma omp for",
    "#pragma omp barrier",
    "#pragma omp critical",
    "#pragma omp task",
    "#ifdef A",
    "#else",
    "#endif",
    "#define X(y) { y",
    "// note",
    "/* two\nlines */",
    "// scalegraph: phase p",
    "// scalegraph: end",
    "#pragma omp parallel for \\\n schedule(static)",
)
FRAGMENTS = (
    "for (int i = 0; i < 3; i++)", "while (n--)", "do", "while (n);", "{", "}", "if (n)", "else", "g();", "n++;",
    "switch (n)", "case 1:", "out:", "goto out;", "return;", "int m = 1;", "X(g())", "({ g(); });", "ü", "'\\''", '"{"',
)  # fmt: skip
LINES = st.lists(st.sampled_from(DIRECTIVES + FRAGMENTS), max_size=25)


def without_insertions(made: Instrumented) -> str:
    text = instrumented_text(made).encode()
    at = 0
    kept = b""
    shift = 0
    for insertion in made.insertions:
        start = insertion.offset + shift
        kept += text[at:start]
        shift += len(insertion.text.encode())
        at = start + len(insertion.text.encode())
        assert text[start:at].decode() == insertion.text
    return (kept + text[at:]).decode()


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(LINES)
def test_removing_the_insertions_gives_the_original(parts: list[str]) -> None:
    text = "void f(int n)\n{\n" + "\n".join(parts) + "\n}\n"
    made = instrument_source(text, "p.c", detail="all")
    assert without_insertions(made) == text


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(LINES)
def test_every_line_of_the_user_keeps_its_number(parts: list[str]) -> None:
    text = "void f(int n)\n{\n" + "\n".join(parts) + "\n}\n"
    made = instrument_source(text, "p.c", detail="all")
    rows = side_by_side(made)
    assert [row.original for row in rows if row.line is not None] == text.split("\n")[:-1]
    assert "".join(row.instrumented + "\n" for row in rows) == instrumented_text(made)
    line = 1
    for row in rows:
        if row.instrumented.startswith("#line "):
            line = int(row.instrumented.split()[1])
            continue
        if row.line is not None:
            assert line == row.line
        line += 1


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(LINES)
def test_planting_is_balanced_and_regions_are_a_tree(parts: list[str]) -> None:
    made = instrument_source("void f(int n)\n{\n" + "\n".join(parts) + "\n}\n", "p.c", detail="all")
    inserted = "".join(insertion.text for insertion in made.insertions)
    assert inserted.count("{") == inserted.count("}")
    for region in made.regions[1:]:
        assert region.parent is not None
        around = made.regions[region.parent]
        assert around.id < region.id
        assert around.id == 0 or around.line <= region.line <= region.end_line <= around.end_line


@pytest.mark.slow
@given(st.text(max_size=200))
def test_any_text_at_all_is_accepted(text: str) -> None:
    made = instrument_source(text, "p.c")
    assert without_insertions(made) == text


@pytest.mark.slow
@given(st.binary(max_size=200))
def test_the_scanner_loses_no_byte(data: bytes) -> None:
    found = scan(data)
    spans = sorted([(t.start, t.end) for t in found.tokens] + [(c.start, c.end) for c in found.comments])
    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_marks_say_which_text_belongs_to_which_region() -> None:
    made = instrument_source("void f(int n)\n{\n    while (n) n = g(n);\n}\n", "p.c")
    row = side_by_side(made)[2]
    assert [(row.instrumented[m.start : m.end].strip(), m.region, m.opens) for m in row.marks] == [
        ("{ SCALEGRAPH_SCOPE(2);", 2, True),
        ("}", 2, False),
    ]


def test_names_with_quotes_and_backslashes_stay_names() -> None:
    made = instrument_source("int x;", 'a"b\\c.c')
    assert made.text == '#line 1 "a\\"b\\\\c.c"\nint x;'


def test_windows_line_ends_and_missing_last_newline_are_kept() -> None:
    text = "void f(int n)\r\n{\r\n#pragma omp barrier\r\n while (n) n = g(n);\r\n}"
    made = instrument_source(text, "p.c")
    assert without_insertions(made) == text
    assert len(made.regions) == 4
