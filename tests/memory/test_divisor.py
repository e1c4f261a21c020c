"""Divisors with reciprocals divide exactly."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from scalegraph.runtime.library import include_flags

pytestmark = pytest.mark.slow

PROGRAM = r"""
#include <stdio.h>
#include "sg_divisor.h"
int main(void)
{
    unsigned long long value, by;
    while (scanf("%llu %llu", &value, &by) == 2) {
        sg_divisor d = sg_divisor_of(by);
        printf("%llu %llu\n", (unsigned long long)sg_quotient(value, &d),
               (unsigned long long)sg_remainder(value, &d));
    }
}
"""
LIMIT = 2**62


def test_quotients_and_remainders_are_those_of_exact_division(tmp_path: Path) -> None:
    source, driver = tmp_path / "divide.c", tmp_path / "divide"
    source.write_text(PROGRAM, encoding="utf-8")
    gcc = os.environ.get("CC", "gcc")
    subprocess.run([gcc, "-Wall", "-Wextra", "-Werror", *include_flags(), str(source), "-o", str(driver)], check=True)
    divisors = [*range(1, 300), 1023, 1024, 1025, 32767, 32768, 65535, 2**31 - 1, 2**32 + 15, 2**61 - 1, 2**61]
    pairs = []
    for by in divisors:
        multiples = (0, 1, 2, 3, 1000, 2**20, 2**40, LIMIT // by)
        near = {by * times + step for times in multiples for step in (-1, 0, 1)}
        pairs += [(value, by) for value in sorted(near) if 0 <= value < LIMIT]
    text = "".join(f"{value} {by}\n" for value, by in pairs)
    done = subprocess.run([driver], input=text, capture_output=True, text=True, check=True)
    found = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert found == [divmod(value, by) for value, by in pairs]
