"""Only `base.units` and `base.measures` format numbers for people; no other module formats digits itself."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HOME = "base"  # the formatter's package
# Modules that may write digits with a format of their own, with the reason.
ELSEWHERE = {
    "analyze/consistency.py": "the digits that a table has in print are counted and compared",
    "analyze/culprits.py": "a factor that the runtime reads",
    "analyze/wording.py": "the rest of an identity is an order of magnitude: 4e-16",
    "analyze/fits/select.py": "a ratio of likelihoods has two digits, and none behind the point from 100 on",
    "control/calibration/derive.py": "a text for the machine file that calibration writes",
    "control/calibration/many.py": "a text for the machine file that calibration writes",
    "cli/matrix.py": "the rest of an identity is an order of magnitude: 4e-16",
    "figures/timelines.py": "times have the digits that separate neighbours: ticks, or pixels",
    "gui/base/style.py": "sizes in a style sheet, which Qt reads",
    "gui/figures/scales.py": "the value of a place on an axis, divided as the ticks beside it are",
    "gui/figures/timeline/paint.py": "values of a ramp, between ticks",
    "gui/request/sizes.py": "the first text of a field that people go on to edit",
    "machine/checks.py": "cycles far above the largest that is accepted",
    "machine/knobs.py": "a value for a machine file",
    "measurements/readers/published.py": "the text of a bound that names a table",
    "request/model/extras.py": "the text that names a factor",
    "request/planning/search.py": "sizes that a search tried",
}


_FORMATS = re.compile(r"[efgn%,]\}|%[-+0-9]*\.\d")  # a source without this has no such format and need not be parsed
_TEMPLATE = re.compile(r"\{\w*:[^{} ]*[efgn%,]\}|%[-+0-9]*\.\d+[efg]")


def written(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the number formats in f-strings and templates (floating point, thousands), except in machine-read text."""
    read = {
        id(value)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("float", "len")
        for value in ast.walk(call)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _TEMPLATE.search(node.value):
            yield node
        if not isinstance(node, ast.FormattedValue) or node.format_spec is None or id(node) in read:
            continue
        if re.search(r"[efgn%,]'?$", ast.unparse(node.format_spec)):
            yield node


@pytest.mark.slow
def test_only_the_formatter_writes_numbers_with_digits_of_its_own(root: Path) -> None:
    found: dict[str, list[int]] = {}
    for path in sorted((root / "scalegraph").rglob("*.py")):
        name = path.relative_to(root / "scalegraph").as_posix()
        source = path.read_text()
        if _FORMATS.search(source) and (lines := [node.lineno for node in written(ast.parse(source))]):
            found[name] = lines
    stray = {name: lines for name, lines in found.items() if not name.startswith(HOME) and name not in ELSEWHERE}
    assert not stray, f"write these with base.units or base.measures (si, significant, thousands, percent): {stray}"
    assert set(ELSEWHERE) <= set(found), "an exception that is not needed any more"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("f'{n:g}'", 1),
        ("f'{100 * share:.3g} %'", 1),
        ("f'{x:+.1e}'", 1),
        ("f'{x:.{digits}g}'", 1),
        ("float(f'{x:.3g}')", 0),
        ("f'{100 * share:.1f} %'", 1),
        ("f'{n:,}'", 1),
        ("'{0:,.0f} of {all:.2f}'.format(n, all=x)", 1),
        ("'%.3g s' % x", 1),
        ("f'{n}, {word:>8}'", 0),
    ],
)
def test_the_rule_finds_what_it_refuses(text: str, count: int) -> None:
    assert len(list(written(ast.parse(text)))) == count
