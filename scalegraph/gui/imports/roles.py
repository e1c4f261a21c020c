"""The roles a table's column can have: in the form's lists, and in the menu of a click on the column."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from scalegraph.base.measures import percent
from scalegraph.gui.imports.state import ImportState

ROLES: Final = (
    ("processors", "number of processors"),
    ("time", "elapsed time"),
    ("rate", "rate: larger is better"),
    ("parameter", "parameter"),
    ("metric", "measured value"),
    ("wide", "values at one N"),
    ("repetition", "number of the repetition"),
    ("call_path", "region or call path"),
    ("metric_name", "name of the metric"),
    ("value", "value of that metric"),
    ("unit", "unit of that metric"),
    ("skip", "leave out"),
)
WORDS: Final = dict(ROLES)
CELL_ROLES: Final = (
    ("none", "this cell has no value"),
    ("skip", "leave this row out"),
    ("header", "this row has the names of the columns"),
)
GUESSED: Final = "as guessed"


def title_of(column: Any) -> str:
    """Return a column's name for display: its title, or its number from 1."""
    return column.title or f"column {column.index + 1}"


def words_of(column: Any, mapping: Any) -> str:
    """Return a column's role as text; *mapping* says which counts processors and which is the time."""
    if column.at is not None:
        return f"values of {column.at}" if isinstance(column.at, str) else f"{WORDS['wide']} {column.at}"
    if mapping is not None and column.role == "parameter" and column.name == mapping.processors:
        return WORDS["processors"]
    if mapping is not None and column.role == "metric" and column.name == mapping.time:
        return WORDS["time"]
    return WORDS[column.role]


def reason(column: Any) -> str:
    """Return the reason for a column's role, and how certain it is."""
    if not column.why:
        return ""
    return column.why if column.confidence >= 1 else f"{column.why}; {percent(column.confidence, 0)} sure"


def add_cell(made: QMenu, line: int, text: str, marked: Collection[str], choose: Callable[[str], None]) -> None:
    """Add the roles of the cell in *line* to the top of a column's menu, with those in *marked* checked.

    *choose* gets ``none``, ``skip`` or ``header``.
    """
    first = made.actions()[0]
    title = QAction(f"Line {line}: {text}" if text else f"Line {line}", made)
    title.setEnabled(False)
    made.insertAction(first, title)
    for role, words in CELL_ROLES:
        action = QAction(words, made)
        action.setCheckable(True)
        action.setChecked(role in marked)
        action.setData(f"cell:{role}")
        action.triggered.connect(lambda _checked=False, role=role: choose(role))
        made.insertAction(first, action)
    made.insertSeparator(first)


def menu(column: Any, mapping: Any, state: ImportState, choose: Callable[[str | None], None], parent: QWidget) -> QMenu:
    """Return a column's menu: title and reason, all roles, and the guess; *choose* gets the one clicked."""
    made = QMenu(parent)
    head = QAction(f"{title_of(column)}: {words_of(column, mapping)}", made)
    head.setEnabled(False)
    made.addAction(head)
    if why := reason(column):
        because = QAction(f"because: {why}", made)
        because.setEnabled(False)
        made.addAction(because)
    made.addSeparator()
    group = QActionGroup(made)
    said = state.role(title_of(column), column.name)
    for role, words in (*ROLES, ("", GUESSED)):
        action = made.addAction(words)
        action.setCheckable(True)
        action.setChecked(role == (said or ""))
        action.setData(role)
        action.triggered.connect(lambda _checked=False, role=role: choose(role or None))
        group.addAction(action)
    return made
