"""Call stacks do not depend on the blocks in which the calls are read."""

from __future__ import annotations

import numpy as np
import pytest

from scalegraph.analyze.trace import stacks
from scalegraph.analyze.trace.stacks import Stacks
from scalegraph.traces.kinds import NOBODY, Array, What
from scalegraph.traces.model import Definitions, Location, MemoryPart, Meta, Region, Trace

pytestmark = pytest.mark.slow

LOCATIONS, REGIONS = 4, 3


def some(seed: int) -> Trace:
    """Return calls in any order of locations, some unknown, with leaves without an enter."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(0, 200))
    columns: dict[str, Array] = {
        "time": np.arange(rows),
        "location": random.integers(-1, LOCATIONS + 1, rows).astype(np.int32),
        "what": random.integers(1, 3, rows).astype(np.uint8),
        "region": random.integers(-1, REGIONS + 2, rows).astype(np.int32),
    }
    cut = rows // 3
    parts = [{name: values[low:high] for name, values in columns.items()} for low, high in ((0, cut), (cut, rows))]
    definitions = Definitions(locations=[Location("a")] * LOCATIONS, regions=[Region("f")] * REGIONS)
    return Trace(definitions, Meta(end=rows), {"calls": [MemoryPart("calls", part) for part in parts]})


def by_hand(trace: Trace) -> list[tuple[int, int, bool, int]]:
    """Return time, region, whether it enters, and the time of the innermost enter (-1: none), by location."""
    found: list[list[tuple[int, int, bool, int]]] = [[] for _ in range(LOCATIONS)]
    still: list[list[int]] = [[] for _ in range(LOCATIONS)]
    columns = trace.columns("calls")
    for row, (time, who, what, region) in enumerate(
        zip(*(columns[name].tolist() for name in ("time", "location", "what", "region")), strict=True)
    ):
        if not 0 <= who < LOCATIONS:
            continue
        if what == What.ENTER:
            still[who].append(row)
        elif still[who]:
            still[who].pop()
        inner = int(columns["time"][still[who][-1]]) if still[who] else -1
        found[who].append((time, region if region < REGIONS else NOBODY, what == What.ENTER, inner))
    return [row for rows in found for row in rows]


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_do_not_matter(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "_BLOCK", block)
    for seed in range(30):
        made = some(seed)
        found = Stacks.of(made)
        inner = [int(found.time[row]) if row >= 0 else -1 for row in found.inner.tolist()]
        rows = list(zip(found.time.tolist(), found.region.tolist(), found.enters.tolist(), inner, strict=True))
        assert rows == by_hand(made)
