"""The tables of Burg and SLALOM in docs/VALIDATION_TABLES.md are what the commands give."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scalegraph.base.resources import resource_dir
from scalegraph.cli.main import run as scalegraph

pytestmark = pytest.mark.compiler

DOCS = Path(__file__).parents[2] / "docs"
PAIRS = ((2, 4), (4, 8))


@pytest.fixture(scope="module")
def tables() -> Iterator[ModuleType]:
    """The module that makes the tables, which is not installed."""
    sys.path.insert(0, str(DOCS))
    yield importlib.import_module("papers_tables.isospeed")
    sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def studies(tables: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Studies of the shipped request of Burg on up to 8 nodes."""
    made = importlib.import_module("papers_tables.studies").Studies(tmp_path_factory.mktemp("studies"))
    whole = made.session.load(resource_dir("requests") / "burg.toml")
    bounds = [
        bound.model_copy(update={"processors": (2, 4, 8)}) if bound.kind == "speed" else bound for bound in whole.bound
    ]
    made.shipped("burg", processors=(1, 2, 4, 8), bound=bounds)
    return made


def rows(lines: list[str]) -> dict[str, list[str]]:
    """Return the cells of a table by the first cell of the row."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {first: others for first, *others in cells}


def printed(name: str) -> dict[str, list[str]]:
    found = re.search(
        rf"<!-- table: {name} -->\n(.*?)<!-- end -->", (DOCS / "VALIDATION_TABLES.md").read_text(), re.DOTALL
    )
    assert found is not None
    return rows(found[1].splitlines())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "options"),
    [
        ("approach 1: measured by search", ()),
        ("approach 2: computed from curves of the speed", ("--way", "computed")),
        ("approach 3: eq. 5, T_o of the accounts", ("--way", "theorem1")),
        ("approach 3: eq. 5, T_o of α and β", ("--way", "theorem1", "--alpha", 130e-6, "--beta", 0.5e-6)),
    ],
)
def test_each_row_is_what_the_command_prints(
    row: str, options: tuple[object, ...], tables: ModuleType, studies: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    made = rows(tables.burg_table(studies, PAIRS))
    if "--alpha" in options:
        options = (*options, "--overhead", tables.BURG_MESSAGES)
    command = ["matrix", studies.shipped("burg"), "--metric", "isospeed", "--json", *options]
    capsys.readouterr()
    assert scalegraph([str(word) for word in command]) == 0
    document = json.loads(capsys.readouterr().out)
    counts = document["processors"]
    cells = [document["matrix"][counts.index(n)][counts.index(more)] for n, more in PAIRS]
    assert made[row] == [f"{cell:.3f}" for cell in cells]


@pytest.mark.slow
def test_the_document_has_what_is_measured_now(tables: ModuleType, studies: Any) -> None:
    """If this fails, run ``python docs/make_validation.py --studies DIR --write burg-psi burg-times``."""
    row = "approach 1: measured by search"
    now = [float(cell) for cell in rows(tables.burg_table(studies, PAIRS))[row]]
    assert [float(cell) for cell in printed("burg-psi")[row][: len(PAIRS)]] == pytest.approx(now, rel=0.02)
    times = rows(tables.burg_times(studies))["time here, ms"]
    known = [float(cell) for cell in printed("burg-times")["time here, ms"][: len(times)]]
    assert known == pytest.approx([float(cell) for cell in times], rel=0.02)


def test_burg_on_two_nodes_and_more_is_near_table_3_and_rises(tables: ModuleType) -> None:
    made = printed("burg-psi")
    table = made.pop("paper, Table III (approach 2)")
    assert table == [f"{tables.TABLE_3[pair]:.3f}" for pair in tables.BURG_PAIRS]
    made.pop("ψ(N, N')")
    made.pop("---")
    assert len(made) == 4
    for cells in made.values():
        values = [float(cell) for cell in cells]
        assert values == sorted(values)
        assert values == pytest.approx([float(cell) for cell in table], rel=0.1)


def test_the_commands_of_the_section_are_those_of_the_tables(tables: ModuleType) -> None:
    text = " ".join((DOCS / "VALIDATION_TABLES.md").read_text().split())
    assert f'--overhead "{tables.BURG_MESSAGES}"' in text
    assert f"--alpha {tables.ALPHA * 1e6:.0f}e-6 --beta {tables.BETA * 1e6:.1f}e-6" in text
