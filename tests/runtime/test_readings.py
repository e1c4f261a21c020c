"""A program that reads its clock around straight-line code: the block is charged on entry, not before."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import pytest

from scalegraph import machine

pytestmark = [pytest.mark.compiler, pytest.mark.slow]
DIVISIONS = 200


def test_code_without_a_branch_takes_time_between_two_readings(run: Callable[..., Any]) -> None:
    outcome = run("readings", 1, on="server-2x32-inorder")
    assert outcome.status == "ok"
    omp, clock, wrapper, two, day, library, nothing, counter, back = map(float, outcome.stdout.split())
    config = machine.load("server-2x32-inorder")
    division = config.processor.operation_cycles.fp_div / config.processor.clock_mhz * 1000
    least, most = DIVISIONS * division, DIVISIONS * (division + 1.0)
    readings = [omp, clock, wrapper, two]
    if platform.machine() == "x86_64":
        readings.append(counter / config.processor.clock_mhz * 1000)
    for measured in readings:
        assert least * 0.98 <= measured <= most
    assert 5 * least - 1000 <= day <= 5 * most + 1000, "a clock of microseconds"
    assert 20 < library < 200, "five functions of mathematics"
    assert nothing < 0.1 * least, "what lies behind the second reading is not between them"
    assert back == 0
