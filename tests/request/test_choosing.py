"""The answer in sentences: the point, its cost, what limits it, how certain that is."""

from collections.abc import Sequence
from typing import Any

import pytest

from scalegraph.analyze.choosing.choice import Wishes
from scalegraph.base.errors import InputError
from scalegraph.base.points import RunPoint
from scalegraph.base.run import RunRecord
from scalegraph.request import Session
from scalegraph.request.results import selecting
from scalegraph.store import Manifest, Study
from scalegraph.subjects import choosing, space

A = {"machine": "xeon-6126", "threads_per_process": "2", "schedule": "static"}
B = {"machine": "ksr1", "threads_per_process": "1", "schedule": "dynamic"}


def record(n: int, time_s: float, setting: dict[str, str], **more: Any) -> RunRecord:
    threads = min(n, int(setting.get("threads_per_process", "1")))
    values: dict[str, Any] = {"source": "simulated", "program": "p", "machine": setting.get("machine", "m")}
    point = {name: more.pop(name) for name in ("repetition", "parameters", "target") if name in more}
    return RunRecord(
        point=RunPoint(processors=n, setting=setting, **point),
        time_s=time_s,
        processes=n // threads,
        threads_per_process=threads,
        **(values | more),
    )


def study(*parts: tuple[dict[str, str], Sequence[RunRecord]], asked: Sequence[int] = ()) -> Study:
    made = Study.memory(Manifest.new(title="t", program="p", machine="xeon-6126"))
    for setting, runs in parts:
        there = made.add_member(setting, Manifest.new(title="t", program="p", machine=setting.get("machine", "m")))
        there.add_runs(runs)
        if asked:
            there.set_facts("asked", list(asked))
    return made


SPACE = study(
    (A, [record(1, 16.0, A), record(4, 5.0, A), record(8, 3.5, A)]),
    (B, [record(1, 24.0, B), record(8, 3.25, B), record(16, 2.5, B), record(32, 9.9, B, status="crashed")]),
    asked=(4, 8, 16, 32),
)


def test_the_sentence_names_point_costs_reason_and_certainty() -> None:
    found = choosing.answer(Session().study_data(SPACE), Wishes("core_hours", within=1.4))
    made = found.document()
    names = ("machine", "processors", "processes", "threads_per_process", "schedule", "time_s")
    assert [made["choice"][name] for name in names] == ["ksr1", 8, 8, 1, "dynamic", 3.25]
    assert made["choice"]["core_hours"] == pytest.approx(26 / 3600)
    assert made["choice"]["efficiency"] == pytest.approx(24 / 26)
    assert [(one["machine"], one["processors"]) for one in made["frontier"]] == [
        ("ksr1", 16),
        ("ksr1", 8),
        ("xeon-6126", 4),
    ]
    assert made["sentence"].startswith(
        "Take ksr1, N = 8 (8 processes of 1 thread), schedule dynamic: 3.25 s, 0.00722 core-hours. "
        "It is the one that needs the fewest core-hours of the 3 of 4 points that are allowed, "
        "within 1.40 times the fastest time, 2.50 s (ksr1, N = 16"
    )
    assert (
        "next best, xeon-6126, N = 8 (4 processes of 2 threads), schedule static, needs 7.7\N{NO-BREAK SPACE}% more."
        in found.sentence
    )
    assert made["remarks"] == ["1 run that failed is not compared"]


def test_one_processor_that_was_run_for_the_sake_of_the_others_is_no_choice() -> None:
    data = Session().study_data(SPACE)
    assert choosing.answer(data, Wishes("core_hours")).choice.point.processors == 4  # not 1, which nobody asked for


def test_what_is_selected_is_all_that_is_compared() -> None:
    part = selecting.only(SPACE, {"machine": "xeon-6126"})
    found = choosing.answer(Session().study_data(part), Wishes())
    assert (found.choice.point.machine, len(found.choice.points)) == ("xeon-6126", 2)
    with pytest.raises(InputError, match="has no power data"):
        choosing.answer(Session().study_data(SPACE), Wishes("energy"))


def test_measured_points_whose_intervals_overlap_are_said_to_be_equal() -> None:
    times = {"static": (1.00, 1.02, 1.05, 0.98, 1.01, 1.03), "dynamic": (1.01, 1.00, 1.04, 1.02, 0.99, 1.03)}
    parts = []
    for name, values in times.items():
        setting = {"schedule": name}
        runs = [
            record(2, value, setting, repetition=at, target="host", source="measured")
            for at, value in enumerate(values)
        ]
        parts.append((setting, runs))
    found = choosing.answer(Session().study_data(study(*parts)), Wishes())
    assert "Measured 6 times, its median between 980 ms and 1.05 s" in found.certainty
    assert "is as good as that spread can tell" in found.certainty


def test_times_of_one_size_are_compared() -> None:
    setting = {"machine": "ksr1"}
    runs = [record(n, t, setting, parameters={"n": size}) for size, n, t in ((1, 2, 0.1), (2, 2, 3.0), (2, 4, 2.0))]
    data = Session().study_data(study((setting, runs)))
    found = choosing.answer(data, Wishes())
    assert (found.choice.point.time_s, found.remarks[0]) == (
        2.0,
        "the study has 2 sizes, and times of one size compare: n = 2; --select n=.. takes another",
    )
    assert choosing.answer(data, Wishes(), {"n": "1"}).choice.point.time_s == 0.1
    with pytest.raises(InputError, match="the study has n = 1, 2"):
        choosing.answer(data, Wishes(), {"n": "7"})


def test_nothing_that_ended_well_is_said() -> None:
    setting = {"machine": "ksr1"}
    data = Session().study_data(study((setting, [record(2, 1.0, setting, status="crashed")])))
    with pytest.raises(InputError, match="no run of the study ended well and has a time: 1 run failed"):
        choosing.answer(data, Wishes())


def test_the_quick_reference_is_that_of_the_table() -> None:
    """The efficiency of a point equals the one in the scaling table of its choice."""
    data = Session().study_data(SPACE)
    for part in data.choices:
        quick = space._one_processor(part)
        table = {str(row["keys"]): row["t_seq_s"] for row in part.scaling.to_dict("records")}
        assert quick == table
