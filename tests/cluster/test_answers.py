"""Only the record of the requested run is accepted from a worker, whatever it sends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import RunError
from scalegraph.base.events import Event, RunFailed
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.link import Build, Job, Simulated
from scalegraph.link.cluster import answers, frames
from scalegraph.machine import Machine
from scalegraph.request import Session
from scalegraph.store import Study

pytestmark = pytest.mark.compiler


@pytest.fixture(scope="module")
def job(sums: Build, ksr1: Machine) -> Job:
    return Job(sums, ksr1, RunPoint(processors=2, parameters={"n": 20}), ("20",))


@pytest.fixture(scope="module")
def honest(job: Job) -> dict[str, Any]:
    text = Simulated().run(job).model_dump_json(exclude_defaults=True, by_alias=True)
    return dict(json.loads(text))


def answer(record: object, *more: bytes, **head: Any) -> bytes:
    return frames.pack({"host": "node", **head}, json.dumps(record).encode(), *more)


@pytest.mark.slow
def test_an_honest_answer_is_accepted(job: Job, honest: dict[str, Any]) -> None:
    assert answers.accepted(answer(honest), job).ok


@pytest.mark.slow
def test_a_trace_that_nobody_wanted_is_dropped(job: Job, honest: dict[str, Any]) -> None:
    sent = honest | {"trace": {"path": "/etc/passwd", "bytes": 5}}
    assert answers.accepted(answer(sent, b"trace"), job).trace is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"point": {"processors": 1}}, "its run is N = 1; N = 2, n = 20 was expected"),
        ({"point": {"processors": 2, "parameters": {"n": "20"}}}, "its run is .* was expected"),
        ({"program": "another"}, "its program is another; sums was expected"),
        ({"machine": "dash"}, "its machine is dash"),
        ({"source": "measured"}, "its source is measured"),
        ({"clock_hz": 1e9}, "its clock is"),
        ({"processes": 2}, "its number of processes is 2; 0 was expected"),
        ({"status": "cancelled"}, "it was stopped there"),
        ({"time_cycles": 7}, "its time is"),
        ({"time_s": None}, "negative or incomplete"),
        ({"time_cycles": -5, "time_s": -1.0}, "negative"),
        ({"leaves": {"busy_imt": 1}}, "unknown category 'busy_imt'; did you mean 'busy_int'"),
        ({"leaves": {"busy_int": -1}}, "negative cycles or counts"),
        ({"leaves": {"busy_int": 1}}, "not the sums over its processors"),
        ({"processor_leaves": {"busy_int": [1]}}, "is known on 1 of 2 processors"),
        ({"processor_leaves": {"busy_int": [1, 1]}}, "add up to 1 cycles"),
        ({"regions": [{"region": 4711}]}, "region 4711, which the program does not have"),
        ({"time_s": "NaN"}, "time_s"),
        ({"status": "splendid"}, "status"),
        ({"unheard": 1}, "unheard: Extra inputs"),
    ],
)
def test_a_record_that_cannot_be_of_this_run_is_refused(
    changes: dict[str, Any], sentence: str, job: Job, honest: dict[str, Any]
) -> None:
    with pytest.raises(RunError, match=sentence):
        answers.accepted(answer(honest | changes), job)


@pytest.mark.parametrize(
    "data",
    [
        None,
        {"status": "ok"},
        "text",
        b"",
        b"\x80\x04\x95",  # how a pickle begins
        frames.pack({"host": "node"}),
        frames.pack({"host": "node"}, b"{}", b"", b""),
        frames.pack({"host": "node"}, b"[" * 100_000),
        frames.pack({"host": ["x"] * 10_000}, b"null"),
    ],
)
def test_what_is_no_answer_is_refused_in_a_short_sentence(data: object, job: Job) -> None:
    with pytest.raises(RunError) as found:
        answers.accepted(data, job)
    assert len(str(found.value)) < 1000


def test_a_refusal_is_passed_on_and_cut(job: Job) -> None:
    with pytest.raises(RunError) as found:
        answers.accepted(answers.refused("node", "no " * 10_000), job)
    assert len(str(found.value)) < 2100
    with pytest.raises(RunError, match="did not say why"):
        answers.accepted(answers.refused("node", ""), job)


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damage=st.data())
def test_a_damaged_answer_is_the_record_or_a_sentence(damage: st.DataObject, job: Job, honest: dict[str, Any]) -> None:
    data = bytearray(answer(honest))
    for _ in range(damage.draw(st.integers(1, 4))):
        data[damage.draw(st.integers(0, len(data) - 1))] = damage.draw(st.integers(0, 255))
    try:
        record = answers.accepted(bytes(data), job)
    except RunError:
        return
    assert record.point == job.point


@pytest.mark.slow
def test_a_worker_that_lies_leaves_a_study_that_can_be_read(job: Job, honest: dict[str, Any], tmp_path: Path) -> None:
    """Each size gets a different false answer; the true answers among them are kept."""
    lies: dict[int, Callable[[dict[str, Any]], object]] = {
        1: lambda record: record | {"leaves": {"nonsense": 2}},
        2: lambda record: record,
        4: lambda record: record | {"point": honest["point"]},
        8: lambda _record: "nothing",
    }

    class Liar:
        def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
            record = Simulated().run(job, cancel).model_dump(mode="json", by_alias=True, exclude_defaults=True)
            return answers.accepted(answer(lies[job.point.processors](record)), job)

    (tmp_path / "sums.c").write_text(job.build.sources[0].text)
    events: list[Event] = []
    with Session(link=Liar()).simulate(
        [tmp_path / "sums.c"],
        machine="ksr1",
        processors=(1, 2, 4, 8),
        study_path=tmp_path / "s.sgstudy",
        emit=events.append,
    ):
        pass
    with Study.open(tmp_path / "s.sgstudy") as study:
        assert [record.point.processors for record in study.runs(output=True)] == [2]
    assert sorted(event.point.processors for event in events if isinstance(event, RunFailed)) == [1, 4, 8]
