"""``scalegraph instrument``: source out, regions, remarks."""

import json
from pathlib import Path

import pytest

from scalegraph.cli.main import run

SOURCE = """int f(int n)
{
    int s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += i;
    return s;
}
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.c"
    path.write_text(SOURCE)
    return path


def test_source_with_probes_is_printed_and_the_original_kept(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["instrument", "a.c"]) == 0
    out = capsys.readouterr().out
    assert out.startswith('#line 1 "a.c"\n')
    assert out.count("SCALEGRAPH_SCOPE") == 2
    assert len(out.splitlines()) == len(SOURCE.splitlines()) + 1
    assert source.read_text() == SOURCE


def test_source_with_probes_is_written_where_wanted(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["instrument", "a.c", "-o", "b.c"]) == 0
    assert capsys.readouterr().out == ""
    assert "SCALEGRAPH_SCOPE" in Path("b.c").read_text()


def test_source_itself_is_not_overwritten(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["instrument", "a.c", "-o", "./a.c"]) == 2
    assert "is the source itself" in capsys.readouterr().err
    assert source.read_text() == SOURCE


def test_regions_are_listed_as_a_tree(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["instrument", "a.c", "--regions"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[2:]] == ["1-8", "4-6"]


def test_document_has_source_regions_and_remarks(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["instrument", "a.c", "--json", "--detail", "all"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["file"] == "a.c"
    assert [region["kind"] for region in made["regions"]][:2] == ["program", "function"]
    assert "SCALEGRAPH_SCOPE" in made["text"]


@pytest.mark.parametrize(("name", "words"), [("none.c", "no such file"), (".", "is a directory")])
def test_what_is_no_source_is_refused(source: Path, capsys: pytest.CaptureFixture[str], name: str, words: str) -> None:
    assert run(["instrument", name]) == 2
    assert words in capsys.readouterr().err
