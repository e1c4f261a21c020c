"""Creates layouts with margins and spacing in one call."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

_Layout = TypeVar("_Layout", bound=QBoxLayout)


def vertical(
    parent: QWidget | None = None, margins: tuple[int, int, int, int] = (0, 0, 0, 0), spacing: int | None = None
) -> QVBoxLayout:
    """Return a vertical layout; *margins* are left, top, right, bottom in pixels; *spacing* None is the default."""
    return _spaced(QVBoxLayout(parent) if parent is not None else QVBoxLayout(), margins, spacing)


def horizontal(
    parent: QWidget | None = None, margins: tuple[int, int, int, int] = (0, 0, 0, 0), spacing: int | None = None
) -> QHBoxLayout:
    """Return a horizontal layout; see `vertical`."""
    return _spaced(QHBoxLayout(parent) if parent is not None else QHBoxLayout(), margins, spacing)


def _spaced(layout: _Layout, margins: tuple[int, int, int, int], spacing: int | None) -> _Layout:
    layout.setContentsMargins(*margins)
    if spacing is not None:
        layout.setSpacing(spacing)
    return layout
