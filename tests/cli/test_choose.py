"""``scalegraph choose`` on studies and tables: the document, the errors."""

import json
from pathlib import Path
from typing import Any

import pytest

TABLE = """machine,ranks,threads,schedule,n,processors,time_s
A,1,1,static,100,1,16.0
A,4,4,static,100,16,1.3
A,4,4,dynamic,100,16,1.2
B,1,1,static,100,1,20.0
B,4,4,static,100,16,1.0
B,2,8,static,100,16,0.9
B,2,8,static,200,16,1.9
"""
MEANING = ("--mapping", "processors=processors", "--mapping", "unit=s")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    return path


def test_an_imported_table_with_ranks_and_threads_is_a_space(call: Any, table: Path) -> None:
    code, out, err = call("choose", table, "--json", *MEANING)
    assert code == 0, err
    found = json.loads(out)
    names = ("machine", "processors", "processes", "threads_per_process", "schedule", "time_s", "parameters")
    assert [found["choice"][name] for name in names] == ["B", 16, 2, 8, "static", 0.9, {"n": 100}]
    assert found["choice"]["core_hours"] == pytest.approx(16 * 0.9 / 3600)
    assert found["points"] == 6
    assert "2 sizes" in found["remarks"][0]
    code, out, _ = call("choose", table, "--json", *MEANING, "--select", "machine=A", "--minimise", "core_hours")
    assert (code, json.loads(out)["choice"]["processors"]) == (0, 1)
    code, out, _ = call("choose", table, "--json", *MEANING, "--select", "n=200")
    assert (code, json.loads(out)["points"]) == (0, 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--minimise", "energy"), "machine 'A' is unknown, and so is its power"),
        (("--minimise", "price"), "machine 'A' is unknown, and so is its price"),
        (("--minimise", "speed"), "'speed' is not one of"),
        (("--within", "0.5"), "--within: a factor of 1 or more was expected, got 0.5"),
        (("--within", "nan"), "--within: a factor of 1 or more was expected"),
        (("--efficiency", "7"), "--efficiency: an efficiency between 0 and 1 was expected"),
        (("--queue", "64"), "--queue: '64': expected N=TIME"),
        (("--queue", "64=soon"), "--queue: '64=soon'"),
        (("--whole-nodes",), "no point fills whole nodes: the size of a node is not known"),
        (("--select", "machine=C"), "'machine=C': the study has machine = A, B"),
        (("--select", "colour=red"), "there is no 'colour'"),
        (("--select", "machine"), "expected AXIS=VALUE"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(call: Any, table: Path, words: tuple[str, ...], said: str) -> None:
    code, out, err = call("choose", table, *MEANING, *words)
    assert (code, out) == (2, "")
    assert said in err


def test_a_file_that_is_not_there(call: Any, tmp_path: Path) -> None:
    assert call("choose", tmp_path / "no.sgstudy")[0] == 2
