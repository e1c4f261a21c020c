"""A quantity without numbers says what is missing and how to get it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    table = tmp_path / "t.csv"
    table.write_text("threads,time [s]\n1,4.4\n2,2.5\n4,1.9\n6,1.5\n8,1.2\n")
    return table


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("breakdown", "accounting of processor time"),
        ("overheads", "accounting by cause"),
        ("pop", "busy"),
        ("lines", "collect"),
        ("isoefficiency", "on two or more processor counts"),
        ("what-if", "need a program that ScaleGraph can run"),  # no option of this command runs it
    ],
)
def test_quantities_that_measurements_lack_say_what_they_need(call: Any, measured: Path, name: str, words: str) -> None:
    code, out, err = call("analyze", measured, "--what", name)
    assert (code, out) == (1, "")
    assert "nothing to show: " in err
    assert words in err
    code, out, _ = call("analyze", measured, "--what", name, "--json")
    assert code == 1
    assert json.loads(out)["what"] == name


def test_numbers_that_are_there_are_shown(call: Any, measured: Path) -> None:
    assert "1.760" in call("analyze", measured, "--what", "speedup")[1]


def test_measurements_without_processors_say_so(call: Any, tmp_path: Path) -> None:
    table, made = tmp_path / "t.csv", tmp_path / "t.sgstudy"
    table.write_text("x,time [s]\n10,1.0\n20,2.1\n40,4.0\n80,8.2\n160,16\n")
    assert call("import", table, "--column", "x=parameter", "-o", made)[0] == 1  # stored, without runs
    assert "which parameter counts processors" in call("analyze", made, "--what", "speedup")[2]
    assert "which parameter counts processors" in call("matrix", made)[2]


def test_one_size_gives_no_matrix_and_no_request_is_asked_for(call: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("threads,n,time [s]\n1,1,4.4\n2,2,4.5\n4,4,4.7\n")
    err = call("matrix", table)[2]
    assert "several problem sizes" in err
    assert "request" not in err


def test_no_size_is_advised_where_it_only_follows_the_processors(call: Any, tmp_path: Path) -> None:
    table, made = tmp_path / "t.csv", tmp_path / "t.sgstudy"
    rows = [f"{p},{200 + 150 * p**0.3}" for p in (1, 2, 4, 8, 16, 32, 64, 128)]
    table.write_text("ranks,time [s]\n" + "\n".join(rows) + "\n")
    assert call("import", table, "--scaling", "weak", "-o", made)[0] == 0
    code, _, err = call("advise", made)
    assert (code, "no advice yet" in err) == (1, True)


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """Return a table with a single run: nothing scales."""
    table = tmp_path / "alone.csv"
    table.write_text("threads,time [s]\n4,1.5\n")
    return table


@pytest.mark.parametrize(
    "words",
    [
        ("export", "--view", "speedup"),
        ("export", "--view", "matrix"),
        ("analyze", "--what", "laws"),
        ("matrix",),
        ("report",),
        ("report", "--views", "matrix"),
        ("compare",),
    ],
)
@pytest.mark.parametrize("ending", [".png", ".csv", ".html"])
def test_what_computes_nothing_fails_with_what_is_missing_and_writes_nothing(
    call: Any, alone: Path, words: tuple[str, ...], ending: str
) -> None:
    if (ending == ".html") != (words[0] == "report") or (words[0] == "analyze" and ending == ".png"):
        return
    target = alone.with_name(f"out{ending}")
    inputs = (alone, alone) if words[0] == "compare" else (alone,)
    code, out, err = call(words[0], *inputs, *words[1:], "-o", target)
    assert code in (1, 2)
    assert out == ""
    assert any(word in err for word in ("need", "nothing to report", "no efficiency is met", "have no speedup")), err
    assert "alone" in err
    assert not target.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("analyze", "--what", "speedup"),
        ("analyze", "--what", "laws", "--json"),
        ("matrix",),
        ("export", "--view", "speedup", "-o", "out.csv"),
        ("report", "-o", "out.html"),
        ("compare",),
        ("import", "-o", "out.sgstudy"),
        ("advise",),
    ],
)
def test_an_open_question_is_no_success(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = Path("asked.csv")
    table.write_text("threads,ranks,time\n1,2,8\n2,3,4\n4,7,2\n")  # which processors, which unit?
    inputs = (table, table) if words[0] == "compare" else (table,)
    code, out, err = call(words[0], *inputs, *words[1:])
    assert (code, out) == (2, "")
    assert "; say --" in err
    assert [path.name for path in tmp_path.iterdir()] == ["asked.csv"]


def test_a_view_of_a_trace_without_anything_is_not_written(call: Any, root: Path, tmp_path: Path) -> None:
    target = tmp_path / "c.png"
    code, out, err = call("export", root / "traces/ring.trf", "--view", "counters", "-o", target)
    assert (code, out, target.exists()) == (1, "", False)
    assert "nothing to show: This trace has no counters" in err
