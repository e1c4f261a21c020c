"""Fixed-size, fixed-time and memory-bounded speedup computed by hand (Sun and Ni 1993)."""

from __future__ import annotations

import pandas as pd
import pytest

from scalegraph.analyze import metrics, scaled
from scalegraph.analyze.series import fixed_size


def runs() -> pd.DataFrame:
    """T = 10 + W/N, total memory W^(2/3): like n^3 operations on a matrix of n^2 numbers."""
    rows = [
        {
            "source": "simulated",
            "program": "p",
            "machine": "m",
            "status": "ok",
            "key": f"{n}-{work}",
            "repetition": 0,
            "processors": n,
            "time_s": 10 + work / n,
            "work_ops": work,
            "param.w": work,
            "memory_bytes": float(work) ** (2 / 3),
        }
        for work in (90, 360, 720)
        for n in (1, 4)
    ]
    return metrics.scaling(pd.DataFrame(rows))


def test_the_three_speedups_by_hand() -> None:
    table = runs()
    series = next(one for one in fixed_size(table) if "90" in one.label)
    assert scaled.fixed_size(series).values[4] == pytest.approx(100 / 32.5)
    # in 100 s four processors do 4 (100 - 10) = 360 operations, one does 90
    timed = scaled.fixed_time(table, series)
    assert (timed.held, timed.values[4]) == (100, pytest.approx(4.0))
    # four memories hold 4^1.5 = 8 times the work: 720 in 10 + 180 s, against 90 in 100 s
    memory = scaled.memory_bounded(table, 90 ** (2 / 3))
    assert memory.values[4] == pytest.approx(720 / 190 / 0.9)
    assert memory.values[1] == 1


@pytest.mark.slow
def test_what_no_run_reaches_has_a_reason_and_no_value() -> None:
    memory = scaled.memory_bounded(runs(), 1e6)
    assert not memory.values
    assert "1 MB" in memory.reasons[4] or "no run" in memory.reasons[4]
    assert "gives the memory" in scaled.memory_bounded(runs(), None).reasons[4]
