"""Each iteration of a loop with branches takes the time of its own path, not always the same time."""

from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Job, Simulated

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

TAKEN = 6.0  # cycles from one taken jump to the next, the only limit of this loop
COUNT = 1000
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char wanted[COUNT], found[COUNT];
static __attribute__((noinline)) void mark(char *to, const char *from, int count)
{
    for (int k = 0; k < count; k++)
        if (from[k])
            to[k] = 1;
}
int main(int count, char **argument)
{
    int rounds = atoi(argument[2]), share = atoi(argument[1]);
    for (int k = 0; k < COUNT; k++)
        wanted[k] = share > 0 && k % share == 0;
    for (int i = 0; i < rounds; i++)
        mark(found, wanted, COUNT);
    printf("%d\\n", found[0]);
    return 0;
}
"""


def _per_round(program: Path, share: int) -> float:
    """Return the cycles per iteration of the loop in `mark`, where every *share*th element is wanted, or none."""
    values = {
        "processor.out_of_order": "true",
        "processor.issue_width": 8,
        "processor.memory_parallelism": 8,
        "processor.pipeline.window": 200,
        "processor.pipeline.load": 5,
        "processor.pipeline.int_alu": 1,
        "processor.pipeline.taken": TAKEN,
        "branches.penalty_cycles": 1,
        "branches.history": 256,
    }
    on = machine.load("server-2x32-inorder", {key: str(value) for key, value in values.items()})
    built = build([program])
    times = []
    for rounds in (20, 40):
        record = Simulated().run(Job(built, on, RunPoint(processors=1), (str(share), str(rounds))))
        assert (record.status, record.message) == ("ok", "")  # runtime and record check that accounts add up
        assert record.time_cycles is not None
        times.append(record.time_cycles)
    return (times[1] - times[0]) / (20 * COUNT)


def test_rounds_take_what_their_taken_jumps_take(tmp_path: Path) -> None:
    program = tmp_path / "mark.c"
    program.write_text(PROGRAM.replace("COUNT", str(COUNT)))
    every, none, half = (_per_round(program, share) for share in (1, 0, 2))
    assert every == pytest.approx(TAKEN, rel=0.1)  # back to the head; the body is after its branch
    assert none == pytest.approx(2 * TAKEN, rel=0.1)  # and jumping over the body
    assert half == pytest.approx(1.5 * TAKEN, rel=0.1)
