"""User phases: marks in pragmas and comments."""

import pytest

from scalegraph.instrument import instrument_source


def wrong(text: str) -> list[str]:
    return [str(fault) for fault in instrument_source(text, "p.c").errors]


PRAGMA = '#pragma scalegraph phase "set up"\n{body}\n#pragma scalegraph end\n'
COMMENT = "/* scalegraph: phase set up */\n{body}\n/* scalegraph: end */\n"
LINE = "// scalegraph: phase set up\n{body}\n// scalegraph: end\n"


@pytest.mark.parametrize("form", [PRAGMA, COMMENT, LINE])
def test_a_phase_is_a_region_around_its_statements(form: str) -> None:
    made = instrument_source("void f(void)\n{\n" + form.format(body="g();") + "}\n", "p.c")
    phase = made.regions[-1]
    assert (phase.kind, phase.name, phase.line, phase.end_line, phase.parent) == ("phase", "phase set up", 3, 5, 1)
    assert not made.faults


def test_phases_nest_with_each_other_and_with_loops() -> None:
    inner = LINE.format(body="g();").replace("set up", "inner")
    text = "void f(int n)\n{\n" + COMMENT.format(body="while (n--) {\n" + inner + "}") + "}\n"
    made = instrument_source(text, "p.c")
    assert [(r.name, r.parent) for r in made.regions[1:]] == [
        ("function f", 0),
        ("phase set up", 1),
        ("loop f:4", 2),
        ("phase inner", 3),
    ]
    assert not made.faults


def test_variables_declared_in_a_phase_stay_visible_after_it() -> None:
    made = instrument_source("void f(void) {\n" + COMMENT.format(body="int n = g();") + "h(n);\n}\n", "p.c")
    assert "SCALEGRAPH_ENTER(2);" in made.text
    assert "SCALEGRAPH_LEAVE(2);" in made.text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("/* scalegraph: end */", "p.c:2: phase end without a phase before it"),
        ("/* scalegraph: phase a */", "p.c:2: phase 'a' has no end"),
        ("/* scalegraph: phase */\n/* scalegraph: end */", "p.c:2: a phase needs a name"),
        ("/* scalegraph: stop */", "p.c:2: expected `phase` or `end`, found 'stop'"),
        ("/* scalegraph: phase a */ if (x) { /* scalegraph: end */ g(); }", "does not end in the block it begins in"),
        ("if (x /* scalegraph: phase a */) g(); /* scalegraph: end */", "does not begin between statements"),
        (
            "#pragma omp parallel\n// scalegraph: phase a\ng();\n// scalegraph: end",
            "'a' begins between the directive on line 2 and its statement",
        ),
        (
            "// scalegraph: phase a\n#pragma omp critical\n// scalegraph: end\ng();",
            "'a' ends between the directive on line 3 and its statement",
        ),
        ("#ifdef A\n// scalegraph: phase a\n#endif\n// scalegraph: end", "different #if branches"),
        ("goto in;\n// scalegraph: phase a\ng(); in: g();\n// scalegraph: end", "entered by a jump to 'in'"),
        ("// scalegraph: phase a\nint n = g(); if (n) return;\n// scalegraph: end", "left by a jump (line 3)"),
    ],
)
def test_a_wrong_mark_is_a_fault_with_its_line(body: str, message: str) -> None:
    faults = wrong("void f(int x) {\n" + body + "\n}\n")
    assert len(faults) == 1
    assert message in faults[0]
    assert faults[0].startswith("p.c:")


def test_a_phase_outside_of_functions_is_a_fault() -> None:
    assert "between statements of a function" in wrong(COMMENT.format(body="int x;"))[0]


def test_all_wrong_marks_are_reported_at_once() -> None:
    assert len(wrong("void f(void) {\n// scalegraph: end\n// scalegraph: phase\n// scalegraph: phase b\n}\n")) == 4


def test_other_comments_and_pragmas_are_none_of_our_business() -> None:
    assert not wrong("// scalegraph is nice\n/* about scalegraph: well */\n#pragma once\nvoid f(void) { g(); }\n")
