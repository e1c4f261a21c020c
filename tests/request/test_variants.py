"""What-if runs in requests: planned, run once, kept apart, refused with their places; nothing is really run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalegraph.analyze import whatif
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError
from scalegraph.base.run import RunPoint, Variant
from scalegraph.link import Job
from scalegraph.request import Request, Session
from scalegraph.request.planning import checking
from scalegraph.request.results.quantities import compute
from scalegraph.store import Study

Requests = Callable[..., Request]
CACHE = {"ideal": ["cache"]}


def faster(point: RunPoint) -> float:
    """Return the times of a program of 8 s that loses a second per processor to its caches, half of it at 40 MHz."""
    lost = 0.0 if "cache" in point.variant.ideal else 1.0
    if point.variant.machine:
        lost /= 2
    if point.variant.speedup:
        lost /= 4
    return 8.0 / point.processors + lost


def test_actual_and_what_if_runs_stand_apart(link: Any, request_of: Requests, tmp_path: Path) -> None:
    target = link(faster)
    path = tmp_path / "a.sgstudy"
    request = request_of(what_if=[{**CACHE, "processors": [4, 8]}, {"machine": {"processor.clock_mhz": 40}}])
    with Session(link=target).submit(request, path) as study:
        assert sorted(run.point.processors for run in study.runs()) == [1, 2, 4, 8]
        found = sorted((run.point.variant.label(), run.point.processors) for run in study.variants())
        assert len(study) == 4 + 2 + 4
        assert len(study.table()) == 4
    assert found[:2] == [("infinite caches", 4), ("infinite caches", 8)]
    assert {label for label, _ in found[2:]} == {"processor.clock_mhz = 40"}
    data = Session().study_data(path)
    rows = whatif.compared(data.runs, data.variants)
    eight = next(row for row in rows if row.processors == 8 and row.variant.ideal)
    assert (eight.actual_s, eight.time_s, eight.closed_s, eight.gain) == (2.0, 1.0, 1.0, 2.0)
    assert eight.speedup == 9.0
    assert [row.variant.ideal for row in whatif.gaps(rows, 8)] == [("cache",)]
    table = compute(data, "what-if", 8)
    assert list(table["what_if"]) == ["infinite caches", "processor.clock_mhz = 40"]
    assert len(compute(data, "runs")) == 4


def test_the_changed_machine_reaches_the_link(link: Any, request_of: Requests) -> None:
    seen: dict[str, float] = {}

    class Seeing(link):  # type: ignore[misc]
        def run(self, job: Job, cancel: CancelToken | None = None) -> Any:
            seen[job.point.variant.label()] = job.machine.processor.clock_mhz
            return super().run(job, cancel)

    request = request_of(processors=[1], what_if=[{"machine": {"processor.clock_mhz": 40}}, CACHE])
    Session(link=Seeing()).submit(request, None).close()
    assert seen == {"actual": 20.0, "processor.clock_mhz = 40": 40.0, "infinite caches": 20.0}


@pytest.mark.slow
def test_what_the_study_has_is_not_run_again(link: Any, request_of: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    Session(link=link()).submit(request_of(what_if=[CACHE]), path).close()
    again = link()
    Session(link=again).submit(request_of(what_if=[CACHE, {"ideal": ["sync"]}]), path).close()
    assert {point.variant.ideal for point in again.points} == {("sync",)}


def test_the_plan_counts_what_if_runs(request_of: Requests, tmp_path: Path) -> None:
    request = request_of(what_if=[CACHE, {"speedup": {"line:p.c:1": "inf"}, "processors": [8]}])
    plan = Session().plan(request)
    assert len(plan.points) == 4 + 4 + 1
    assert plan.runs_at_most == 9
    searched = request_of(bound=[{"kind": "efficiency", "value": 0.5}], scaling={"grow": {"n": "N"}}, what_if=[CACHE])
    assert any("sizes that the searches find" in note for note in Session().plan(searched).notes)


def test_sizes_that_searches_found_are_varied(link: Any, request_of: Requests) -> None:
    request = request_of(
        processors=[1, 4],
        bound=[{"kind": "efficiency", "value": 0.5, "tolerance": 0.05}],
        scaling={"grow": {"n": "N"}},
        what_if=[{**CACHE, "processors": [4]}],
    )
    with Session(link=link()).submit(request, None) as study:
        found = next(item for item in study.facts("searches") if item["processors"] == 4)
        assert found["met"]
        assert [run.point.parameters for run in study.variants()] == [found["parameters"]]


def test_a_request_reads_back_from_its_file(request_of: Requests, tmp_path: Path) -> None:
    request = request_of(
        what_if=[{"ideal": ["balance", "cache"], "speedup": {"line:p.c:1": 2, "lock:m": "inf"}, "processors": [8]}],
        speedups={"lines": 3, "factors": [1.5, "inf"]},
    )
    path = tmp_path / "r.toml"
    path.write_text(request.to_toml())
    read = checking.load_request(path)
    assert read.what_if == request.what_if
    assert read.what_if[0].variant == Variant(ideal=("cache", "balance"), speedup={"line:p.c:1": "2", "lock:m": "inf"})
    assert read.speedups == request.speedups


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[what_if]]\n", "something different was expected"),
        ('[[what_if]]\nideal = ["chache"]\n', "ideal"),
        ('[[what_if]]\nspeedup = { "line:p.c:1" = 0 }\n', "expected a factor"),
        ('[[what_if]]\nspeedup = { "p.c:1" = 2 }\n', "expected line, region"),
        ('[[what_if]]\nmachine = { "network.hops" = 2 }\n', "hop"),
        ('[[what_if]]\nmachine = { "processor.count" = 2 }\n', "the changed machine has 1 to 2"),
        ('[[what_if]]\nideal = ["sync"]\nprocessors = [5]\n', "5: not among the processor counts"),
        ("[speedups]\nlines = 2\nprocessors = [3]\n", "3: not among the processor counts"),
        ('[speedups]\nlines = 2\nfactors = ["x"]\n', "expected a factor"),
    ],
)
def test_faults_are_said_with_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.c").write_text("int main(void) { return 0; }\n")
    path = tmp_path / "r.toml"
    path.write_text(f'processors = [1, 4]\n[program]\nsources = ["p.c"]\n{text}')
    with pytest.raises(InputError, match=said) as caught:
        checking.load_request(path)
    assert all(fault.file.endswith("r.toml") for fault in caught.value.faults)
    assert min(fault.line or 0 for fault in caught.value.faults) >= 4


def test_keys_of_actual_points_are_as_before() -> None:
    assert RunPoint(processors=8, parameters={"n": 3}).key == "2b2b6e542e0b036f"  # in studies on disk
    point = RunPoint(processors=8, variant=Variant(ideal=("sync", "cache", "sync")))
    assert point.variant.ideal == ("cache", "sync")
    assert point.key != point.actual().key
    assert point.actual() == RunPoint(processors=8)
    assert point.label() == "N = 8, infinite caches, free synchronisation"


def test_a_study_of_the_format_before_is_read(link: Any, request_of: Requests, tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "a.sgstudy"
    Session(link=link()).submit(request_of(processors=[1]), path).close()
    raw = sqlite3.connect(path)
    raw.execute("DROP TABLE measurements")  # format 1 did not have this table
    raw.execute("PRAGMA user_version = 1")
    raw.commit()
    raw.close()
    with Study.open(path) as study:
        assert len(study.runs()) == 1
        assert study.variants() == []
