"""Library functions without hooks take time by what they do: within a factor of their native time.

Measured natively on an AMD EPYC: nanoseconds of `programs/library_functions.c` (3.23 GHz, gcc 12 -O1, glibc 2.36). The
machine below is another one of that family, so cycles are compared. `benchmarks/library_functions.py` compares both on
one host.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scalegraph import machine
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Job, Simulated

pytestmark = [pytest.mark.compiler, pytest.mark.slow]
SOURCE = Path(__file__).parent / "programs" / "library_functions.c"
MACHINE = "epyc-7763"
NATIVE_NS = {
    "strtod": 77.7, "atoi": 13.5, "strtol": 13.5, "snprintf_d": 45.6, "snprintf_f": 242.0, "snprintf_s": 44.0,
    "sscanf_d": 66.7, "sscanf_f": 163.0, "malloc_free": 10.8, "rand": 6.8, "rand_r": 6.2, "drand48": 6.8,
    "cexp": 16.7, "csqrt": 19.7, "by_128_bits": 5.9, "exp": 5.86, "sin": 9.89, "pow": 15.2,
    "memcpy_4096": 51.1, "memcpy_65536": 1470.0, "memcpy_1048576": 26900.0, "sort_numbers": 207_000.0,
    "sort_texts": 413_000.0,
}  # fmt: skip
NATIVE_MHZ = 3234
FACTOR = 2.2
FACTORS = {"sort_texts": 3.0}  # the branches of strcmp, which have no hooks, are not predicted


@pytest.fixture(scope="module")
def cycles() -> dict[str, float]:
    on = machine.load(MACHINE)
    built = build([SOURCE], cflags=["-O1"], ldflags=["-lm"])
    record = Simulated().run(Job(built, on, RunPoint(processors=1), ("200", "2")))
    assert (record.status, record.message) == ("ok", "")
    taken = dict(line.split() for line in record.stdout.splitlines())
    return {name: float(ns) * on.processor.clock_mhz / 1000 for name, ns in taken.items()}


@pytest.mark.parametrize("name", NATIVE_NS)
def test_a_function_takes_time_by_what_it_does(cycles: dict[str, float], name: str) -> None:
    native = NATIVE_NS[name] * NATIVE_MHZ / 1000
    factor = FACTORS.get(name, FACTOR)
    assert native / factor < cycles[name] < native * factor


def test_complex_numbers_of_unoptimised_code_take_time_in_libgcc(tmp_path: Path) -> None:
    source = tmp_path / "complex.c"
    source.write_text(
        "#include <complex.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n"
        "    double complex z = 0.5 + 0.3 * I, q = 0.9 + 0.2 * I;\n"
        "    for (long i = 0, n = atol(argv[1]); i < n; i++)\n        z = z OF q + argc;\n"
        "    return creal(z) == 0.5;\n}\n"
    )
    on = machine.load(MACHINE)

    def each(operator: str) -> float:
        built = build([source], cflags=["-O0", f"-DOF={operator}"])
        runs: list[Any] = [Simulated().run(Job(built, on, RunPoint(processors=1), (n,))) for n in ("1000", "3000")]
        assert [run.status for run in runs] == ["ok", "ok"]
        return float(runs[1].time_cycles - runs[0].time_cycles) / 2000

    # Natively 28 and 41 cycles, including a sum of complex numbers kept in memory.
    assert 28 / FACTOR < each("*") < 28 * FACTOR
    assert 41 / FACTOR < each("/") < 41 * FACTOR
