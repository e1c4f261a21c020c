"""Block costs of compiled kernels, compared with the source and with the instructions of the plain program."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph.base.errors import InputError
from scalegraph.instrument.blocks import block_table, lines, probe_report
from scalegraph.instrument.mathlib import MATH_COSTS
from scalegraph.runtime.format import BLOCK, BLOCKS_MAGIC, CLOCK, ENDIAN_MARK, HEADER, OP_CLASS_NAMES, SECTION, VERSION

pytestmark = pytest.mark.compiler
HOOKS = ("-fopenmp", "-fsanitize=thread", "-fsanitize-coverage=trace-pc", "-fno-pie", "-g")
KERNEL = """\
#include <stdio.h>
#include <stdlib.h>
#define N 50
static double a[N][N], b[N][N], c[N][N], x[N], y[N];
__attribute__((noinline)) void daxpy(int n, double f, const double *p, double *q)
{
    for (int i = 0; i < n; i++)
        q[i] += f * p[i];
}
__attribute__((noinline)) double dot(int n, const double *p, const double *q)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += p[i] * q[i];
    return s;
}
__attribute__((noinline)) void matmul(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < N; k++)
                s += a[i][k] * b[k][j];
            c[i][j] = s;
        }
}
__attribute__((noinline)) void gauss(void)
{
    for (int k = 0; k < N - 1; k++)
        for (int i = k + 1; i < N; i++) {
            double f = a[i][k] / a[k][k];
            for (int j = k; j < N; j++)
                a[i][j] -= f * a[k][j];
        }
}
__attribute__((noinline)) int count(const int *p, int n)
{
    int c = 0;
    for (int i = 0; i < n; i++)
        if (p[i] % 3 == 0)
            c += p[i];
    return c;
}
int main(void)
{
    int v[N];
    for (int i = 0; i < N; i++) {
        v[i] = i;
        for (int j = 0; j < N; j++)
            a[i][j] = b[i][j] = i == j ? 3 : 1;
    }
    daxpy(N, 2.0, x, y);
    double s = dot(N, x, y);
    matmul();
    gauss();
    printf("%g %g %g %d\\n", s, c[2][3], a[4][5], count(v, N));
    return 0;
}
"""
Counts = dict[str, dict[str, int]]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory, gcc_in: Any) -> Callable[..., Any]:
    """Return a function that compiles the kernel with hooks."""
    made: dict[tuple[str, ...], Any] = {}

    def compile_(*flags: str) -> Any:
        if flags not in made:
            gcc = gcc_in(tmp_path_factory.mktemp("blocks"))
            (gcc.place / "kernel.c").write_text(KERNEL)
            gcc("-O2", "-w", "-c", gcc.here / "hooks.c", "-o", "hooks.o")
            gcc("-O2", *HOOKS, *flags, "-c", "kernel.c")
            gcc("-no-pie", "kernel.o", "hooks.o", "-fopenmp", "-lm", "-o", "kernel")
            made[flags] = gcc
        return made[flags]

    return compile_


def parse(data: bytes) -> np.ndarray:
    header = np.frombuffer(data, HEADER, 1)[0]
    assert (header["magic"], header["version"], header["endian"]) == (BLOCKS_MAGIC, VERSION, ENDIAN_MARK)
    assert header["sections"] == 2
    section, clocks = np.frombuffer(data, SECTION, 2, HEADER.itemsize)
    assert (section["record_size"], clocks["record_size"]) == (BLOCK.itemsize, CLOCK.itemsize)
    assert section["offset"] + section["count"] * BLOCK.itemsize == clocks["offset"]
    assert clocks["offset"] + clocks["count"] * CLOCK.itemsize == len(data)
    return np.frombuffer(data, BLOCK, int(section["count"]), int(section["offset"]))


def executed(gcc: Any) -> Counts:
    """Run the program and return operations by function and class, including flops."""
    path = gcc.place / "kernel"
    done = gcc.run("kernel", COUNTS=str(gcc.place / "counts"), OMP_NUM_THREADS="1")
    assert done.returncode == 0
    table = {int(r["address"]): r for r in parse(block_table(path).content)}
    totals: Counts = {}
    for line in (gcc.place / "counts").read_text().splitlines():
        address, times = map(int, line.split())
        record = table[address]
        total = totals.setdefault(lines(path).function(address - 1), dict.fromkeys((*OP_CLASS_NAMES, "flops"), 0))
        for name, value in zip((*OP_CLASS_NAMES, "flops"), (*record["ops"], record["flops"]), strict=True):
            total[name] += int(value) * times
    return totals


@pytest.mark.slow
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
def test_flops_are_exact_at_every_level_of_optimisation(build: Callable[..., Any], level: str) -> None:
    n = 50
    totals = executed(build(level))
    assert totals["daxpy"]["flops"] == 2 * n
    assert totals["dot"]["flops"] == 2 * n
    assert totals["matmul"]["flops"] == 2 * n**3
    assert totals["gauss"]["flops"] == sum((n - 1 - k) * (1 + 2 * (n - k)) for k in range(n - 1))


@pytest.mark.slow
def test_fused_multiply_add_counts_two_flops(build: Callable[..., Any]) -> None:
    totals = executed_or_skip(build("-mfma", "-ffp-contract=fast"))
    assert totals["dot"]["flops"] == 2 * 50
    assert totals["dot"]["fp_fma"] == 50


def executed_or_skip(gcc: Any) -> Counts:
    if "fma" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no fused multiply-add")
    return executed(gcc)


@pytest.mark.slow
def test_operations_of_a_loop_are_those_of_its_body(build: Callable[..., Any]) -> None:
    totals = executed(build("-O2"))
    dot = totals["dot"]
    assert (dot["load"], dot["store"], dot["fp_mul"], dot["fp_add"]) == (100, 0, 50, 50)
    # step and comparison of the index, one branch; a few operations outside the loop
    assert 100 <= dot["int_alu"] <= 105
    assert 50 <= dot["branch"] <= 53
    assert (totals["daxpy"]["load"], totals["daxpy"]["store"]) == (100, 50)
    matmul = totals["matmul"]
    assert matmul["load"] == pytest.approx(2 * 50**3, rel=0.01)
    assert matmul["store"] == 50**2
    assert matmul["int_alu"] == pytest.approx(3 * 50**3, rel=0.1)


def test_every_probe_has_a_record_and_records_are_sorted(build: Callable[..., Any]) -> None:
    path = build("-O2").place / "kernel"
    records = parse(block_table(path).content)
    assert (np.diff(records["address"].astype(np.int64)) > 0).all()
    report = probe_report(path)
    assert report.complete
    assert len(records) == report.calls["__sanitizer_cov_trace_pc"]
    assert {"daxpy", "dot", "matmul", "gauss", "count", "main"} <= set(report.functions)


@pytest.mark.slow
@pytest.mark.parametrize("dwarf", ["-gdwarf-4", "-gdwarf-5"])
def test_addresses_have_places(build: Callable[..., Any], dwarf: str) -> None:
    path = build("-O2", dwarf).place / "kernel"
    addresses = parse(block_table(path).content)["address"].tolist()
    places = lines(path).lookup(addresses)
    assert {place.file for place in places if place.function in ("dot", "gauss", "matmul")} == {"kernel.c"}
    assert {p.line for p in places if p.function == "dot"} <= set(range(10, 17))
    assert 14 in {p.line for p in places if p.function == "dot"} or 13 in {p.line for p in places}
    assert any(19 <= p.line <= 25 for p in places if p.function == "matmul")


def test_addresses_outside_the_program_have_no_place(build: Callable[..., Any]) -> None:
    known = lines(build("-O2").place / "kernel")
    assert known.lookup([0, 5, 2**40]) == [("", 0, "")] * 3
    assert known.lookup([]) == []


@pytest.mark.slow
def test_lines_follow_line_directives(gcc: Any) -> None:
    (gcc.place / "q.c").write_text(
        '#line 41 "sub/user.c"\nint f(int n)\n{\n    return n * n;\n}\nint main(void) { return f(2); }\n'
    )
    gcc("-g", "-O0", "-no-pie", "q.c", "-o", "q")
    known = lines(gcc.place / "q")
    start = next(start for start, _, name in known.functions if name == "f")
    assert known.lookup([start + 2]) == [("sub/user.c", 42, "f")]


@pytest.mark.slow
def test_a_program_without_probes_has_an_empty_table(gcc: Any) -> None:
    (gcc.place / "p.c").write_text("int main(void) { return 0; }")
    gcc("-no-pie", "p.c", "-o", "p")
    assert len(parse(block_table(gcc.place / "p").content)) == 0
    assert not probe_report(gcc.place / "p").complete
    assert lines(gcc.place / "p").lookup([0x401000])[0].line == 0


def test_what_is_no_fixed_address_executable_is_refused(gcc: Any) -> None:
    (gcc.place / "p.c").write_text("int main(void) { return 0; }")
    gcc("-pie", "-fpie", "p.c", "-o", "p")
    with pytest.raises(InputError, match="fixed address"):
        block_table(gcc.place / "p")
    with pytest.raises(InputError, match="ELF"):
        block_table(gcc.place / "p.c")


@pytest.mark.slow
def test_calls_of_the_mathematics_library_pay_for_its_work(gcc: Any) -> None:
    text = "#include <math.h>\ndouble f(double x) { return exp(x) + 1; }\nint main(int n, char **v) { return f(n); }\n"
    (gcc.place / "p.c").write_text(text)
    gcc("-O2", "-w", "-c", gcc.here / "hooks.c")
    gcc("-O2", *HOOKS, "-fno-inline", "-c", "p.c")
    gcc("-no-pie", "p.o", "hooks.o", "-lm", "-o", "p")
    records = parse(block_table(gcc.place / "p").content)
    known = lines(gcc.place / "p")
    flops = {known.function(int(r["address"]) - 1): int(r["flops"]) for r in records}
    assert flops["f"] == MATH_COSTS["exp"][-1] + 1


@pytest.mark.slow
def test_functions_without_probes_that_others_call_are_named(gcc: Any) -> None:
    (gcc.place / "plain.c").write_text(
        "int deep(int x) { return 3 * x; }\nint called(int x) { return deep(x) + 1; }\n"
        "int last(int x) { return x - 1; }\nint unused(int x) { return x; }\n"
    )
    (gcc.place / "p.c").write_text(
        "int called(int x);\nint last(int x);\nint own(int x) { return called(x) * 2; }\n"
        "int tail(int x) { return last(x + 1); }\nint main(int n, char **v) { return own(n) + tail(n); }\n"
    )
    gcc("-O2", "-w", "-c", gcc.here / "hooks.c")
    gcc("-O2", "-fno-inline", "-fno-ipa-ra", "-c", "plain.c")
    gcc("-O2", "-w", *HOOKS, "-fno-inline", "-c", "p.c")
    gcc("-no-pie", "p.o", "plain.o", "hooks.o", "-o", "p")
    assert block_table(gcc.place / "p").called == ("called", "last")
