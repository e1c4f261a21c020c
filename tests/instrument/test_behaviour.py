"""Programs with probes compile with the same messages and behave the same as without."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from scalegraph.instrument import instrument_source

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
Compare = Callable[..., int]

CONTROL = """\
#include <assert.h>
#include <stdio.h>
#define SQUARE(x) ((x) * (x))
#define LOG(...) do { printf(__VA_ARGS__); } while (0)
#define CHECK(x) if (!(x)) printf("line %d\\n", __LINE__)

static int early(int n) { for (int i = 0; i < 10; i++) { if (i == n) return i; } return -1; }

static int out_of_two_loops(int n)
{
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++) {
            if (i * j == n) goto done;
            if (j > i) continue;
            if (i > 7) break;
        }
    return 0;
done:
    return 1;
}

static int duff(int n)
{
    int c = 0;
    switch (n % 4) {
    case 0: do { c++;
    case 3:      c++;
    case 2:      c++;
    case 1:      c++;
            } while ((n -= 4) > 0);
    }
    return c;
}

static int vla(int n)
{
    int a[n], s = 0;
    for (int i = 0; i < n; i++) a[i] = SQUARE(i);
again:
    for (int i = 0; i < n; i++) { int b[i + 1]; b[i] = a[i]; s += b[i]; }
    if (s && s < 100) goto again;
    return s;
}

static int expression(int n) { return ({ int s = 0; for (int i = 0; i < n; i++) s += i; s; }); }

int old(a, b) int a; double b; { while (a < b) a++; return a; }

static int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }

static int nested(int n)
{
    int inner(int k) { int s = 0; while (k--) s += n; return s; }
    return inner(n) + inner(2);
}

static int dangling(int n)
{
    if (n > 1)
        if (n > 2) { for (int i = 0; i < n; i++) LOG("%d", i); }
        else while (n < 9) n++;
    if (n) do n--; while (n); else for (;;) break;
    switch (n) { case 0: for (int i = 0; i < 2; i++) n++; break; default: while (n) n--; }
    return n;
}

/* a /* comment */ static const char *tricky = "for (;;) { /* no loop */ \\" }"; // while (1) {
static int computed(int n)
{
    static void *to[] = { &&a, &&b };
    goto *to[n % 2];
a:  while (n < 10) n += 3;
    return n;
b:  for (;;) { if (n > 20) return n; n++; }
}

int main(void)
{
    for (int i = 0; i < 12; i++)
        LOG("%d %d %d %d %d %d %d %d %d\\n", early(i), out_of_two_loops(i), duff(i + 1), vla(i + 1), expression(i),
            old(i, 5.0), recursive(i), nested(i), dangling(i) + computed(i));
    CHECK(recursive(3) == 3);
    printf("%s %s %d\\n", tricky, __FILE__, __LINE__);
    return early(3);
}
"""

OPENMP = """\
#include <omp.h>
#include <stdio.h>
static int queue;
static int fib(int n)
{
    int a, b;
    if (n < 2) return n;
#pragma omp task shared(a) firstprivate(n)
    a = fib(n - 1);
    #pragma omp task shared(b)
    { b = fib(n - 2); }
#pragma omp taskwait
    return a + b;
}
static long sum(int n)
{
    long s = 0, t = 0;
    int x[100] = { 0 };
#pragma omp parallel for reduction(+:s) \\
    schedule(dynamic, 3)
    for (int i = 0; i < n; i++)
        s += i;
    if (n > 3)
#pragma omp parallel
    {
        int id = omp_get_thread_num();
#pragma omp for collapse(2) nowait
        for (int i = 0; i < 10; i++)
            for (int j = 0; j < 10; j++)
#pragma omp atomic
                x[i * 10 + j] += i;
#pragma omp barrier
#pragma omp for ordered reduction(+:t)
        for (int i = 0; i < 10; i++) {
            t += i;
#pragma omp ordered
            printf("%d ", i);
        }
#pragma omp single copyprivate(id)
        id = 7;
#pragma omp critical (queue)
        queue += id - 6;
#pragma omp barrier
#pragma omp master
        { for (int k = 0; k < 3; k++) queue++; }
#pragma omp sections
        {
            for (int k = 0; k < 3; k++) { }
#pragma omp section
            for (int k = 0; k < 3; k++) { }
        }
#pragma omp for simd
        for (int i = 0; i < 100; i++) x[i] += 1;
    }
    else
        for (int i = 0; i < n; i++) s++;
    _Pragma("omp parallel for") for (int i = 0; i < 100; i++) x[i]++;
#ifdef _OPENMP
#pragma omp parallel for reduction(+:t)
#endif
    for (int i = 0; i < 100; i++)
        t += x[i];
    return s + t;
}
int main(void)
{
    int f = 0;
    /* scalegraph: phase fibonacci */
#pragma omp parallel
#pragma omp single
    f = fib(12);
    /* scalegraph: end */
    // scalegraph: phase sums
    long s = sum(100) + sum(2);
    // scalegraph: end
    printf("%d %ld %d %d\\n", f, s, queue / omp_get_max_threads() >= 1, __LINE__);
    return 0;
}
"""


@pytest.mark.parametrize("detail", ["functions", "outer", "all"])
def test_control_flow_of_every_kind(behaves_the_same: Compare, detail: str) -> None:
    assert behaves_the_same(CONTROL, "-Wno-misleading-indentation", detail=detail) > 100


@pytest.mark.parametrize("detail", ["outer", "all"])
def test_openmp_constructs_of_every_kind(behaves_the_same: Compare, detail: str) -> None:
    assert behaves_the_same(OPENMP, detail=detail) > 50


def test_openmp_programs_without_openmp(behaves_the_same: Compare) -> None:
    assert (
        behaves_the_same(
            OPENMP.replace(
                "#include <omp.h>",
                "int omp_get_thread_num(void) { return 0; }\nint omp_get_max_threads(void) { return 1; }",
            ),
            "-fno-openmp",
        )
        > 50
    )


@pytest.mark.parametrize("define", ["-DFAST", "-UFAST", "-DFAST -DN=3"])
def test_code_under_conditions(behaves_the_same: Compare, define: str) -> None:
    text = """\
#include <stdio.h>
#ifndef N
#define N 5
#endif
static int f(int n)
{
    int s = 0;
#ifdef FAST
    if (n > 2)
#endif
    for (int i = 0; i < n; i++)
#ifdef FAST
        s += 2;
#else
    {
        s += 1;
        while (s % 7) s++;
    }
#endif
#if N > 4
    do s--; while (s > 3);
#elif N > 2
    for (int i = 0; i < N; i++) s += i;
#else
#error no such N
#endif
    return s;
}
int main(void) { printf("%d\\n", f(N)); return 0; }
"""
    behaves_the_same(text, *define.split())


def test_messages_name_lines_of_the_source(gcc: Any) -> None:
    text = (
        "void g(void);\nvoid f(int n)\n{\n#pragma omp barrier\n#pragma omp barrier\n    int unused;\n    n = none;\n}\n"
    )
    (gcc.place / "p.c").write_text(text)
    (gcc.place / "q.c").write_text(instrument_source(text, "p.c").text)
    messages = gcc.messages("-include", gcc.probe_header, "q.c")
    assert messages == gcc.messages("p.c")
    assert {(line, severity) for _, line, severity, _ in messages} == {(6, "warning"), (7, "error")}


def test_lines_are_right_after_a_branch_that_is_skipped(gcc: Any) -> None:
    text = """\
void f(int n)
{
#ifdef A
    n++;
#pragma omp barrier
#pragma omp barrier
#elif defined(B)
#pragma omp barrier
#pragma omp barrier
    int first;
#else
    int second;
#endif
    int third;
}
"""
    (gcc.place / "p.c").write_text(text)
    (gcc.place / "q.c").write_text(instrument_source(text, "p.c").text)
    for define in ("-UA", "-DA", "-DB"):
        messages = gcc.messages(define, "-include", gcc.probe_header, "q.c")
        assert messages == gcc.messages(define, "p.c")
        assert 14 in {line for _, line, *_ in messages}


def test_a_failed_assertion_names_its_line(gcc: Any) -> None:
    text = "#include <assert.h>\nint main(int n)\n{\n#pragma omp parallel\n#pragma omp single\n    assert(n == 7);\n}\n"
    (gcc.place / "q.c").write_text(instrument_source(text, "p.c").text)
    (gcc.place / "e.c").write_text("void __scalegraph_enter(unsigned i) {}\nvoid __scalegraph_leave(unsigned i) {}\n")
    gcc("-fopenmp", "-include", gcc.probe_header, "-w", "q.c", "e.c", "-o", "q")
    assert re.search(r"\bp\.c:6: main(\._omp_fn\.0)?: Assertion", gcc.run("q").stderr)
