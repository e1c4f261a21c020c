"""Options for reading a table that have no effect are refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.readers import _files
from scalegraph.measurements.table import TableChoices, idle
from scalegraph.request.imports.sets import opened, read_set
from tests.measurements.samples import CALIPER, GOOGLE, JSON_NEWER, JSON_OLDER, SPLIT

PLAIN = "p,time [s]\n1,8.5\n2,4.5\n"
GERMAN = "p;time [s]\n1;8,5\n2;4,5\n"
REMARKS = "! a\n! b\np,time [s]\n1,8.5\n! c\n2,4.5\n"


@pytest.mark.parametrize(
    ("text", "said", "changes"),
    [
        (PLAIN, {"delimiter": ","}, True),
        (PLAIN, {"decimal": "."}, True),
        (PLAIN, {"decimal": ","}, False),
        (PLAIN, {"comment": "!"}, False),
        (PLAIN, {"encoding": "latin-1"}, False),
        (PLAIN, {"header": 1}, True),
        (GERMAN, {"decimal": ","}, True),
        (GERMAN.replace("8,5", "8").replace("4,5", "4"), {"decimal": ","}, False),
        ("p;time [s]\n1;1,500\n2;1,250\n", {"decimal": ","}, True),
        ("p;time [s]\n1;1.500\n2;1.250\n", {"decimal": ","}, True),
        (REMARKS, {"comment": "!"}, True),
        (PLAIN.replace("p,", "pü,"), {"encoding": "latin-1"}, True),
        ("a b\nc d\np,time [s]\n1,8.5\n2,4.5\n", {"header": 3}, True),
    ],
)
def test_an_option_that_nothing_is_meant_by_is_refused(
    tmp_path: Path, text: str, said: dict[str, str], changes: bool
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    choices = TableChoices(**said)
    faults = idle([path], choices)
    assert [fault.key for fault in faults] == ([] if changes else [f"--{name}" for name in said])
    if not changes:
        with pytest.raises(InputError, match="has no effect"):
            opened([path], choices=choices)
        with opened([path]) as study:
            assert [int(run.time_s or 0) for run in study.runs()] == [8, 4]


@pytest.mark.parametrize("name", ["newer.json", "older.json", "split.json", "google.json", "c.cali"])
def test_a_document_in_one_line_has_a_limit(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = {"newer": JSON_NEWER, "older": JSON_OLDER, "split": SPLIT, "google": GOOGLE}
    path = tmp_path / name
    text = CALIPER.replace("JOBSIZE", "2") if name == "c.cali" else json.dumps(documents[path.stem])
    path.write_text(text)
    read_set([path])
    monkeypatch.setattr(_files, "LONGEST", 30)
    monkeypatch.setattr(_files, "LONGEST_JSON", 30)
    with pytest.raises(InputError, match=r":1: is longer than 0 MiB; .* expected"):
        read_set([path])


@pytest.mark.parametrize("name", ["newer.json", "split.json", "google.json"])
def test_a_document_of_many_lines_has_a_limit(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = {"newer": JSON_NEWER, "split": SPLIT, "google": GOOGLE}
    path = tmp_path / name
    path.write_text(json.dumps(documents[path.stem], indent=1))
    read_set([path])
    monkeypatch.setattr(_files, "LARGEST_JSON", 100)
    with pytest.raises(InputError, match=r"is JSON of 0 MiB; at most 0 MiB are read"):
        read_set([path])
