"""The list of views on the command line comes from their declarations."""

from __future__ import annotations

from typing import Any


def test_views_are_listed_with_what_they_need(call: Any) -> None:
    code, out, _ = call("export", "--list")
    assert not code
    assert "if empty: Costs by line need a simulated run with lines collected." in out
    assert "{" not in out
