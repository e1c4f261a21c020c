"""Temporary directories, and what becomes of those of processes that were killed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from scalegraph.base.workplaces import workplace

NO_PROCESS = 4194305  # more than the largest number that Linux gives


def test_a_directory_lives_as_long_as_it_is_used(tmp_path: Path) -> None:
    with workplace(".kind", tmp_path) as place:
        (place / "file").write_text("1")
        assert place.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("shared", "host"), [(False, ""), (True, f"{socket.gethostname()}-")])
def test_directories_of_processes_that_are_gone_are_removed_and_no_others(
    tmp_path: Path, shared: bool, host: str
) -> None:
    gone, mine, other = (
        f".kind-{host}{NO_PROCESS}-dead",
        f".kind-{host}{os.getpid()}-mine",
        f".other-{host}{NO_PROCESS}-a",
    )
    elsewhere = f".kind-another.host-{NO_PROCESS}-dead"  # whose processes are not known here
    for name in (gone, mine, other, elsewhere):
        (tmp_path / name / "within").mkdir(parents=True)
    with workplace(".kind", tmp_path, shared=shared):
        assert not (tmp_path / gone).exists()
    assert {path.name for path in tmp_path.iterdir()} == {mine, other, elsewhere}


def test_a_place_that_cannot_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"), workplace(".kind", tmp_path / "nowhere"):
        pass
