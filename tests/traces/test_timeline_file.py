from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled
from scalegraph.traces.container import open_container, write_container
from scalegraph.traces.lod import Timeline, pyramid, rows, scratch, stored, streams, tiles
from scalegraph.traces.model import Trace
from tests.traces.lod_reference import bursty
from tests.traces.made import build, definitions

pytestmark = pytest.mark.slow

SPAN = 10**7


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give small traces the properties of large ones: a pyramid in the file, arrays in temporary files, many tiles."""
    monkeypatch.setattr(tiles, "WORTH", 1)
    monkeypatch.setattr(pyramid, "FEW", 10)
    monkeypatch.setattr(pyramid, "_TOTAL_BINS", 64)
    monkeypatch.setattr(tiles, "LEAST", 20)
    monkeypatch.setattr(tiles, "PIECE", 200)
    monkeypatch.setattr(streams, "PIECE", 300)
    monkeypatch.setattr(rows, "PIECE", 50)
    monkeypatch.setattr(scratch, "LIMIT_BYTES", 1000)


def everything() -> Trace:
    """Return calls in bursts, and some of everything that a timeline shows."""
    trace = bursty(2000, 3, 6, SPAN)
    random = np.random.default_rng(5)
    sent = np.sort(random.integers(0, SPAN - 1000, 500)).tolist()
    more = build(
        {
            "messages": [(t, t, t, t + n, n % 3, (n + 1) % 3, n, 0, 0) for n, t in enumerate(sent)],
            "waits": [(t, t + n, n % 3, -1, 1, 0, 0, t) for n, t in enumerate(sent)],
            "counters": [(t, n % 3, n % 2, float(n), n) for n, t in enumerate(sent)],
        },
        definitions(3),
        begin=0,
        end=SPAN,
    )
    return Trace(trace.definitions, trace.meta, {**more.parts, "calls": trace.parts["calls"]})


def looks(line: Timeline) -> list[np.ndarray]:
    """Return the results of several queries of *line*."""
    shown = []
    for begin, end in ((0, SPAN), (SPAN // 3 - 10, SPAN // 3 + 20), (SPAN // 2, SPAN // 2 + 99_999)):
        for layer in line.layers:
            lanes = line.lanes(layer, begin, end, 50)
            shown += [lanes.edges, lanes.codes, lanes.shares, lanes.covered, line.totals(layer, begin, end, 50).values]
        shown += line.messages(begin, end, limit=30).columns.values()
        shown += line.waits(begin, end, [0, 2], limit=30).columns.values()
        for metric in range(2):
            for location in (None, 1):
                some = line.counter(metric, location, begin, end, 50)
                shown += [some.low, some.high, some.mean]
    return shown


def same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return len(one) == len(other) and all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(one, other, strict=True)
    )


def test_a_file_keeps_the_pyramid_and_shows_what_the_trace_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = everything()
    path = tmp_path / "a.sgtrace"
    write_container(trace, path)
    assert list(tmp_path.iterdir()) == [path]
    wanted = looks(Timeline.open(trace))
    monkeypatch.setattr("scalegraph.traces.lod.timeline.build", None)  # nothing is recomputed
    assert stored.lacks_pyramid(trace)
    assert not stored.lacks_pyramid(open_container(path))
    line = Timeline.open(open_container(path))
    assert not line.notes
    assert same(looks(line), wanted)


def test_damage_anywhere_in_the_pyramid_is_found_and_it_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "a.sgtrace"
    write_container(everything(), path)
    wanted = looks(Timeline.open(open_container(path)))
    data = path.read_bytes()
    first, last = data.index(b"LODA"), data.rindex(b"LODX")
    random = np.random.default_rng(2)
    starts = [at for at in range(first - 4, last, 64) if data[at : at + 8] == b"sgBKLODA"]
    for start in random.choice(starts, 12, replace=False).tolist():
        length = int.from_bytes(data[start + 8 : start + 16], "little")
        if not length:
            continue
        hurt = bytearray(data)
        hurt[start + 64 + int(random.integers(0, length))] ^= 1 << int(random.integers(0, 8))
        path.write_bytes(hurt)
        line = Timeline.open(open_container(path))
        assert [note.what for note in line.notes] == [
            "pyramid in the file that is damaged or of another version: made again"
        ]
        assert same(looks(line), wanted)


@pytest.mark.parametrize("change", ["version", "levels", "arrays", "of"])
def test_a_pyramid_of_something_else_is_made_again(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.sgtrace"
    dumps = json.dumps
    wrong = {"version": 99, "levels": {"activity": 63}, "arrays": [["calls.first", "|O", [-7]]], "of": {}}
    wanted = looks(Timeline.open(everything()))
    with monkeypatch.context() as only:
        changed = SimpleNamespace(dumps=lambda data: dumps({**data, change: wrong[change]}), loads=json.loads)
        only.setattr(stored, "json", changed)
        write_container(everything(), path)
    line = Timeline.open(open_container(path))
    assert line.notes
    assert same(looks(line), wanted)


def test_files_of_version_1_have_no_pyramid_and_get_one() -> None:
    path = Path(__file__).parent / "version1" / "pipeline.sgtrace"
    trace = open_container(path)
    line = Timeline.open(trace)
    assert not line.notes
    assert line.totals("activity", line.begin, line.end, 10).values.any()


def test_making_a_pyramid_can_be_stopped_and_leaves_nothing(tmp_path: Path) -> None:
    trace = everything()
    count = 0

    def counted(_share: float) -> None:
        nonlocal count
        count += 1

    Timeline.open(trace, progress=counted)
    assert count > 10
    for at in range(1, count, max(count // 8, 1)):
        token, seen = CancelToken(), 0

        def stop(_share: float, at: int = at, token: CancelToken = token) -> None:
            nonlocal seen
            seen += 1
            if seen == at:
                token.cancel()

        with pytest.raises(Cancelled):
            Timeline.open(trace, cancel=token, progress=stop)

    def refuse(share: float) -> None:
        if share > 0.6:
            raise Cancelled("stopped by the user")

    with pytest.raises(Cancelled):
        write_container(trace, tmp_path / "a.sgtrace", refuse)
    assert not list(tmp_path.iterdir())


def test_progress_never_goes_back() -> None:
    told: list[float] = []
    Timeline.open(everything(), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
