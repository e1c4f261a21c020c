"""A request with ``[predict]``: samples, small runs and predicted points form one study, in one event stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError
from scalegraph.base.events import Done, Event, Note, Planned, RunFinished
from scalegraph.request import Request, Session
from scalegraph.request.model.prediction import by_point, read_sizes, sizes_text
from tests.predict.test_command import STEPS, WILD

AT = {"n": [96]}


def request_of(directory: Path, text: str = STEPS, **changes: Any) -> Request:
    (directory / "p.c").write_text(text, encoding="utf-8")
    made: dict[str, Any] = {
        "program": {"sources": ["p.c"], "args": ["{n}"], "directory": str(directory)},
        "machine": {"name": "ksr1"},
        "parameters": {"n": [24, 40, 48]},
        "processors": [4],
        "predict": {"at": AT},
    }
    return Request.model_validate(made | changes)


@pytest.mark.slow
def test_runs_and_predicted_points_are_in_one_study_that_keeps_the_request(tmp_path: Path) -> None:
    request = request_of(tmp_path, predict={"at": AT, "verify": True, "processors": [4]})
    events: list[Event] = []
    session = Session()
    planned = session.plan(request)
    with session.submit(request, tmp_path / "a.sgstudy", events.append) as study:
        assert Request.model_validate(study.manifest.request).predict == request.predict
        sizes = {run.point.parameters["n"] for run in study.runs() if run.point.processors == 4}
        assert {24, 40, 48, 96} <= sizes
        data = session.study_data(study)
        one = next(point for point in data.predictions.points if point.parameters["n"] == 96)
        assert one.time_s == pytest.approx(one.actual_s, rel=0.05)
    assert [point.parameters["n"] for point in planned.predicted] == [96]
    assert sum(isinstance(event, Done) for event in events) == 1
    assert isinstance(events[-1], Done)
    planned_events = [event for event in events if isinstance(event, Planned)]
    assert [event.total for event in planned_events] == sorted(event.total for event in planned_events)
    finished = [event.finished for event in events if isinstance(event, RunFinished)]
    assert finished == sorted(set(finished))
    assert any(isinstance(event, Note) and "n = 96: predicted" in event.text for event in events)


@pytest.mark.slow
def test_a_second_time_nothing_is_run_again(tmp_path: Path) -> None:
    request, path = request_of(tmp_path), tmp_path / "a.sgstudy"
    Session().submit(request, path).close()
    events: list[Event] = []
    with Session().submit(request, path, events.append) as study:
        assert sum(run.source == "predicted" for run in study.runs()) == 1
    assert not any(isinstance(event, RunFinished) for event in events)


@pytest.mark.slow
def test_a_request_to_stop_keeps_the_runs_and_predicts_nothing(tmp_path: Path) -> None:
    token, events = CancelToken(), []

    def emit(event: Event) -> None:
        events.append(event)
        if isinstance(event, RunFinished):
            token.cancel()

    request = request_of(tmp_path)
    with Session(workers=1).submit(request, tmp_path / "a.sgstudy", emit, token) as study:
        assert len(study) >= 1
        assert not any(run.source == "predicted" for run in study.runs())
        assert Request.model_validate(study.manifest.request).predict == request.predict
    assert isinstance(events[-1], Done)
    assert events[-1].cancelled


@pytest.mark.slow
def test_runs_that_determine_nothing_are_kept_and_said(tmp_path: Path) -> None:
    events: list[Event] = []
    with Session().submit(request_of(tmp_path, WILD), None, events.append) as study:
        assert not any(run.source == "predicted" for run in study.runs())
        assert len(study) > 3
    said = [event.text for event in events if isinstance(event, Note)]
    assert any(text.startswith("N = 4, n = 96: not predicted: ") for text in said)


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"parameters": {"n": 24}}, "parameters.n", "two or more sample sizes were expected"),
        ({"predict": {"at": {"m": 5}}}, "predict.at", "two or more sample sizes were expected to predict 'm'"),
        ({"parameters": {"n": [24, 40], "m": [1, 2]}}, "predict.at", "a value of 'm' was expected"),
        ({"collect": {"regions": False}}, "collect.regions", "need their regions"),
        ({"repetitions": 2}, "repetitions", "cannot be in the same request"),
        ({"predict": {"at": AT, "processors": [5000]}}, "predict.processors", "ksr1"),
    ],
)
def test_what_cannot_be_predicted_is_said_at_its_place(
    tmp_path: Path, changes: dict[str, Any], key: str, said: str
) -> None:
    with pytest.raises(InputError) as refused:
        Session().submit(request_of(tmp_path, **changes), None)
    assert [key] == [fault.key for fault in refused.value.faults if said in fault.message], refused.value.faults


def test_a_request_with_predictions_is_written_and_read_again(tmp_path: Path) -> None:
    request = request_of(tmp_path, predict={"at": "n=96, 128", "processors": [8, 4]})
    assert request.predict is not None
    assert request.predict.at == {"n": (96, 128)}
    path = tmp_path / "r.toml"
    path.write_text(request.to_toml(), encoding="utf-8")
    assert Session().load(path).predict == request.predict


def test_sizes_are_read_as_they_are_written() -> None:
    for text in ("m=8,16;n=8,16", "m = 8, 16; n = 8, 16", "m=8,16 n=8,16", "m = 8, 16 n = 8, 16"):
        assert read_sizes(text) == {"m": (8, 16), "n": (8, 16)}, text
    assert read_sizes(sizes_text({"m": (8, 16), "n": (5,)})) == {"m": (8, 16), "n": (5,)}
    assert by_point({"m": (8, 16), "n": (5,)}) == [{"m": 8, "n": 5}, {"m": 16, "n": 5}]
    for text in ("", "n", "n=1.5", "n=1,2;m=1,2,3"):
        with pytest.raises(ValueError, match=r"expected|another number"):
            read_sizes(text)
