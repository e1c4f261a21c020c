"""Colours of the window's chrome in light and dark, and the style sheet made of them.

Pictures take their colours from `scalegraph.figures.palette`; these are for backgrounds, lines, text and controls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import Template
from typing import Final

from scalegraph.base.resources import resource_dir
from scalegraph.figures import palette


@dataclass(frozen=True)
class Paper:
    """Colours (``#rrggbb``) of everything outside pictures."""

    window: str  # behind docks and pages
    base: str  # lists, fields, pictures
    raised: str  # cards, headers, buttons
    hover: str
    line: str  # borders
    text: str
    muted: str  # secondary text; contrast still at least 4.5:1 on window
    accent: str  # focus, selection, primary button
    on_accent: str
    fault: str
    fault_paper: str
    remark_paper: str
    good: str


PAPERS: Final = {
    "light": Paper(
        window="#F3F4F6",
        base=palette.paper("light"),
        raised="#FBFBFC",
        hover="#E6EAF0",
        line="#CDD2D9",
        text=palette.ink("light"),
        muted="#59616C",
        accent="#0067A3",
        on_accent="#FFFFFF",
        fault="#B3261E",
        fault_paper="#FBE9E7",
        remark_paper="#FFF5DC",
        good="#00734F",
    ),
    "dark": Paper(
        window="#17191D",
        base=palette.paper("dark"),
        raised="#262A30",
        hover="#31363E",
        line="#3C424B",
        text=palette.ink("dark"),
        muted="#A2A9B4",
        accent="#5FB4EC",
        on_accent="#0B1620",
        fault="#FF8A80",
        fault_paper="#43211F",
        remark_paper="#3D3318",
        good="#5BD3A8",
    ),
}

_SHEET: Final = Template("""
QWidget { font-size: 10pt; }
QMainWindow::separator { background: $window; width: 5px; height: 5px; }
QMainWindow::separator:hover { background: $accent; }
QToolTip { background: $raised; color: $text; border: 1px solid $line; padding: 4px; }
QDockWidget { font-weight: 600; }
QDockWidget::title { background: $window; padding: 6px 8px; text-align: left; }
QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {
  background: $base; color: $text; border: 1px solid $line; border-radius: 4px; padding: 4px 6px;
  selection-background-color: $accent; selection-color: $on_accent; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus,
QTreeView:focus, QTableView:focus, QListView:focus { border: 1px solid $accent; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {
  color: $muted; background: $window; }
QLineEdit[fault="true"], QComboBox[fault="true"], QSpinBox[fault="true"], QDoubleSpinBox[fault="true"],
QTableView[fault="true"], QListView[fault="true"], QPlainTextEdit[fault="true"] { border: 1px solid $fault; }
QAbstractSpinBox QLineEdit { border: none; padding: 0 0 0 5px; background: transparent; }
QComboBox QLineEdit { border: none; padding: 0; background: transparent; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: url($chevron); width: 12px; height: 12px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { subcontrol-origin: border; border: none; width: 18px; }
QAbstractSpinBox::up-button { subcontrol-position: top right; margin: 2px 2px 0 0; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; margin: 0 2px 2px 0; }
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover { background: $hover; }
QAbstractSpinBox::up-arrow { image: url($chevron_up); width: 10px; height: 10px; }
QAbstractSpinBox::down-arrow { image: url($chevron); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: $base; border: 1px solid $line; }
QPushButton { background: $raised; color: $text; border: 1px solid $line; border-radius: 4px; padding: 5px 14px; }
QPushButton:hover { background: $hover; }
QPushButton:focus, QToolButton:focus { border: 1px solid $accent; }
QPushButton:disabled { color: $muted; background: $window; }
QPushButton[primary="true"] { background: $accent; color: $on_accent; border: 1px solid $accent; font-weight: 600; }
QPushButton[primary="true"]:disabled { background: $line; color: $muted; border: 1px solid $line; }
QPushButton[flat="true"] { background: transparent; border: 1px solid transparent; padding: 3px 6px; }
QPushButton[flat="true"]:hover { background: $hover; }
QPushButton[link="true"] { background: transparent; border: 1px solid transparent; color: $accent; padding: 2px 4px;
  text-align: left; }
QPushButton[link="true"]:hover { text-decoration: underline; }
QPushButton[link="true"]:focus { border: 1px solid $accent; }
QToolBar { background: $window; border: none; border-bottom: 1px solid $line; spacing: 2px; padding: 2px 6px; }
QMenuBar QToolBar { border: none; padding: 0 4px; margin: 0; spacing: 0; }
QMenuBar QToolBar QToolButton { padding: 0 5px; margin: 0; }
QToolButton { border: 1px solid transparent; border-radius: 4px; padding: 4px 6px; color: $text; }
QToolButton:disabled { color: $muted; }
QToolButton:hover { background: $hover; }
QToolButton:checked { background: $hover; border: 1px solid $line; }
QToolButton[narrow="true"] { padding: 0px 3px; }
QToolButton[arrow="own"]::menu-indicator { image: none; }
QMenuBar { background: $window; }
QMenuBar::item { padding: 5px 8px; background: transparent; }
QMenuBar::item:selected { background: $hover; }
QMenu { background: $raised; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 12px; border-radius: 3px; }
QMenu::item:selected { background: $accent; color: $on_accent; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
QTreeView, QTableView, QListView { background: $base; alternate-background-color: $raised; border: 1px solid $line;
  selection-background-color: $accent; selection-color: $on_accent; outline: none; }
QTableView[bare="true"], QTableView[bare="true"]:focus { border: none; }
QTreeView::item, QListView::item { padding: 2px 0; }
QTreeView::item:hover, QListView::item:hover { background: $hover; }
QTreeView::item:selected, QListView::item:selected { background: $accent; color: $on_accent; }
QHeaderView::section { background: $window; color: $muted; border: none; border-bottom: 1px solid $line;
  padding: 4px 6px; font-weight: 600; }
QTabBar::tab { background: $window; color: $muted; padding: 6px 12px; border: none;
  border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QMainWindow > QTabBar::tab { padding: 6px 8px; }
QTabBar::tab:hover { color: $text; }
QTabBar[low="true"]::tab { padding: 1px 10px; }
QTabWidget::pane { border: none; }
QTabBar { qproperty-drawBase: 0; }
QScrollArea { border: none; background: transparent; }
QScrollArea > QWidget > QWidget[page="true"] { background: $window; }
QProgressBar { background: $hover; border: none; border-radius: 3px; height: 8px; text-align: center; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QStatusBar { background: $window; color: $muted; border-top: 1px solid $line; }
QStatusBar::item { border: none; }
QSplitter::handle { background: $window; }
QCheckBox, QRadioButton { spacing: 6px; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: $line; border-radius: 4px; min-height: 28px; min-width: 28px; margin: 2px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QLabel[role="title"] { font-size: 17pt; font-weight: 600; }
QLabel[role="heading"] { font-size: 11pt; font-weight: 600; }
QLabel[role="name"] { font-weight: 600; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="fault"] { color: $fault; }
QLabel[role="remark"] { color: $muted; }
QLabel[role="verdict"] { font-size: 11pt; padding: 2px 10px; }
QFrame[beside="true"] { border-radius: 4px; margin: 2px 0; }
QFrame[beside="true"] QPushButton { padding: 2px 8px; }
QLabel[role="mono"], QPlainTextEdit[role="mono"] { font-family: "DejaVu Sans Mono", monospace; font-size: 9pt; }
QPlainTextEdit[role="source"] { border: none; border-radius: 0; padding: 0; font-size: 9.5pt; }
QPlainTextEdit[role="source"]:focus { border: none; }
QFrame[role="card"], QAbstractButton[role="card"] { background: $raised; border: 1px solid $line; border-radius: 8px; }
QFrame[role="card"]:hover, QFrame[role="card"]:focus,
QAbstractButton[role="card"]:hover, QAbstractButton[role="card"]:focus { border: 1px solid $accent; }
QFrame[role="group"] { background: $raised; border: 1px solid $line; border-radius: 6px; }
QFrame[role="header"] { background: $raised; border-bottom: 1px solid $line; }
QFrame[banner="fault"] { background: $fault_paper; border: 1px solid $fault; border-radius: 4px; }
QFrame[banner="remark"] { background: $remark_paper; border: 1px solid $line; border-radius: 4px; }
""")


# The palette role that carries each of these colours. The style sheet names roles, never colours, so it is set only
# once. Roles with a similar meaning come first; roles that nothing here uses carry the rest.
ROLES: Final = {
    "window": "window",
    "base": "base",
    "raised": "alternate-base",
    "hover": "midlight",
    "line": "mid",
    "text": "text",
    "muted": "link-visited",
    "accent": "highlight",
    "on_accent": "highlighted-text",
    "fault": "bright-text",
    "fault_paper": "shadow",
    "remark_paper": "light",
}


TEXT_SIZE: Final = 10  # points, of most text; other sizes scale with it


def stylesheet(size: int = TEXT_SIZE) -> str:
    """Return the application's style sheet, the same in every theme: it takes its colours from the palette.

    *size* is that of most text, in points.
    """
    icons = resource_dir("icons")
    down, up = (icons / f"{which}.svg" for which in ("chevron", "chevron-up"))
    colours = {name: f"palette({role})" for name, role in ROLES.items()}
    sheet = _SHEET.substitute(colours, chevron=down.as_posix(), chevron_up=up.as_posix())
    if size == TEXT_SIZE:
        return sheet
    return re.sub(r"font-size: ([\d.]+)pt", lambda m: f"font-size: {float(m[1]) * size / TEXT_SIZE:.4g}pt", sheet)
