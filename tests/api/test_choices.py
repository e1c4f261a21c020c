"""Choices of machine, split and schedule in the Python API: `choices`, `select` and `choose`."""

from pathlib import Path

import pytest

import scalegraph as sg
from scalegraph.base.errors import InputError
from scalegraph.base.points import RunPoint
from scalegraph.base.run import RunRecord
from scalegraph.store import Manifest, Study

TIMES = {"xeon-6126": {1: 8.0, 4: 2.5, 8: 2.0}, "ksr1": {1: 16.0, 4: 4.2, 8: 2.2}}


@pytest.fixture
def data(tmp_path: Path) -> sg.Data:
    """Yield a study of two machines; the KSR-1 is slower, but more efficient."""
    study = Study.create(tmp_path / "two.sgstudy", Manifest.new(title="t", program="p", machine="xeon-6126"))
    for machine, times in TIMES.items():
        setting = {"machine": machine}
        part = study.add_member(setting, Manifest.new(title="t", program="p", machine=machine))
        part.add_runs(
            [
                RunRecord(
                    source="simulated",
                    program="p",
                    machine=machine,
                    time_s=time,
                    point=RunPoint(processors=n, setting=setting),
                )
                for n, time in times.items()
            ]
        )
    study.close()
    return sg.load(tmp_path / "two.sgstudy")


def test_curves_are_of_the_choice_that_is_selected(data: sg.Data) -> None:
    assert list(data.choices["machine"]) == ["xeon-6126", "ksr1"]
    for machine, times in TIMES.items():
        part = data.select(machine=machine)
        assert dict(zip(part.scaling["processors"], part.scaling["speedup"], strict=True)) == {
            n: times[1] / time for n, time in times.items()
        }
    part.close()  # the file belongs to the whole study
    assert list(data.select(machine="xeon-6126").runs["time_s"]) == [8.0, 2.5, 2.0]


def test_the_choice_is_that_of_the_command_line(data: sg.Data) -> None:
    assert data.choose()["choice"]["processors"] == 8
    found = data.choose("core_hours", within=1.3, efficiency=0.5)
    assert (found["choice"]["machine"], found["choice"]["processors"]) == ("xeon-6126", 4)
    assert "xeon-6126, N = 4" in found["sentence"]


@pytest.mark.parametrize(
    ("axes", "said"),
    [({"machine": "ksr2"}, "ksr1"), ({"machines": "ksr1"}, "machine"), ({"schedule": "EA"}, "written")],
)
def test_what_there_is_not_is_said(data: sg.Data, axes: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        data.select(**axes)
    with pytest.raises(InputError, match="minimise"):
        data.choose("watts")  # type: ignore[arg-type]
