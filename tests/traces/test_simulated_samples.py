"""The samples of simulated runs agree with their manifests: the accounts of the run's record."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from scalegraph.traces import checking
from scalegraph.traces.reading import read
from tests.traces import simulated_samples as samples


def holds(path: Path) -> None:
    """Compare the trace at *path* with its manifest."""
    manifest = json.loads(path.with_name(f"{path.name}.manifest.json").read_text())
    assert manifest["file"] == path.name
    with read(path) as trace:
        assert trace.counts() == manifest["counts"]
        assert trace.meta.ticks_per_second == manifest["ticks_per_second"]
        assert [trace.meta.begin, trace.meta.end] == manifest["run"]
        count = len(trace.definitions.locations)
        assert count == manifest["locations"]
        shares, states = trace.columns("shares"), trace.definitions.states
        by_region = np.zeros((len(trace.definitions.regions), len(states)), np.int64)
        np.add.at(by_region, (shares["region"], shares["state"]), shares["ticks"])
        by_location = np.zeros((count, len(states)), np.int64)
        np.add.at(by_location, (shares["location"], shares["state"]), shares["ticks"])
        for number, state in enumerate(states):
            assert int(by_region[:, number].sum()) == manifest["leaves"].get(state.key, 0)
            assert by_location[:, number].tolist() == manifest["processor_leaves"].get(state.key, [0] * count)
        for region, categories in manifest["regions"].items():
            assert {s.key: int(n) for s, n in zip(states, by_region[int(region)], strict=True) if n} == categories
        assert checking.check(trace).holds
        assert not any("/" in place.file for place in trace.definitions.regions), "files of the machine that made it"


@pytest.mark.parametrize("name", samples.RUNS)
def test_a_simulated_sample_holds_what_its_manifest_says(root: Path, name: str) -> None:
    path = root / "traces" / f"{name}.sgtrace"
    holds(path)
    assert path.stat().st_size < 150_000


@pytest.mark.slow
@pytest.mark.compiler
def test_the_script_makes_samples_that_hold(tmp_path: Path) -> None:
    samples.write(tmp_path)
    for name in samples.RUNS:
        holds(tmp_path / f"{name}.sgtrace")
