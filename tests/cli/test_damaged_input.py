"""Unreadable files are rejected with the reason wherever INPUT is accepted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

FILES = {
    "cut.json": (b'{"parameters": ["p"],\n "measurements": ', "cut.json:2"),
    "other.json": (b'{"a": ', "other.json:1: is not complete JSON"),
    "empty.json": (b"", "is empty"),
    "deep.json": (b"[" * 200_000, "is no"),
    "cut.cubex": (b"PK\x03\x04", "is not a complete Cube4 profile"),
    "cut.extra-p": (b"abc", "is not a complete Extra-P experiment"),
    "huge.csv": (b"p,time_s\n1,1e300\n2,5e299\n", "huge.csv:2: holds no measured value"),
}


def test_numbers_that_no_product_could_hold_are_left_out_with_a_word(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "ops.csv"
    path.write_text("p,time_s,ops\n1,2,1e300\n2,1,1e300\n")
    code, out, err = call("import", path, "-o", tmp_path / "s.sgstudy")
    assert (code, err) == (0, "")
    assert "skipped: cells (2): out of range; 0 or a number from 1e-150 to 1e150 was expected, first at" in out


@pytest.mark.parametrize("name", FILES)
def test_damage_is_named(call: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content, words = FILES[name]
    path.write_bytes(content)
    for command in (("import", path, "-o", tmp_path / "s.sgstudy"), ("analyze", path, "--what", "laws")):
        code, _, err = call(*command)
        assert code == 2, err
        assert words in err
    assert not (tmp_path / "s.sgstudy").exists()


def test_a_pipe_is_refused_and_not_waited_for(call: Any, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    code, _, err = call("analyze", pipe, "--what", "laws")
    assert (code, "neither a file nor a directory" in err) == (2, True)


@pytest.mark.slow
def test_counts_that_are_none_are_spoken_of(call: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("p,time_s\n1.5,2\n2,3\n4,2\n")
    assert "p is not a whole number of 1 or more" in call("import", table, "-o", tmp_path / "s.sgstudy")[1]
