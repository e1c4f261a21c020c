"""Sampled call paths of commands: reading sampler output, and charging waiting to its cause."""

from __future__ import annotations

import pytest

from scalegraph.analyze.loss import by_region
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.usage import Frame, StackShare, Usage
from scalegraph.link.commands.stacks import RATE_HZ, Slice, of_chrome, of_perf, shares
from scalegraph.request.model.sampled_paths import with_regions

MAIN, SERIAL, WORK = Frame(name="main", file="a.py"), Frame(name="read", file="a.py"), Frame(name="work", file="a.py")

PERF = """
prog 17486/17486  4660.918979:
    120f main._omp_fn.0 (/tmp/prog)
    aaaa GOMP_parallel+0x40 (/usr/lib/libgomp.so.1.0.0)
    1234 main+0x12 (/tmp/prog)
    9999 __libc_start_call_main (/usr/lib/libc.so.6)

prog two 17486/17517  4660.970466:
    120f main._omp_fn.0 (/tmp/prog)
    bbbb [unknown] (/usr/lib/libgomp.so.1.0.0)
    cccc start_thread (/usr/lib/libc.so.6)

"""


def test_samples_of_perf_begin_with_the_program_s_own_functions() -> None:
    one, two = of_perf(PERF)
    assert [frame.name for frame in one.stack] == ["main", "GOMP_parallel", "main._omp_fn.0"]
    assert [frame.name for frame in two.stack] == ["main._omp_fn.0"]
    assert (one.end, one.end - one.begin) == (4660.918979, pytest.approx(1 / RATE_HZ))


def test_events_of_py_spy_are_stretches_with_a_stack() -> None:
    def event(kind: str, name: str, ts: float, tid: int = 1) -> dict[str, object]:
        return {"ph": kind, "name": name, "ts": ts, "pid": 1, "tid": tid, "args": {"filename": "/x/a.py", "line": 3}}

    found = list(
        of_chrome(
            [
                event("B", "main", 0),
                event("B", "read", 1e6),
                event("E", "read", 3e6),
                event("E", "main", 4e6),
                event("B", "work", 9e6, 2),
                event("E", "work", 10e6, 2),
            ]
        )
    )
    assert [(one.begin, one.end, [frame.name for frame in one.stack]) for one in found] == [
        (0, 1, ["main"]),
        (1, 3, ["main", "read"]),
        (3, 4, ["main"]),
        (9, 10, ["work"]),
    ]


def test_waiting_is_charged_to_the_function_that_computes_alone() -> None:
    """A serial second, then four threads for a second: half of 4 x 2 s is work, 3/8 waits for serial code."""
    slices = [Slice(0, 1, (MAIN, SERIAL)), *(Slice(1, 2, (MAIN, WORK)) for _ in range(3)), Slice(1, 2, (WORK,))]
    found = {one.path[-1].name: (one.busy, one.waiting) for one in shares(slices, 4)}
    assert found["read"] == (pytest.approx(1 / 8), pytest.approx(3 / 8))
    assert sum(one.busy for one in shares(slices, 4)) == pytest.approx(5 / 8)


def test_more_threads_than_processors_share_them() -> None:
    (one,) = shares([Slice(0, 1, (WORK,)) for _ in range(4)], 2)
    assert (one.busy, one.waiting) == (pytest.approx(1), 0)


def run(processors: int, repetition: int, time_s: float, stacks: tuple[StackShare, ...] = ()) -> RunRecord:
    return RunRecord(
        source="measured",
        program="p",
        machine="host",
        time_s=time_s,
        usage=Usage(wall_s=time_s, stacks=stacks),
        point=RunPoint(processors=processors, repetition=repetition, target="host"),
    )


def test_the_function_that_stops_scaling_is_where_the_loss_is() -> None:
    """Amdahl: 1 s serial and 4 s parallel. On four processors 3 s of the loss are waiting for the serial function."""
    alone = (StackShare(path=(MAIN, SERIAL), busy=0.2), StackShare(path=(MAIN, WORK), busy=0.8))
    four = (StackShare(path=(MAIN, SERIAL), busy=1 / 8, waiting=3 / 8), StackShare(path=(MAIN, WORK), busy=1 / 2))
    regions, made = with_regions((), [run(1, 0, 5.0, alone), run(4, 1, 2.0), run(4, 0, 2.0, four)])
    assert [region.name for region in regions] == ["program", "main", "read", "work"]
    assert [region.parent for region in regions] == [None, 0, 1, 1]
    assert len(made) == 3  # the repetition gets the paths of the sampled run
    for record in made:
        assert record.clock_hz is not None
        assert sum(record.categories.values()) == pytest.approx(record.point.processors * (record.time_cycles or 0))
    loss = by_region(made[2], made[0], regions)
    worst = loss.iloc[0]
    assert (worst["name"], worst["cause"], worst["loss_s"]) == ("read", "serial_wait_s", pytest.approx(3.0))
    again, fresh = with_regions(regions, [run(2, 0, 3.0, (StackShare(path=(WORK,), busy=1.0),))])
    assert again[: len(regions)] == regions
    assert fresh[0].regions[-1].region == len(regions)
