"""Files become studies: any bytes give a study or an error sentence; a mapping can be changed."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, InputError
from scalegraph.measurements.table import TableChoices
from scalegraph.request.imports import sets as imports
from scalegraph.request.results.data import study_data


@pytest.fixture
def hybrid(tmp_path: Path) -> Path:
    path = tmp_path / "hybrid.csv"
    rows = [f"{ranks},{threads},{64 / ranks / threads}" for ranks in (1, 2, 4) for threads in (1, 8)]
    path.write_text("\n".join(["ranks,threads,time [s]", *rows]) + "\n")
    return path


@pytest.mark.slow
def test_a_study_gets_runs_set_and_mapping(hybrid: Path) -> None:
    measured = imports.read_set([hybrid])
    guess = imports.answered(measured, {"processors": "ranks*threads"})
    with imports.study_of(guess.measured, guess.mapping) as study:
        data = study_data(study)
    assert sorted(data.table["processors"]) == [1, 2, 4, 8, 16, 32]
    assert data.measured is guess.measured
    assert data.meaning == guess.mapping
    assert data.scaling["efficiency"].tolist() == pytest.approx([1] * 6)


def test_a_mapping_that_is_changed_makes_other_runs(hybrid: Path) -> None:
    with imports.opened([hybrid], said={"processors": "ranks"}) as study:
        measured, mapping = study.measurements(), study.mapping()
        assert measured is not None
        assert mapping is not None
        with imports.study_of(measured, mapping.model_copy(update={"unit": "ms"})) as other:
            assert [run.time_s for run in other.runs()] == pytest.approx([run.time_s / 1e3 for run in study.runs()])


def test_choices_for_tables_are_refused_for_what_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("PARAMETER p\nPOINTS 1 2 4\nREGION a\nMETRIC time\nDATA 8\nDATA 4\nDATA 2\n")
    with pytest.raises(InputError, match="--format table if it is"):
        imports.read_set([path], choices=TableChoices(decimal=","))


def test_reading_several_files_can_be_stopped(hybrid: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        imports.read_set([hybrid, hybrid], cancel=token)


_CELL = st.one_of(
    st.sampled_from(["", "1", "2.5", "x", '"', "-1", "1e999", "nan", "\r", "\0", "9" * 400, "\x85", "ok"]),
    st.text(max_size=3),
)
_HEADERS = ("processors,time_s", "processors,time_s,param.n,status", "processors,time_s,leaf.busy_int,memory_bytes")


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.sampled_from(_HEADERS),
    st.lists(st.lists(_CELL, max_size=5).map(",".join), max_size=5),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.binary(max_size=3),
)
def test_any_table_of_runs_is_a_study_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, header: str, rows: list[str], end: str, tail: bytes
) -> None:
    path = tmp_path_factory.mktemp("r") / "a.csv"
    path.write_bytes(end.join([header, *rows]).encode("utf-8", "surrogatepass") + tail)
    with contextlib.suppress(InputError):
        imports.opened([path]).close()
