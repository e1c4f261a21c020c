"""Traces of what-if runs and repetitions, if a request asks for them: they are as exact as those of actual runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.run import RunRecord
from scalegraph.request import Request, Session
from scalegraph.traces import checking
from scalegraph.traces.reading import read
from tests.request.test_traced_paths import followed
from tests.request.test_traced_programs import agrees

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

VALUES: dict[str, Any] = {
    "program": {"name": "ge2"},
    "parameters": {"n": 28},
    "processors": [4],
    "reference": False,
    "repetitions": 2,
    "what_if": [{"ideal": ["contention"]}, {"ideal": ["network", "cache", "sync"]}, {"ideal": ["balance"]}],
}


def test_what_if_runs_and_repetitions_are_traced_where_asked_for(tmp_path: Path) -> None:
    request = Request.model_validate({**VALUES, "trace": {"runs": "all", "interval": "700 cycles"}})
    session = Session()
    with session.submit(request, tmp_path / "a.sgstudy") as study:
        records: dict[str, RunRecord] = {one.point.key: one for one in (*study.runs(), *study.variants())}
        traced = {records[run.key].point.label(): (records[run.key], run.path) for run in session.traces(study)}
    balanced = [one for one in records.values() if "balance" in one.point.variant.ideal]
    assert balanced
    assert not any(one.trace for one in balanced), "it is computed from a run"
    assert len(traced) == len(records) - len(balanced)
    for record, path in traced.values():
        with read(path) as trace:
            report = checking.check(trace)
            assert report.holds, [one.sentence() for one in report.violations]
            agrees(record, trace)
            followed(record, trace)
    files = sorted(path.name.removesuffix(f"-{record.point.key}.sgtrace") for record, path in traced.values())
    assert files[0] == "4"
    assert "4-no-contention" in files
    with Session().submit(Request.model_validate(VALUES), None) as study:
        plain = {one.point.key: one for one in (*study.runs(), *study.variants())}
    ignored = {"host_s", "host_cpu_s", "trace", "stdout", "stderr"}
    for key, record in records.items():
        assert record.model_dump(exclude=ignored) == plain[key].model_dump(exclude=ignored)
