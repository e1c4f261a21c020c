"""Functions called in loops, and code outside innermost loops, on a machine with a pipeline."""

from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.cancel import CancelToken
from scalegraph.control import build
from scalegraph.instrument.image import Image
from scalegraph.instrument.timed import Timing, timing
from scalegraph.link import Build
from scalegraph.runtime.compiler import find_compiler

pytestmark = [
    pytest.mark.slow,
    pytest.mark.compiler,
    pytest.mark.skipif(find_compiler().architecture != "x86_64", reason="the pipeline is that of x86-64"),
]

# A call of `quotient` is a chain of divisions; calls overlap as far as the window reaches.
CALLS = """
#define APART __attribute__((noinline, noclone, noipa))
APART double quotient(double x, double y)
{
    return ((x / y + 1.0) / y + 2.0) / y;
}
APART void follow(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++) {
        MORE
        to[i] = quotient(from[i], 3.0);
    }
}
int main(void)
{
    static double to[64], from[64];
    follow(to, from, 64);
    return to[1] > 1e9;
}
"""
MORE = " ".join(f'__asm__ volatile("add $1, %%{register}" ::: "{register}", "cc");' for register in 16 * ("r10", "r11"))


def built(place: Path, text: str) -> Build:
    place.mkdir()
    path = place / "calls.c"
    path.write_text(text)
    return build([path], ldflags=["-lm"])


def timed(program: Build, *, is_plain_known: bool) -> Timing:
    pipeline = {"window": 64, "int_alu": 1, "load": 4, "forward": 4, "forward_fp": 4, "issue": 0.25}
    pipeline |= {"fp_add": 4, "fp_mul": 4, "fp_fma": 4, "fp_div": 14, "fp_sqrt": 18, "fp_other": 6, "int_mul": 3}
    changes = {f"processor.pipeline.{key}": str(value) for key, value in pipeline.items()}
    costs = {"processor.out_of_order": "true", "processor.operation_cycles.fp_div": "4"}
    host = machine.load("server-2x32-inorder", {**costs, **changes})
    assert program.plain is not None
    plain = program.plain(CancelToken()) if is_plain_known else None
    return timing(program.executable, host.processor, program.lines, plain)


def cycles_of(program: Build, name: str, *, is_plain_known: bool = True) -> float:
    (function,) = [one for one in Image(program.executable).functions if one.name == name]
    cycles = timed(program, is_plain_known=is_plain_known).cycles
    return sum(taken for at, taken in cycles.items() if function.start <= at < function.end)


def test_what_a_loop_does_between_two_calls_fills_the_window(tmp_path: Path) -> None:
    close = cycles_of(built(tmp_path / "close", CALLS.replace("MORE", "")), "quotient")
    apart = cycles_of(built(tmp_path / "apart", CALLS.replace("MORE", MORE)), "quotient")
    assert close < 30  # a chain takes 3 x 14 + 2 x 4 cycles; several are in flight
    assert apart > 1.3 * close


LIBRARY = """
#include <math.h>
double whole(const double *x, int n, int what)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        double v = 1e-3 * (i % 1000) + x[i & 7];
        s += what == 1 ? floor(v) : what == 2 ? ceil(v) : what == 3 ? exp(v) : v;
    }
    return s;
}
int main(int argc, char **argv)
{
    static double x[8];
    (void)argv;
    return (int)whole(x, 10, argc);
}
"""


def test_moves_in_a_loop_that_calls_take_the_slots_that_they_have_without_hooks(tmp_path: Path) -> None:
    program = built(tmp_path / "library", LIBRARY)
    (function,) = [one for one in Image(program.executable).functions if one.name == "whole"]
    known, unknown = (timed(program, is_plain_known=is_known).cycles for is_known in (True, False))
    dearer = [at for at in known if function.start <= at < function.end and known[at] > unknown[at]]
    assert len(dearer) > 2  # the function's first and last block, and blocks of the loop
    assert all(known[at] >= unknown[at] for at in known)


def test_spills_and_arguments_on_the_stack_take_their_slots(tmp_path: Path) -> None:
    # with hooks, other values are in registers, so traffic through the stack must not be charged from that code
    eleven = ", ".join(f"long a{number}" for number in range(11))
    text = f"""
    #define APART __attribute__((noinline, noclone, noipa))
    APART long last({eleven}) {{ return a10; }}
    APART long many(const long *x, int n)
    {{
        long s = 0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 2; k++)
                s += last({", ".join(f"x[{number}]" for number in range(11))});
        return s;
    }}
    int main(void)
    {{
        static long x[11];
        return (int)many(x, 10);
    }}
    """
    program = built(tmp_path / "many", text)
    assert cycles_of(program, "many") > 1.3 * cycles_of(program, "many", is_plain_known=False)
