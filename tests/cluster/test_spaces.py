"""Several machines and schedules whose runs are spread over workers of Dask: the same study as on this host alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.conftest import SUMS

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

REQUEST = """\
processors = [4]
[program]
sources = ["sums.c"]
args = ["64"]
[space]
machine = ["ksr1", "xeon-6126"]
schedule = ["static", "automatic"]
"""
FIRST = REQUEST.replace(', "xeon-6126"', "").replace(', "automatic"', "")


def runs(document: dict[str, Any]) -> set[tuple[Any, ...]]:
    """Return the coordinates and results of every run."""
    names = ("machine", "processors", "schedule", "automatic", "time_s", "references", "stdout")
    return {tuple(run.get(name) for name in names) for run in document["runs"]}


def test_a_space_is_the_same_on_workers_and_resumes_there(
    site: str, tmp_path: Path, call: Callable[..., tuple[int, str, str]]
) -> None:
    (tmp_path / "sums.c").write_text(SUMS)
    request, study = tmp_path / "space.toml", tmp_path / "spread.sgstudy"
    request.write_text(FIRST)
    assert call("run", request, "--on", site, "-o", study)[0] == 0
    request.write_text(REQUEST)
    code, out, err = call("run", request, "--on", site, "-o", study, "--json")
    assert code == 0, err
    assert err.count("already in the study") >= 2  # one and four processors of the first machine
    spread = json.loads(out)
    alone = json.loads(call("run", request, "-o", tmp_path / "alone.sgstudy", "--json")[1])
    assert runs(spread) == runs(alone)
    assert len(runs(spread)) == 8
    choices = [json.loads(call("choose", path, "--json")[1]) for path in (study, tmp_path / "alone.sgstudy")]
    assert choices[0]["choice"] == choices[1]["choice"]
