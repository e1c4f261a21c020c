"""Every public function of `analyze` names shape, unit, errors and source."""

import ast
from pathlib import Path

import pytest

from tests.analyze.docstrings import faults, functions, modules

COMPLETE = '''
def speeds(runs: Table) -> Floats:
    """Return the speed of each run.

    Shape: (runs,). Unit: operations/s. Raises `InputError` without runs. Source: isospeed.txt eq. 2.
    """
    return _checked(runs)


def _checked(runs):
    if not runs:
        raise InputError("no runs")
    return runs
'''


@pytest.mark.slow
def test_public_functions_name_shape_unit_errors_and_source(root: Path) -> None:
    found = {str(path.relative_to(root)): faults(path.read_text(encoding="utf-8")) for path in modules(root)}
    assert {path: sentences for path, sentences in found.items() if sentences} == {}


@pytest.mark.slow
def test_all_functions_of_the_package_are_seen(root: Path) -> None:
    """There are hundreds of functions; a check that sees none would never fail."""
    seen = [name for path in modules(root) for name, _ in functions(ast.parse(path.read_text(encoding="utf-8")))]
    assert len([name for name in seen if not name.rpartition(".")[2].startswith("_")]) > 300
    assert {"scaling", "Matrix.value", "critical_path", "fit_models"} <= set(seen)


def test_a_whole_docstring_has_no_fault() -> None:
    assert faults(COMPLETE) == []


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ("Shape: (runs,). ", "speeds: no shape of Floats"),
        ("Unit: operations/s. ", "speeds: no unit"),
        ("Raises `InputError` without runs. ", "speeds: raises InputError and does not say so"),
        ("Source: isospeed.txt eq. 2.", "speeds: no source"),
    ],
)
def test_a_part_that_is_missing_is_found(part: str, sentence: str) -> None:
    assert part in COMPLETE
    assert faults(COMPLETE.replace(part, "")) == [sentence]


def test_methods_of_public_classes_count_and_others_do_not() -> None:
    method = "class {}:\n    def {}(self) -> float:\n        return 1.0\n"
    assert faults(method.format("Run", "speed")) == ["Run.speed: no unit", "Run.speed: no source"]
    assert faults(method.format("_Run", "speed")) == []
    assert faults(method.format("Run", "_speed")) == []
