"""The list of views on the command line comes from their declarations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scalegraph.request.model.shipped import shipped


def test_views_are_listed_with_what_they_need(call: Any) -> None:
    code, out, _ = call("export", "--list")
    assert not code
    assert "if empty: Costs by line need a simulated run with lines collected." in out
    assert "{" not in out
    assert "if empty: The runs do not determine the thread graph.\n" in out
    assert "matrix: Scalability matrix (Scalability). How" in out
    assert "  matrix-row: show_as=rows. How scalability falls" in out


@pytest.mark.slow
def test_export_writes_the_same_numbers_by_the_old_name_and_as_shown(call: Any, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    assert call("export", shipped(), "--view", "matrix-row", "--set", "processors=2", "-o", old)[0] == 0
    shown = ("--view", "matrix", "--set", "show_as=rows", "--set", "processors=2")
    assert call("export", shipped(), *shown, "-o", new)[0] == 0
    assert old.read_text() == new.read_text()
