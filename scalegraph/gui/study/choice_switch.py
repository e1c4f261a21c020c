"""The button for the choice of machine, split and schedule that the views show, with a menu of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from scalegraph.base.points import AXES, setting_words
from scalegraph.base.units import counted
from scalegraph.gui.base.widgets import elided
from scalegraph.gui.study.studies import StudyHandle

_WIDTH: Final = 260  # pixels of its text
_NONE: Final = {"schedule": "as written", "affinity": "as usual", "cflags": "none"}

Setting = Mapping[str, str]


class ChoiceSwitch(QToolButton):
    """Visible for studies of several choices; clicking a value shows the choice that has it."""

    def __init__(self) -> None:
        super().__init__()
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setProperty("arrow", "own")
        self.setAccessibleName("Choice of machine, split and schedule that the views show")
        self._menu = QMenu(self)
        self.setMenu(self._menu)
        self._shown: tuple[Sequence[Setting], Setting] | None = None
        self.hide()

    def show_study(self, handle: StudyHandle | None) -> None:
        """Show which choice of *handle* is displayed, and offer the others."""
        data = handle.study() if handle is not None else None
        settings = [part.manifest.get("setting") or {} for part in data.choices] if data is not None else []
        self.setVisible(len(settings) > 1)
        if data is None or handle is None or len(settings) < 2:
            self._shown = None
            return
        now = data.manifest.get("setting") or {}
        if self._shown == (settings, now):
            return
        self._shown = (settings, now)
        varied = {axis: values for axis in AXES if len(values := _values(settings, axis)) > 1}
        words = setting_words({axis: now.get(axis, "") for axis in varied})
        self.setText(f"{elided(words, self.fontMetrics(), _WIDTH, 1)} ▾")
        self.setToolTip(
            f"These views show {words}, one of {counted(len(settings), 'choice')}; the arrangement Choose compares all"
        )
        self._fill(settings, now, varied, handle.show_choice)

    def _fill(
        self,
        settings: Sequence[Setting],
        now: Setting,
        varied: Mapping[str, Sequence[str]],
        take: Callable[[Setting], object],
    ) -> None:
        self._menu.clear()
        for axis, values in varied.items():
            if self._menu.actions():
                self._menu.addSeparator()
            self._menu.addAction(AXES[axis]).setEnabled(False)  # a heading; not every style draws menu sections
            group = QActionGroup(self._menu)
            for value in values:
                action = self._menu.addAction(value or _NONE.get(axis, "–"))
                action.setCheckable(True)
                action.setChecked(now.get(axis, "") == value)
                action.setActionGroup(group)
                action.triggered.connect(partial(take, nearest(settings, now, axis, value)))


def nearest(settings: Sequence[Setting], now: Setting, axis: str, value: str) -> Setting:
    """Return the choice with *value* on *axis* that otherwise agrees best with *now*."""
    there = [one for one in settings if one.get(axis, "") == value]
    return max(there, key=lambda one: sum(one.get(name, "") == now.get(name, "") for name in AXES))


def _values(settings: Sequence[Setting], axis: str) -> list[str]:
    found = dict.fromkeys(one.get(axis, "") for one in settings)
    return sorted(found, key=int) if all(value.isdecimal() for value in found) else list(found)
