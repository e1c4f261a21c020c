from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph.traces import checking
from scalegraph.traces.kinds import NO_TIME
from scalegraph.traces.reading import read
from tests.traces import samples

NAMES = (*samples.FILES, samples.OTF2, samples.PICL, samples.CSV)
# counted by hand from tests/traces/samples.py: 4 ranks, 3 steps
PIPELINE = {
    "calls": 4 * (2 + 3 * 4),
    "waits": 9,
    "messages": 9,
    "collectives": 12,
    "counters": 12,
    "states": 24,
    "shares": 4 * 3 * 6,
}
COUNTS = {
    **dict.fromkeys((*samples.FILES, samples.OTF2), PIPELINE),
    samples.PICL: {"calls": 12, "messages": 2},
    samples.CSV: {"calls": 6},
}


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_holds_what_its_manifest_says(root: Path, name: str) -> None:
    if name == samples.OTF2:
        pytest.importorskip("otf2")
    manifest = json.loads((root / "traces" / f"{name}.manifest.json").read_text())
    with read(root / "traces" / name) as trace:
        assert trace.counts() == manifest["counts"] == COUNTS[name]
        assert trace.meta.ticks_per_second == manifest["ticks_per_second"]
        assert [trace.meta.begin, trace.meta.end] == manifest["run"]
        assert len(trace.definitions.locations) == manifest["locations"]
        assert int(trace.columns("messages")["size"].sum()) == manifest["bytes_sent"]
        assert checking.check(trace).holds


@pytest.mark.parametrize("name", samples.FILES)
def test_a_sample_of_version_1_is_what_it_was(root: Path, name: str) -> None:
    """The files in version1 were written before there were shares, and before waits recorded their release."""
    with read(root / "tests" / "traces" / "version1" / name) as old, read(root / "traces" / name) as new:
        assert old.counts() == {kind: count for kind, count in PIPELINE.items() if kind != "shares"}
        assert checking.check(old).holds
        for kind in old.counts():
            left, right = old.columns(kind), new.columns(kind)
            assert list(left) == list(right)
            for column in left.keys() - {"released"}:
                assert left[column].tolist() == right[column].tolist()
        assert set(old.columns("waits")["released"].tolist()) == {NO_TIME}
        assert NO_TIME not in new.columns("waits")["released"]


@pytest.mark.slow
def test_the_samples_are_those_that_the_script_makes(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("otf2")
    samples.write(tmp_path / "made")
    others = {".sgtrace", ".otf2", ".def"}  # the bytes of these depend on the libraries that write them
    made = {path.name: path.read_bytes() for path in (tmp_path / "made").glob("*.*") if path.suffix not in others}
    assert set(made) >= {"pipeline.json", "pipeline.prv", f"{samples.OTF2}.manifest.json"}
    assert {name: (root / "traces" / name).read_bytes() for name in made} == made
