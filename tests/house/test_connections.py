"""No connection outlives its receiver: lambdas and closures are connected only to the receiver's own senders, or tied.

Qt disconnects a bound method of a `QObject` when the object is deleted. A lambda lives as long as the sender: connected
to a selection, a theme, a time window or a study, it would call a closed view. `gui.base.lifetime.tied` prevents this.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

MAKERS = {"addAction", "addMenu", "addButton", "button", "add"}  # methods whose result the widget owns
PARTS = {"verticalScrollBar", "horizontalScrollBar", "selectionModel", "header", "scene", "lineEdit"}  # of a widget
HOUSE = "tied"


@dataclass
class Scope:
    """The names bound in a function, with what they are bound to, and the enclosing functions."""

    node: ast.AST
    outer: Scope | None = None
    owner: ast.ClassDef | None = None
    bound: dict[str, list[ast.expr | None]] = field(default_factory=dict)  # None: a parameter or anything unknown
    functions: set[str] = field(default_factory=set)

    def known(self, name: str) -> list[ast.expr | None]:
        """Return what *name* is bound to in this or an enclosing function."""
        if name in self.bound:
            return self.bound[name]
        return self.outer.known(name) if self.outer is not None else []

    def local_function(self, name: str) -> bool:
        """Whether *name* is a function made within a function."""
        return name in self.functions or (self.outer is not None and self.outer.local_function(name))


def connections(tree: ast.Module) -> Iterator[tuple[ast.Call, Scope]]:
    """Yield every call of ``connect`` or ``singleShot`` within a function."""

    def walk(node: ast.AST, scope: Scope | None, owner: ast.ClassDef | None) -> Iterator[tuple[ast.Call, Scope]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield from walk(child, scope, child)
            elif isinstance(child, ast.FunctionDef):
                if scope is not None:
                    scope.functions.add(child.name)
                yield from walk(child, _scope(child, scope, owner), owner)
            else:
                if scope is not None and isinstance(child, ast.Call) and _method(child) in ("connect", "singleShot"):
                    yield child, scope
                yield from walk(child, scope, owner)

    yield from walk(tree, None, None)


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _scope(function: ast.FunctionDef, outer: Scope | None, owner: ast.ClassDef | None) -> Scope:
    scope = Scope(function, outer, owner)
    arguments = function.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        scope.bound.setdefault(argument.arg, []).append(None)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                _bind(scope, target, node.value)
        elif isinstance(node, ast.For):
            for value in node.iter.elts if isinstance(node.iter, ast.Tuple | ast.List) else [node.iter]:
                _bind(scope, node.target, value)
        elif isinstance(node, ast.FunctionDef) and node is not function:
            scope.functions.add(node.name)
    return scope


def _bind(scope: Scope, target: ast.expr, value: ast.expr) -> None:
    if isinstance(target, ast.Name):
        scope.bound.setdefault(target.id, []).append(value)
    elif isinstance(target, ast.Tuple):
        pairs = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else []
        for index, part in enumerate(target.elts):
            if isinstance(part, ast.Name):
                scope.bound.setdefault(part.id, []).append(pairs[index] if pairs else None)


def own(expression: ast.expr | None, scope: Scope, depth: int = 0) -> bool:
    """Whether what *expression* names was made by the object or function that connects it, and dies with it."""
    if expression is None or depth > 8:
        return False
    if isinstance(expression, ast.Call):
        return _made(expression.func, scope, depth)
    if isinstance(expression, ast.Name):
        values = scope.known(expression.id)
        return expression.id == "self" or (bool(values) and all(own(value, scope, depth + 1) for value in values))
    if isinstance(expression, ast.Attribute):
        known = _attributes(scope.owner) if scope.owner is not None and _self(expression) else {}
        if expression.attr in known:
            return all(own(value, inner, depth + 1) for value, inner in known[expression.attr])
        return own(expression.value, scope, depth + 1)
    if isinstance(expression, ast.Subscript):
        return own(expression.value, scope, depth + 1)
    if isinstance(expression, ast.IfExp):
        return own(expression.body, scope, depth + 1) and own(expression.orelse, scope, depth + 1)
    return isinstance(expression, ast.Constant | ast.List | ast.Dict | ast.ListComp)  # filled here


def _made(maker: ast.expr, scope: Scope, depth: int) -> bool:
    """Whether the result of *maker* (a class, function or method) is new, or part of an object of one's own."""
    if not isinstance(maker, ast.Attribute):
        return True  # a class, or a function that makes a widget
    if maker.attr in MAKERS or maker.attr[:1].isupper() or (_self(maker) and maker.attr.startswith("_")):
        return True
    return maker.attr in PARTS and own(maker.value, scope, depth + 1)


def _self(expression: ast.Attribute) -> bool:
    return isinstance(expression.value, ast.Name) and expression.value.id == "self"


def _attributes(owner: ast.ClassDef) -> dict[str, list[tuple[ast.expr | None, Scope]]]:
    """Return what is assigned to each attribute of the class, and in which function."""
    found: dict[str, list[tuple[ast.expr | None, Scope]]] = {}
    for function in owner.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        scope = _scope(function, None, owner)
        for node in ast.walk(function):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] * len(parts)
                for part, value in zip(parts, values, strict=False):
                    if isinstance(part, ast.Attribute) and _self(part):
                        found.setdefault(part.attr, []).append((value, scope))
    return found


def loose(slot: ast.expr, scope: Scope) -> bool:
    """Whether *slot* stays connected when its receiver is deleted: a lambda, a closure or a partial."""
    if isinstance(slot, ast.Lambda):
        return True
    if isinstance(slot, ast.Name):
        return scope.local_function(slot.id) or slot.id in scope.bound
    if isinstance(slot, ast.Call):
        name = slot.func.id if isinstance(slot.func, ast.Name) else getattr(slot.func, "attr", "")
        return name != HOUSE
    return False


def unsafe(text: str) -> list[str]:
    """Return the line and text of every connection that may outlive what it calls."""
    found = []
    for call, scope in connections(ast.parse(text)):
        assert isinstance(call.func, ast.Attribute)
        if call.func.attr == "singleShot":
            if len(call.args) < 3:  # without a receiver nothing ends it
                found.append(f"{call.lineno}: {ast.unparse(call)}")
        elif call.args and loose(call.args[0], scope) and not own(call.func.value, scope):
            found.append(f"{call.lineno}: {ast.unparse(call)}")
    return found


@pytest.mark.slow
def test_no_connection_outlives_what_it_calls(root: Path) -> None:
    texts = {str(path.relative_to(root)): path.read_text() for path in root.glob("scalegraph/gui/**/*.py")}
    found = {path: unsafe(text) for path, text in texts.items() if "PySide6" in text}  # a socket connects, too
    bad = [f"{path}:{one}" for path, all_ in sorted(found.items()) for one in all_]
    assert not bad, "tie these to their receiver (scalegraph.gui.base.lifetime.tied):\n" + "\n".join(bad)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("theme.changed.connect(lambda _: self.update())", 1),
        ("theme.changed.connect(tied(self, lambda _: self.update()))", 0),
        ("theme.changed.connect(self.update)", 0),
        ("self.kept.changed.connect(lambda: self.update())", 1),
        ("self.perhaps.changed.connect(lambda: self.update())", 1),
        ("self.kept.filter.changed.connect(partial(self.update, 1))", 1),
        ("self.button.clicked.connect(lambda: self.update())", 0),
        ("self.changed.connect(lambda: self.update())", 0),
        ("self.tree.selectionModel().changed.connect(lambda: self.update())", 0),
        ("job = self.kept.start(1)\n        job.done.connect(lambda: self.update())", 1),
        ("one = self.button.open(1)\n        one.filter.changed.connect(lambda: self.update())", 1),
        ("made = QAction()\n        made.triggered.connect(lambda: self.update())", 0),
        ("for one in (self.button, self.kept):\n            one.clicked.connect(lambda: self.update())", 1),
        ("QTimer.singleShot(0, lambda: self.update())", 1),
        ("QTimer.singleShot(0, self, self.update)", 0),
    ],
)
def test_the_rule_finds_what_it_forbids(body: str, count: int) -> None:
    text = f"""
class Panel(QWidget):
    def __init__(self, theme, kept, perhaps=None):
        self.kept = kept
        self.perhaps = perhaps or Window(parent=self)
        self.button, self.tree = QPushButton(), QTreeView()
        {body}
"""
    assert len(unsafe(text)) == count
