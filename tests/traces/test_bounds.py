"""A reference to a missing definition, or a number too large to be summed, is reported even in an undamaged file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scalegraph.base.errors import InputError
from scalegraph.cli.main import run
from scalegraph.traces.bounds import limits, references
from scalegraph.traces.container import write_container
from scalegraph.traces.kinds import KINDS, Columns
from scalegraph.traces.model import MemoryPart, Trace
from scalegraph.traces.reading import read
from tests.traces.made import small

COLUMNS = [(kind, name) for kind in KINDS for name in limits(kind, small().definitions)]


def changed(kind: str, name: str, value: int, path: Path) -> Path:
    """Write the small trace to *path* with *value* in the last row of a column."""
    trace = small()
    columns: Columns = {each: np.array(values) for each, values in trace.columns(kind).items()}
    columns[name][-1] = value
    write_container(Trace(trace.definitions, trace.meta, {**trace.parts, kind: (MemoryPart(kind, columns),)}), path)
    return path


@pytest.mark.parametrize(("kind", "name"), COLUMNS, ids=[f"{kind}-{name}" for kind, name in COLUMNS])
def test_a_number_that_cannot_be_is_a_sentence(kind: str, name: str, tmp_path: Path) -> None:
    least, most, _ = limits(kind, small().definitions)[name]
    last = small().count(kind) - 1
    for value in (least - 1, most + 1):
        path = changed(kind, name, value, tmp_path / "t.sgtrace")
        with read(path) as trace, pytest.raises(InputError) as refused:
            trace.columns(kind)
        assert str(refused.value) == (
            f"{path}: {kind}: row {last} has {name} {value}; a number from {least} to {most} was expected"
        )
        with read(path, partial=True) as trace:
            assert trace.count(kind) == last
            assert trace.meta.damage == [str(refused.value)]
    for value in (least, most):
        with read(changed(kind, name, value, tmp_path / "t.sgtrace")) as trace:
            assert trace.columns(kind)[name][-1] == value


def test_the_check_names_the_rule_and_the_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = changed("shares", "region", 1000, tmp_path / "t.sgtrace")
    assert run(["trace", "check", str(path)]) == 1
    assert "row 3 of 'thread 1' at tick 5 refers to a definition that is not there" in capsys.readouterr().out
    assert run(["analyze", str(path), "--what", "accounts"]) == 2
    assert "t.sgtrace: shares: row 3 has region 1000; a number from -1 to 2 was expected" in capsys.readouterr().err


@pytest.mark.parametrize("line", [-1, 2**31, 2**64])
def test_a_line_that_no_file_has_is_a_sentence(line: int, tmp_path: Path) -> None:
    trace = small()
    trace.definitions.regions[1] = replace(trace.definitions.regions[1], line=line)
    path = tmp_path / "t.sgtrace"
    write_container(trace, path)
    with pytest.raises(InputError, match=f"region 'solve' is at line {line}; a number from 0 to 2147483647"):
        read(path)
    with read(path, partial=True) as found:
        assert found.definitions.regions[1].line == 0
        assert "is at line" in found.meta.damage[0]


def test_every_number_of_a_definition_has_limits() -> None:
    for kind, spec in KINDS.items():
        assert set(references(kind, small().definitions)) == {*spec.whose, *(spec.refers or {})}
