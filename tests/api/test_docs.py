"""Every block of docs/API.md and every example of a docstring runs."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import scalegraph as sg
from scalegraph import api

pytestmark = pytest.mark.slow

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.compiler
def test_the_blocks_of_the_page_run(root: Path, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (root / "docs" / "API.md").read_text()
    blocks = list(_BLOCK.finditer(page))
    assert len(blocks) > 8
    names: dict[str, Any] = {}
    for block in blocks:
        above = page[: block.start(1)].count("\n")
        exec(compile("\n" * above + block[1], "docs/API.md", "exec"), names)
    assert capsys.readouterr().out == ""
    assert names["sentence"] in page
    assert names["matrix"].value(8, 32) is not None
    assert all((place / name).stat().st_size for name in ("speedup.pdf", "both.svg", "times.html", "times.sgstudy"))
    assert list(names["requested"].runs["processors"].sort_values()) == [1, 2]


WITHOUT = ("Data", "Data.name", "Data.close", "Picture.sentence", "Trace")


def _documented() -> list[tuple[str, Any]]:
    functions = [(name, getattr(api, name)) for name in api.__all__]
    parts = [
        (f"{kind.__name__}.{name}", member)
        for kind in (sg.Data, sg.Picture, sg.Trace)
        for name, member in vars(kind).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    ]
    return [*functions, *parts]


@pytest.mark.compiler
@pytest.mark.parametrize(("name", "thing"), _documented(), ids=lambda value: value if isinstance(value, str) else "")
def test_the_examples_of_docstrings_run(name: str, thing: Any, place: Path) -> None:
    data, other = sg.load("times.csv", unit="s"), sg.load("times.csv", unit="s")
    names = {"sg": sg, "pd": pd, "data": data, "other": other, "trace": sg.trace("run.sgtrace")}
    text = inspect.getdoc(thing) or ""
    assert text, name
    example = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    assert example.examples or name in WITHOUT, "has no example"
    told: list[str] = []
    doctest.DocTestRunner().run(example, out=told.append)
    assert not told, "".join(told)
