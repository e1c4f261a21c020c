"""Clock ticks take processors from the program: counted exactly, the same in every run, off by default."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.base.run import RunRecord
from scalegraph.machine import load
from scalegraph.request import Request, Session

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

SERIAL = """
#include <stdio.h>
int main(void)
{
    double sum = 0.0;
    for (int i = 1; i <= 40000; i++)
        sum += 1.0 / i;
    printf("%.6f\\n", sum);
    return 0;
}
"""
PARALLEL = """
#include <stdio.h>
static double work(int n)
{
    double sum = 0.0;
    for (int i = 1; i <= n; i++)
        sum += 1.0 / i;
    return sum;
}
int main(void)
{
    double sum = work(20000);
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 1)
    for (int k = 0; k < 256; k++)
        sum += work(400);
    printf("%.3f\\n", sum);
    return 0;
}
"""
PERIOD, HANDLER = 5_000, 700  # cycles; ksr1 has 20 MHz


def run(place: Path, text: str, processors: int, **values: str) -> RunRecord:
    source = place / "program.c"
    source.write_text(text)
    ticks = {"period_us": str(PERIOD / 20), "handler_cycles": str(HANDLER), **values}
    request = Request.model_validate(
        {
            "program": {"sources": [str(source)]},
            "machine": {"name": "ksr1", "overrides": {f"disturbance.{key}": value for key, value in ticks.items()}},
            "processors": [processors],
            "reference": False,
        }
    )
    with Session(workers=1).submit(request, None) as study:
        (found,) = study.runs()
    assert found.ok, found.message
    assert found.time_cycles is not None
    assert sum(found.categories.values()) == processors * found.time_cycles
    return found


def test_a_serial_program_is_longer_by_each_handler_that_came(tmp_path: Path) -> None:
    quiet = run(tmp_path, SERIAL, 1)
    noisy = run(tmp_path, SERIAL, 1, kind="ticks", phase="together")
    assert quiet.time_cycles is not None
    assert noisy.time_cycles is not None
    assert quiet.categories["prim_disturbance"] == 0
    ticks, rest = divmod(noisy.categories["prim_disturbance"], HANDLER)
    assert rest == 0
    assert noisy.time_cycles == quiet.time_cycles + ticks * HANDLER
    assert ticks == noisy.time_cycles // PERIOD  # one at the end of every period
    assert ticks > 50
    assert {**noisy.categories, "prim_disturbance": 0} == quiet.categories


def test_ticks_are_the_same_in_every_run_and_others_with_another_seed(tmp_path: Path) -> None:
    first, again = (run(tmp_path, PARALLEL, 4, kind="ticks") for _ in range(2))
    other = run(tmp_path, PARALLEL, 4, kind="ticks", seed="2")
    assert first.processor_categories == again.processor_categories
    assert first.processor_categories != other.processor_categories


def test_ticks_of_processors_without_a_thread_take_nothing(tmp_path: Path) -> None:
    found = run(tmp_path, PARALLEL, 4, kind="ticks", phase="together")
    assert found.time_cycles is not None
    ticks = [cycles // HANDLER for cycles in found.processor_categories["prim_disturbance"]]
    waits = found.processor_categories["idle_not_started"]
    for processor in (1, 2, 3):  # thread 0 executes the serial part alone
        assert waits[processor] > 10 * PERIOD
        assert ticks[processor] <= (found.time_cycles - waits[processor]) // PERIOD + 1
        assert ticks[processor] > 10
    assert ticks[0] > max(ticks[1:])


def test_handlers_that_leave_no_time_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"disturbance\.handler_cycles.*less than a period"):
        run(tmp_path, SERIAL, 1, kind="ticks", handler_cycles=str(PERIOD))


def test_shipped_machines_are_quiet() -> None:
    assert load("ksr1").disturbance.kind == "none"
