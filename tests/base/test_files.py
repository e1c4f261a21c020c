import os
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError, WorkError
from scalegraph.base.files import write_atomic
from scalegraph.runtime.results import write_config


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "file.txt"
    write_atomic(target, "old")
    write_atomic(target, b"new")
    assert target.read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["file.txt"]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is not a directory"):
        write_atomic(tmp_path / "file" / "below", "x")


def test_no_directory_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no directory"):
        write_atomic(tmp_path / "deep" / "file.txt", "x")
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_never_replaced_by_a_file() -> None:
    with pytest.raises(WorkError, match="is not a regular file"):
        write_atomic(Path("/dev/null"), "x")
    assert Path("/dev/null").is_char_device()


def test_only_what_is_kept_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    write_atomic(tmp_path / "kept", "x")
    assert len(synced) == 1
    write_config(tmp_path / "config", {"run.processors": "4"})  # every run has one, for a moment
    assert len(synced) == 1
