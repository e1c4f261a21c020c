"""Requests with a real target: one study with simulated and measured runs, and the target's refusals."""

from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.request import Session
from scalegraph.request.model.request import Request
from scalegraph.store import Study

pytestmark = pytest.mark.slow

PROGRAM = '#include <stdio.h>\nint main(void) { puts("done"); return 0; }\n'


def request(tmp_path: Path, **more: object) -> Request:
    (tmp_path / "p.c").write_text(PROGRAM, encoding="utf-8")
    program = {"sources": ["p.c"], "directory": str(tmp_path)}
    return Request.model_validate({"program": program, "processors": [1], **more})


def test_measured_and_simulated_runs_share_a_study_and_are_kept_apart(tmp_path: Path) -> None:
    session, path = Session(), tmp_path / "s.sgstudy"
    session.submit(request(tmp_path, target={"name": "host"}), path).close()
    with session.submit(request(tmp_path), path) as study:
        assert study.targets() == ("", "host")
        assert [run.source for run in study.runs()] == ["simulated"]
        assert [run.source for run in study.runs(target="host")] == ["measured"]
        assert study.manifest.machine == "server-2x32"
    data = session.study_data(path)
    assert [run.source for run in data.runs] == ["simulated"]
    with session.submit(request(tmp_path, target={"name": "host"}), path) as study:  # nothing is left to run
        assert len(study) == 2
        assert study.manifest.machine == "server-2x32"


def test_a_study_of_measured_runs_alone_is_viewed_like_any_other(tmp_path: Path) -> None:
    with Session().submit(request(tmp_path, target={"name": "host"}), tmp_path / "s.sgstudy") as study:
        assert study.targets() == ("host",)
        assert study.manifest.machine == "host"
        data = Session().study_data(study)
    assert list(data.table["source"]) == ["measured"]
    assert data.machine_title.startswith("this computer: ")
    assert data.meaning is not None  # values by call path, as for imported measurements
    assert data.meaning.total == "program"


def test_another_program_is_not_added_to_the_study_of_another_target(tmp_path: Path) -> None:
    path = tmp_path / "s.sgstudy"
    Session().submit(request(tmp_path, target={"name": "host"}), path).close()
    wanted = request(tmp_path)
    (tmp_path / "p.c").write_text(PROGRAM.replace("done", "other"), encoding="utf-8")
    with pytest.raises(InputError, match="another program"):
        Session().submit(wanted, path)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"target": {"name": "hots"}}, "target.name: unknown target 'hots'; did you mean 'host'?"),
        ({"target": {"name": "host", "settings": {"x": 1}}}, "target.settings.x: unknown setting 'x'"),
        ({"target": {"name": "host"}, "processors": [4096]}, "processors: 4096 processors: expected 1 to"),
        ({"target": {"name": "host"}, "collect": {"classes": True}}, "collect.classes: target 'host' cannot do this"),
        ({"target": {"name": "host"}, "what_if": [{"ideal": ["cache"]}]}, "what_if: target 'host' cannot do this"),
    ],
)
def test_what_the_target_cannot_do_is_said_before_anything_runs(
    tmp_path: Path, more: dict[str, object], said: str
) -> None:
    faults = [str(fault) for fault in Session().check(request(tmp_path, **more))]
    assert len(faults) == 1
    assert faults[0].startswith(said)


def test_a_study_says_which_target_a_run_had(tmp_path: Path) -> None:
    path = tmp_path / "s.sgstudy"
    Session().submit(request(tmp_path, target={"name": "host"}), path).close()
    with Study.open(path) as study:
        (run,) = study.runs()
        assert run.point.label() == "N = 1, target host"
        assert study.has(run.point.key)
        assert run.point.model_copy(update={"target": ""}).key != run.point.key
