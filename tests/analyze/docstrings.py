"""Checks docstrings of public functions for shape, unit, errors and source (see CONTRIBUTING.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_ARRAY = re.compile(
    r"\b(Floats|Flags|Indices|Array|ndarray|NDArray|DataFrame|Series|Rows|Columns|list|Iterator)\b(?!\.)"
)
_NUMBER = re.compile(r"\b(float|int|Floats|Flags|Indices|Array|ndarray|NDArray|DataFrame|pd\.Series|Rows|Columns)\b")
_SHAPE = re.compile(r"\bShape: \S|\bshape \([^)]+\)|\((?:points|series|\.\.), [^)]+\)")
_UNIT = re.compile(r"\bUnit: \S")
_SOURCE = re.compile(r"\bSource: \S")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield every public function, and every method of a public class, with its name."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from ((f"{node.name}.{part.name}", part) for part in node.body if isinstance(part, Function))


def faults(source: str) -> list[str]:
    """Return what is missing in the docstrings of public functions in a module's *source*, one sentence each."""
    tree = ast.parse(source)
    raised = _raised(tree)
    found = []
    for name, node in functions(tree):
        if name.rpartition(".")[2].startswith("_"):
            continue
        text = " ".join((ast.get_docstring(node) or "").split())
        result = ast.unparse(node.returns) if node.returns else ""
        if _ARRAY.search(result) and not _SHAPE.search(text):
            found.append(f"{name}: no shape of {result}")
        if _NUMBER.search(result) and not _UNIT.search(text):
            found.append(f"{name}: no unit")
        if not _SOURCE.search(text):
            found.append(f"{name}: no source")
        unnamed = [error for error in sorted(raised[name]) if not re.search(rf"\b[Rr]aises?\b.*\b{error}\b", text)]
        found.extend(f"{name}: raises {error} and does not say so" for error in unnamed)
    return found


def _raised(tree: ast.Module) -> dict[str, set[str]]:
    """Return the errors that each function raises itself or through functions and methods of the same module."""
    everything = [*functions(tree)]
    everything += [
        (f"{node.name}.{part.name}", part)
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name.startswith("_")
        for part in node.body
        if isinstance(part, Function)
    ]
    errors: dict[str, set[str]] = {name: set(_own_errors(node)) for name, node in everything}
    calls = {name: _calls(name, node) & errors.keys() for name, node in everything}
    caught = {name: set(_caught(node)) for name, node in everything}
    before: dict[str, set[str]] = {}
    while before != errors:
        before = {name: set(found) for name, found in errors.items()}
        for name, called in calls.items():
            errors[name] |= set().union(*(errors[other] for other in called)) - caught[name]
    return errors


def _own_errors(node: Function) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Raise) and part.exc is not None:
            raised = part.exc.func if isinstance(part.exc, ast.Call) else part.exc
            if isinstance(raised, ast.Name) and raised.id[0].isupper():
                yield raised.id


def _caught(node: Function) -> Iterator[str]:
    """Yield the errors handled by *node*, which its callees may raise."""
    for part in ast.walk(node):
        if isinstance(part, ast.ExceptHandler) and part.type is not None:
            yield from (name.id for name in ast.walk(part.type) if isinstance(name, ast.Name))


def _calls(name: str, node: Function) -> set[str]:
    """Return the names of the functions and methods of its own class that *node* calls."""
    owner = name.rpartition(".")[0]
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            found.add(part.func.id)
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in ("self", "cls"):
            found.add(f"{owner}.{part.attr}")
    return found


def modules(root: Path) -> list[Path]:
    """Return the modules of the package `analyze`."""
    return sorted((root / "scalegraph/analyze").rglob("*.py"))
