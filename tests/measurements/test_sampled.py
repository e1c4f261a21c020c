"""Profiles of speedscope and V8 become call paths with the times of their samples."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import InputError
from scalegraph.request.imports.sets import opened, read_set
from tests.measurements.sampled_profiles import SPEEDSCOPE, SPEEDSCOPE_EVENTS, V8


@pytest.mark.parametrize("document", [SPEEDSCOPE, SPEEDSCOPE_EVENTS, V8], ids=["sampled", "evented", "v8"])
def test_times_of_samples_are_those_of_call_paths(tmp_path: Path, document: dict[str, Any]) -> None:
    paths = [tmp_path / f"app.p{p}.json" for p in (1, 2)]
    for path in paths:
        path.write_text(json.dumps(document))
    measured = read_set(paths)
    assert list(measured.points["p"]) == [1, 2]
    first = measured.values[measured.values["point"] == 0]
    found = {measured.paths[at]: value for at, value in zip(first["call_path"], first["value"], strict=True)}
    assert found == {"program->main": 1.0, "program->main->solve": 6.0, "program->main->solve->wait": 2.0}
    with opened(paths, said={"scaling": "strong"}) as study:
        assert [run.time_s for run in study.runs()] == [9.0, 9.0]


def changed(document: dict[str, Any], change: Any) -> dict[str, Any]:
    made = copy.deepcopy(document)
    change(made)
    return made


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (changed(SPEEDSCOPE, lambda d: d["profiles"].append(d["profiles"][0])), "holds 2 profiles"),
        (changed(SPEEDSCOPE, lambda d: d["profiles"][0].update(unit="bytes")), "is 'bytes', not a time"),
        (changed(SPEEDSCOPE, lambda d: d["profiles"][0]["weights"].pop()), "has 3 entries; expected 4"),
        (changed(SPEEDSCOPE, lambda d: d["profiles"][0]["samples"].append([7])), "has 4 entries; expected 5"),
        (changed(SPEEDSCOPE, lambda d: d["profiles"][0]["samples"][0].append(7)), "the number of one of 3 frames"),
        (changed(SPEEDSCOPE_EVENTS, lambda d: d["profiles"][0]["events"].pop()), "the file is cut off"),
        (changed(SPEEDSCOPE_EVENTS, lambda d: d["profiles"][0]["events"].pop(3)), "not the innermost"),
        (changed(V8, lambda d: d["timeDeltas"].pop()), "has 3 entries; expected 4"),
        (changed(V8, lambda d: d["samples"].__setitem__(0, 9)), "a node below the root"),
        (changed(V8, lambda d: d["nodes"][3].update(children=[2])), "a node below the root"),
    ],
)
def test_a_damaged_profile_is_refused(tmp_path: Path, document: dict[str, Any], why: str) -> None:
    path = tmp_path / "app.p1.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=why):
        read_set([path])
