"""Notes on a study's runs: failed runs are kept apart from remarks on successful ones."""

from dataclasses import replace

import pytest

from scalegraph.views import common
from tests.views import studies

pytestmark = pytest.mark.slow


def test_remarks_on_successful_runs_are_no_notes_on_failures() -> None:
    data = studies.full()
    runs = tuple(run.model_copy(update={"warnings": ("two threads were idle",)}) for run in data.runs if run.ok)
    remarked = replace(data, runs=runs)
    assert not remarked.failed
    assert common.failure_notes(remarked) == ()
    assert any("two threads were idle" in note for note in common.run_notes(remarked))
    failed = replace(data, runs=(runs[0].model_copy(update={"status": "failed", "message": "no memory"}), *runs[1:]))
    (note,) = common.failure_notes(failed)
    assert "no memory" in note
    assert common.run_notes(failed)[0] == note
