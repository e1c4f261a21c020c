"""Importing measurements on the command line: safe guesses are made, others asked for, nothing overwritten."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from scalegraph.store import Study


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "wide.csv"
    path.write_text("size;1;2;4;8\n100;4,0;2,1;1,2;0,8\n200;8,0;4,1;2,2;\n")
    return path


@pytest.mark.slow
def test_a_table_becomes_a_study_with_its_set_and_mapping(call: Any, wide: Path, tmp_path: Path) -> None:
    target = tmp_path / "wide.sgstudy"
    code, out, err = call("import", wide, "--unit", "ms")
    assert (code, err) == (0, "")
    assert f"7 runs in {target}" in out
    assert "note: numbers have decimal commas" in out
    assert f"skipped: cells (1): empty, first at {wide}:3" in out
    with Study.open(target) as study:
        assert len(study) == 7
        measured, mapping = study.measurements(), study.mapping()
        assert measured is not None
        assert mapping is not None
        assert len(measured.values) == 7
        assert (mapping.processors, mapping.unit, mapping.scaling) == ("processors", "ms", "strong")
    rows = json.loads(call("analyze", target, "--what", "speedup", "--json")[1])["rows"]
    assert rows[3]["speedup"] == pytest.approx(5)
    assert "exists already" in call("import", wide, "--unit", "ms")[2]


@pytest.mark.slow
def test_questions_name_the_options_that_answer_them(call: Any, wide: Path) -> None:
    code, _, err = call("import", wide)
    assert code == 2
    assert f"{wide}: 'time' has no unit; say --unit s" in err
    assert not wide.with_suffix(".sgstudy").exists()
    code, _, err = call("matrix", wide)
    assert code == 2
    assert "--unit s" in err
    assert f"to take every guess here: --mapping unit=s; `scalegraph import {wide} ..` keeps the answers" in err
    assert call("matrix", wide, "--mapping", "unit=s", "--efficiency", "0.9", "--json")[0] == 0
    assert "KEY one of processors, time, unit, clock" in call("matrix", wide, "--mapping", "units=s")[2]
    assert "one of strong, weak was expected" in call("matrix", wide, "--mapping", "scaling=big")[2]


@pytest.mark.slow
def test_input_of_other_commands_may_be_measurements(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,n,time [s]\n" + "".join(f"{p},{n},{n / p + p / 9}\n" for p in (1, 2, 4) for n in (2, 8, 64)))
    assert json.loads(call("analyze", path, "--what", "efficiency", "--json")[1])["rows"]
    assert call("matrix", path, "--efficiency", "0.9", "--json")[0] == 0
    # no size has such a low efficiency, so there is no number
    assert call("matrix", path, "--efficiency", "0.1", "--json")[0] == 1
    picture = tmp_path / "speedup.svg"
    assert call("export", path, "--view", "speedup", "-o", picture)[0] == 0
    assert picture.stat().st_size > 1000


def test_a_preview_writes_nothing_and_says_how_sure_it_is(call: Any, wide: Path) -> None:
    code, out, _ = call("import", wide, "--preview")
    assert code == 0
    assert "table: wide, utf-8, separated by semicolon, decimal ',', names in line 1" in out
    assert "processors = 8" in out
    assert "open: 'time' has no unit; say --unit s (s is the unit that most people leave out)" in out
    assert "to take every guess: --unit s" in out
    document = json.loads(call("import", wide, "--preview", "--json")[1])
    assert document["format"] == "table"
    assert document["table"]["form"] == "wide"
    assert document["table"]["columns"][0]["role"] == "parameter"
    assert [question["key"] for question in document["questions"]] == ["unit"]
    assert document["values"] == 7
    assert not list(wide.parent.glob("*.sgstudy"))


def test_a_preview_of_what_cannot_be_divided_asks(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "bare.txt"
    path.write_text("1 8\n2 4.5\n")
    document = json.loads(call("import", path, "--preview", "--json")[1])
    assert [question["key"] for question in document["questions"]] == ["names", "unit"]
    assert document["questions"][0]["said"] == "--names processors,time"
    code, out, _ = call("import", path, "--names", "p,time", "--unit", "s", "--json")
    assert code == 0
    assert json.loads(out)["runs"] == 2


def test_several_files_become_one_study(call: Any, tmp_path: Path) -> None:
    for number, seconds in ((1, 8), (2, 4)):
        (tmp_path / f"{number}.tsv").write_text(f"p\ttime [s]\n{number}\t{seconds}\n{number}\t{seconds + 1}\n")
    code, out, _ = call("import", tmp_path / "1.tsv", tmp_path / "2.tsv", "-o", tmp_path / "both.sgstudy")
    assert code == 0
    assert "4 runs" in out


@pytest.mark.slow
def test_a_mapping_can_be_changed_later(call: Any, tmp_path: Path) -> None:
    path, first, second = tmp_path / "t.csv", tmp_path / "a.sgstudy", tmp_path / "b.sgstudy"
    path.write_text("ranks,threads,time [s]\n1,2,8\n2,4,4.5\n4,8,2.2\n")
    assert call("import", path, "-o", first)[0] == 2
    assert call("import", path, "-o", first, "--processors", "ranks")[0] == 0
    assert call("import", first, "-o", second, "--processors", "threads")[0] == 0
    with Study.open(second) as study:
        assert [run.point.processors for run in study.runs()] == [2, 4, 8]
        mapping = study.mapping()
        assert mapping is not None
        assert mapping.unit == "s"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "a file or directory with measurements was expected"),
        (("none.csv",), "none.csv: no such file"),
        (("t.csv", "--format", "extrap"), "unknown format 'extrap'; did you mean 'extrap-"),
        (("t.csv", "--processors", "q"), "'q' is not a parameter of the set; there is p"),
        (("t.csv", "--column", "time"), "--column: 'time': expected NAME=ROLE"),
        (("t.csv", "--delimiter", "ab"), "not a single character"),
        ((".",), "holds nothing that is read from a directory"),
    ],
)
def test_bad_usage_is_a_sentence(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("p,time [s]\n1,8\n2,4\n")
    code, _, err = call("import", *arguments)
    assert code == 2
    assert expected in err


def test_no_runs_say_why_and_a_rate_can_be_named(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("threads,speed\n1,100\n2,190\n")
    code, _, err = call("import", path)
    assert code == 2
    assert "no name says which column is the time, or a rate; 'speed' may be it; say --rate speed or --time" in err
    path.write_text("threads,speed\n1,100\n2,101\n")
    code, _, err = call("import", path)
    assert code == 1
    assert "0 runs: no metric is an elapsed time or a rate" in err
    code, out, _ = call(
        "import", path, "--rate", "speed", "--scaling", "strong", "-o", tmp_path / "r.sgstudy", "--json"
    )
    assert code == 0
    assert json.loads(out)["runs"] == 2


def test_formats_are_listed(call: Any) -> None:
    code, out, _ = call("import", "--list-formats")
    assert code == 0
    assert "Cube4" in out
    assert ".csv .tsv" in out


def test_a_directory_of_profiles_without_processors_is_imported_and_says_so(
    call: Any, root: Path, tmp_path: Path
) -> None:
    profiles = Path(os.environ.get("SCALEGRAPH_DATA", root.parent / "shared" / "data")) / "cube" / "multi_parameter"
    if not profiles.is_dir():
        pytest.skip("profiles of other tools are not here: set SCALEGRAPH_DATA")
    target = tmp_path / "cube.sgstudy"
    code, out, err = call("import", profiles, "-o", target)
    assert code == 1
    assert "0 runs" in out
    assert "0 runs: no parameter is known to count processors" in err
    assert call("import", profiles, "-o", tmp_path / "x.sgstudy", "--processors", "x")[0] == 0
    with Study.open(tmp_path / "x.sgstudy") as study:
        assert len(study) > 3


def test_a_preview_shows_the_table_with_its_bad_cell(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("p,time [s]\n1,8\n2,ERR\n4,2\n")
    code, out, err = call("import", path, "--preview")
    assert code == 2
    assert "8, ERR, 2" in out
    assert f"{path}:3: column 2 'time [s]': a number was expected, got 'ERR'; --cell '3:time [s]=none'" in err
    code, out, err = call("import", path, "--preview", "--json")
    assert code == 2
    assert json.loads(out)["table"]["preview"][1] == ["2", "ERR"]
    assert "got 'ERR'" in err
    assert call("import", path, "--preview", "--cell", "3:time [s]=none")[0] == 0


def test_what_is_printed_can_be_copied(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-my times.csv").write_text("p;time\n1;2.300\n2;1.150\n4;640\n8;330\n")
    code, _, err = call("import", "--", "-my times.csv")
    assert code == 2
    assert "to take every guess: scalegraph import './-my times.csv' --decimal , --unit s" in err.replace(
        "cli", "scalegraph"
    )
    assert call("import", "./-my times.csv", "--decimal", ",", "--unit", "s")[0] == 0
    code, _, err = call("analyze", "./-my times.csv", "--what", "efficiency")
    assert code == 2
    assert "--mapping decimal=, --mapping unit=s" in err
    words = ("--mapping", "decimal=,", "--mapping", "unit=s")
    code, out, _ = call("analyze", "./-my times.csv", "--what", "efficiency", *words, "--json")
    assert code == 0
    assert [row["efficiency"] for row in json.loads(out)["rows"]] == pytest.approx([1, 1, 0.8984375, 0.8712121])
