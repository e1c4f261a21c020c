"""The regions found by the preprocessor."""

from pathlib import Path

import pytest

from scalegraph.instrument import instrument_source


def regions(text: str, detail: str = "outer") -> list[tuple[str, str, int, int, int | None]]:
    made = instrument_source(text, "p.c", detail=detail)  # type: ignore[arg-type]
    return [(r.kind, r.name, r.line, r.end_line, r.parent) for r in made.regions]


def names(text: str, detail: str = "outer") -> list[str]:
    return [name for _, name, *_ in regions(text, detail)][1:]


def test_regions_begin_with_the_program() -> None:
    made = instrument_source("", "p.c")
    assert [(r.id, r.kind, r.parent) for r in made.regions] == [(0, "program", None)]


def test_regions_know_their_place_and_what_they_are_in() -> None:
    text = """\
void solve(int n, double *a)
{
    for (int k = 0; k < n; k++) {
#pragma omp parallel for \\
        schedule(static)
        for (int i = k; i < n; i++)
            a[i] += 1;
    }
}
"""
    assert regions(text)[1:] == [
        ("function", "function solve", 1, 9, 0),
        ("loop", "loop solve:3", 3, 8, 1),
        ("parallel", "parallel for solve:4", 4, 7, 2),
    ]


@pytest.mark.parametrize(
    ("directive", "kind", "name"),
    [
        ("parallel num_threads(2)", "parallel", "parallel f:2"),
        ("parallel sections", "parallel", "parallel sections f:2"),
        ("sections nowait", "sections", "sections f:2"),
        ("single copyprivate(x)", "single", "single f:2"),
        ("master", "master", "master f:2"),
        ("masked", "master", "masked f:2"),
        ("critical", "critical", "critical f:2"),
        ("critical (queue)", "critical", "critical (queue) f:2"),
        ("critical(queue) hint(0)", "critical", "critical (queue) f:2"),
        ("ordered", "ordered", "ordered f:2"),
        ("task firstprivate(x)", "task", "task f:2"),
    ],
)
def test_every_construct_with_a_block_is_a_region(directive: str, kind: str, name: str) -> None:
    assert (kind, name, 2, 3, 1) in regions(f"void f(int x) {{\n#pragma omp {directive}\n{{ x++; }}\n}}\n")


@pytest.mark.parametrize("clauses", ["", " schedule(dynamic, 4) nowait", " ordered", " reduction(+:s) collapse(1)"])
def test_a_worksharing_loop_is_one_region(clauses: str) -> None:
    text = f"void f(int n) {{\nint s = 0;\n#pragma omp for{clauses}\nfor (int i = 0; i < n; i++) s++;\n}}\n"
    assert names(text) == ["function f", "for f:3"]


def test_a_barrier_is_a_region_of_one_line() -> None:
    text = "void f(void) {\ng();\n#pragma omp barrier\ng();\n}\n"
    assert ("barrier", "barrier f:3", 3, 3, 1) in regions(text)


@pytest.mark.parametrize("directive", ["atomic", "flush", "taskwait", "threadprivate(x)", "taskyield"])
def test_other_directives_are_no_regions(directive: str) -> None:
    assert names(f"void f(int x) {{\ng();\n#pragma omp {directive}\nx++;\n}}\n") == ["function f"]


def test_outer_detail_takes_outermost_loops_and_those_around_constructs() -> None:
    text = """\
void f(int n)
{
    while (n--)
        for (int i = 0; i < n; i++)
            g(i);
    do {
        for (int i = 0; i < n; i++) {
            #pragma omp critical
            g(i);
        }
    } while (n++ < 3);
}
"""
    assert names(text) == ["function f", "loop f:3", "loop f:6", "loop f:7", "critical f:8"]
    assert "loop f:4" in names(text, "all")
    assert names(text, "functions") == ["function f"]


def test_loops_that_a_construct_needs_perfectly_nested_are_left_alone() -> None:
    text = """\
void f(int n)
{
#pragma omp for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                g(i);
}
"""
    assert names(text, "all") == ["function f", "for f:3", "loop f:6"]


def test_nothing_is_planted_in_simd_loops() -> None:
    text = "void f(int n, int *a) {\n#pragma omp simd\nfor (int i = 0; i < n; i++) { while (a[i]) a[i]--; }\n}\n"
    assert names(text, "all") == ["function f", "loop f:3"]


def test_functions_too_small_to_measure_are_left_to_their_callers() -> None:
    small = "static int square(int x) { return x * x; }\n"
    calls = "int f(int x) { return g(x); }\n"
    loops = "int h(int x) { while (x > 9) x /= 2; return x; }\n"
    assert names(small + calls + loops) == ["function f", "function h", "loop h:3"]
    long = "int f(int x) {" + "x++;" * 20 + "return x; }"
    assert names(long) == ["function f"]


def test_old_style_functions_and_declarators_have_names() -> None:
    text = "int\nold(a, b)\n  int a;\n  double *b;\n{\n  return g(a);\n}\nint (*pick(int n))(int) { return h(n); }\n"
    assert names(text) == ["function old", "function pick"]


def test_nothing_comes_between_a_loop_and_a_pragma_that_only_one_reading_sees() -> None:
    made = instrument_source(
        "void f(int n)\n{\n#ifdef USE\n#pragma omp parallel for\n#endif\n    for (int i = 0; i < n; i++) g();\n}\n",
        "p.c",
    )
    assert [region.kind for region in made.regions] == ["program", "function", "parallel"]
    assert "#endif\n    for" in made.text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("inline int f(int n) { while (n) n /= 2; return g(n); }", "inline function with external linkage"),
        ("#define BEGIN {\nvoid f(void) BEGIN g(); for (;;) g(); }\n", ""),
        ("#define BEGIN {\n#define END }\nvoid f(void) { if (x) BEGIN g(); END }\n", "BEGIN hides braces"),
        ("void f(void) { __label__ out; g(); out:; }", "local labels"),
        ("void f(int n) { goto in; for (;;) { in: g(); } }", "a jump leads into it"),
        ("void f(int n) { switch (n) { case 0: do { g(); case 1: g(); } while (--n); } }", "a jump leads into it"),
        ("void f(int n) {\n#pragma omp target\nfor (int i = 0; i < n; i++) g();\n}", "target construct"),
        ("void f(void) { FOREACH(x) for (;;) g(); }", "around it is not plain C"),
    ],
)
def test_what_is_left_without_probes_is_said(text: str, reason: str) -> None:
    made = instrument_source(text, "p.c")
    assert not made.errors
    assert not any(region.kind == "loop" for region in made.regions)
    assert reason in " ".join(str(fault) for fault in made.faults)


@pytest.mark.parametrize("kind", ["double complex", "complex float", "long double _Complex", "const double complex"])
def test_loops_over_complex_numbers_are_regions(kind: str) -> None:
    text = f"""void f(double *a, {kind} *b) {{
  for (int i = 0; i < 9; i++)
    for (int j = i; j < 9; j++) {{
      {kind} x = b[i] /= b[j], *y = b;
      for (int k = 0; k < 9; k++)
        a[k] -= x * y[k];
    }}
}}
"""
    found = instrument_source(text, "p.c", detail="all")
    assert not found.faults
    assert [region.line for region in found.regions if region.kind == "loop"] == [2, 3, 5]


def test_an_unknown_macro_inside_does_not_cost_the_loop_its_region() -> None:
    text = "void f(int n) { for (int i = 0; i < n; i++) { double *p = ALLOC(double *, n); g(p); } }"
    assert names(text) == ["function f", "loop f:1"]


def test_a_construct_around_a_switch_is_a_region() -> None:
    text = "void f(int x)\n{\n#pragma omp single\n    switch (x) {\n    case 1: x++;\n    }\n}\n"
    assert "single f:3" in names(text)


def test_long_expressions_and_deep_statements_are_read() -> None:
    terms = " + ".join(["x"] * 5000)
    assert names(f"int f(int x) {{ for (;;) x = {terms}; }}") == ["function f", "loop f:1"]
    assert names(f"int f(int x) {{ {'if (x) ' * 3000} for (;;) ; }}") == ["function f", "loop f:1"]


def test_conditional_code_is_read_in_all_its_branches() -> None:
    text = """\
#ifdef FAST
void f(int n) { while (n) n = g(n); }
#else
void f(int n) { do n = g(n); while (n); }
#endif
#if 0
void dead(int n) { while (n) n = g(n); }
#endif
"""
    assert names(text) == ["function f", "loop f:2", "function f", "loop f:4"]


def test_a_statement_that_begins_or_ends_in_a_branch_is_left_alone() -> None:
    text = """\
void f(int n)
{
#ifdef BACK
    for (int i = n; i > 0; i--) {
#else
    for (int i = 0; i < n; i++) {
#endif
        g(i);
    }
    for (int i = 0; i < n; i++) {
#ifdef MORE
        for (int j = 0; j < n; j++) {
#endif
            g(i);
    }
#ifdef MORE
    }
#endif
    while (n--) g(n);
}
"""
    assert names(text) == ["function f", "loop f:19"]


@pytest.mark.slow
def test_shipped_programs_have_regions(root: Path) -> None:
    for program in sorted(root.glob("resources/programs/*.c")):
        made = instrument_source(program.read_text(), program.name)
        kinds = {region.kind for region in made.regions}
        assert {"function", "loop", "parallel"} <= kinds, program.name
        assert not made.faults, program.name
