"""A study of several machines, splits and schedules keeps their runs apart."""

from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import StoreError
from scalegraph.base.points import RunPoint
from scalegraph.base.run import RunRecord
from scalegraph.store import Manifest, Study

A, B = {"machine": "ksr1", "schedule": "static"}, {"machine": "a64fx", "schedule": "static"}


def record(processors: int, setting: dict[str, str], **more: Any) -> RunRecord:
    point = RunPoint(processors=processors, setting=setting)
    return RunRecord(
        source="simulated", program="p", machine=setting.get("machine", "m"), point=point, time_s=1.0, **more
    )


def manifest(machine: str) -> Manifest:
    return Manifest.new(title="t", program="p", machine=machine)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.sgstudy"


def test_the_key_of_a_point_without_a_choice_is_what_it_was() -> None:
    plain = RunPoint(processors=4, parameters={"n": 10})
    assert plain.key == "744ef09bf16df30a"
    chosen = RunPoint(processors=4, parameters={"n": 10}, setting=A)
    assert chosen.key.endswith(f"-{plain.key}")
    assert chosen.label() == "ksr1, schedule static, N = 4, n = 10"
    assert RunPoint.model_validate_json(chosen.model_dump_json()) == chosen


def test_a_study_shows_the_runs_of_one_choice_and_knows_all(path: Path) -> None:
    with Study.create(path, manifest("ksr1")) as study:
        for setting in (A, B):
            part = study.add_member(setting, manifest(setting["machine"]))
            part.add_runs([record(1, setting), record(2, setting)])
            part.set_facts("searches", [])
        study.member(B).set_facts("memory_bytes", {"x": 1})
    with Study.open(path) as study:
        assert (len(study), len(study.every_run()), study.members()) == (4, 4, (A, B))
        assert {run.machine for run in study.runs()} == {"ksr1"}
        assert (study.choice, study.manifest.machine, study.facts("memory_bytes")) == (A, "ksr1", None)
        other = study.member(B)
        assert ({run.machine for run in other.runs()}, len(other)) == ({"a64fx"}, 2)
        assert (other.choice, other.manifest.machine, other.facts("memory_bytes")) == (B, "a64fx", {"x": 1})
        assert other.keys() < study.keys()


def test_a_study_of_one_choice_gets_another(path: Path) -> None:
    with Study.create(path, manifest("ksr1")) as study:
        study.add_run(record(1, {}))
        assert study.members() == ({},)
        study.add_member(B, manifest("a64fx")).add_run(record(1, B))
        assert study.members() == ({}, B)
        assert [run.machine for run in study.runs()] == ["m"]
        copy = path.with_name("copy.sgstudy")
        study.save_as(copy)
    with Study.open(copy) as study:
        assert (study.members(), study.manifest.machine) == (({}, B), "ksr1")


@pytest.mark.parametrize("kept", [3, [], [{"machine": 3}], [{"colour": "red"}], {"machine": "x"}, [[1]]])
def test_damaged_choices_are_said_in_a_sentence(path: Path, kept: Any) -> None:
    with Study.create(path, manifest("ksr1")) as study:
        study._put("members", kept)
        with pytest.raises(StoreError, match="is damaged: its members"):
            study.runs()
