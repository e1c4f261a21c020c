"""Editors for a view's options, created from its declarations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QCompleter,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from scalegraph.base.errors import InputError
from scalegraph.gui.base.combo import ElidedCombo
from scalegraph.gui.base.layouts import horizontal
from scalegraph.gui.base.retire import retire
from scalegraph.gui.base.widgets import mark
from scalegraph.runtime.format import GROUPS
from scalegraph.subjects.option import Option, OptionValue
from scalegraph.subjects.study import StudyData
from scalegraph.views import View
from scalegraph.views.families import SHOW_AS

AUTO: Final = "automatic"
FOLLOWS: Final = "as selected"
_INLINE: Final = 2
_FIRST: Final = (SHOW_AS, "minimise", "efficiency")  # changed most often, so shown in the title
_NAMED: Final = (SHOW_AS, "minimise")  # need no label: their values are self-explanatory; nor does a field for a share
_MOST_CHOICES: Final = 200
_BESIDE: Final = 12  # pixels around the button


class OptionEditor(QWidget):
    """Edits one option; *changed* has its name and value (``None``: the default)."""

    changed = Signal(str, object)

    def __init__(self, option: Option) -> None:
        super().__init__()
        self.option = option
        self._setting = False
        self.editor: QComboBox | QCheckBox | QLineEdit | QDoubleSpinBox
        if option.type == "choice":
            self.editor = self._combo(list(option.worded))
        elif option.type == "bool":
            self.editor = QCheckBox(option.title)
            self.editor.toggled.connect(self._emit)
        elif option.name == "efficiency":
            self.editor = self._fraction()
        elif _one_of_the_study(option):
            self.editor = self._combo([(self._left_open(), None)])
        else:
            self.editor = QLineEdit()
            self.editor.setPlaceholderText(self._left_open())
            self.editor.setClearButtonEnabled(True)
            self.editor.setMinimumWidth(90)
            self.editor.editingFinished.connect(self._typed)
        self.editor.setToolTip(option.description or option.title)
        self.editor.setAccessibleName(option.title)
        row = horizontal(self)
        row.addWidget(self.editor, 1)
        if option.unit:
            row.addWidget(QLabel(option.unit))

    def _left_open(self, followed: OptionValue = None) -> str:
        """Return the entry for the default; *followed* is the value it takes from the selection now."""
        if self.option.follows:
            return FOLLOWS if followed is None else f"{FOLLOWS}: {followed}"
        return AUTO if self.option.default is None else str(self.option.default)

    def show_followed(self, value: OptionValue) -> None:
        """Show the value taken from the selection, ``None`` if there is none."""
        if isinstance(self.editor, QComboBox):
            self.editor.setItemText(0, self._left_open(value))
        elif isinstance(self.editor, QLineEdit):
            self.editor.setPlaceholderText(self._left_open(value))

    def _combo(self, items: list[tuple[str, OptionValue]]) -> QComboBox:
        combo = ElidedCombo()
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(11 if self.option.follows else 8)  # "as selected: 128"
        for text, value in items:
            combo.addItem(text, value)
        combo.currentIndexChanged.connect(self._emit)
        return combo

    def _fraction(self) -> QDoubleSpinBox:
        """Return a field for a share from 0 to 1; its lowest step means the default."""
        box = QDoubleSpinBox()
        box.setRange(0.0, 1.0)
        box.setSingleStep(0.05)
        box.setDecimals(2)
        box.setSpecialValueText(f"E: {AUTO}")
        box.setPrefix("E = ")
        box.setMinimumWidth(112)
        box.setKeyboardTracking(False)  # not at every digit
        box.valueChanged.connect(self._emit)
        return box

    def offer(self, data: StudyData) -> None:
        """Offer the values in *data*."""
        if self.option.name == "metric" and isinstance(self.editor, QLineEdit):
            known = QCompleter(metric_names(data), self.editor)
            known.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            known.setFilterMode(Qt.MatchFlag.MatchContains)
            known.activated.connect(self._typed)
            self.editor.setCompleter(known)
        if not _one_of_the_study(self.option) or not isinstance(self.editor, QComboBox):
            return
        combo, now = self.editor, self.value()
        first = combo.itemText(0)
        self._setting = True
        combo.clear()
        combo.addItem(first, None)
        for text, value in known_values(self.option.name, data):
            if value != self.option.default:
                combo.addItem(text, value)
        combo.setCurrentIndex(max(0, combo.findData(now)))
        self._setting = False

    def value(self) -> OptionValue:
        """Return the value, ``None`` for the default."""
        if isinstance(self.editor, QCheckBox):
            return self.editor.isChecked()
        if isinstance(self.editor, QLineEdit):
            return self.editor.text().strip() or None
        if isinstance(self.editor, QDoubleSpinBox):
            return round(self.editor.value(), 2) or None
        data: OptionValue = self.editor.currentData()
        return data

    def set_value(self, value: OptionValue) -> None:
        """Show *value* without emitting `changed`."""
        self._setting = True
        if isinstance(self.editor, QCheckBox):
            self.editor.setChecked(bool(self.option.default if value is None else value))
        elif isinstance(self.editor, QLineEdit):
            self.editor.setText("" if value is None else str(value))
        elif isinstance(self.editor, QDoubleSpinBox):
            self.editor.setValue(0.0 if value is None else float(value))
        else:
            wanted = self.option.default if value is None and self.option.type == "choice" else value
            if wanted is not None and self.editor.findData(wanted) < 0:
                self.editor.addItem(str(wanted), wanted)
            self.editor.setCurrentIndex(max(0, self.editor.findData(wanted)))
        self._setting = False

    def _typed(self) -> None:
        assert isinstance(self.editor, QLineEdit)
        try:
            self.option.parse(self.value())
        except InputError as error:
            mark(self.editor, "fault", True)
            self.editor.setToolTip(str(error))
            return
        mark(self.editor, "fault", False)
        self.editor.setToolTip(self.option.description or self.option.title)
        self._emit()

    def _emit(self, *_: object) -> None:
        if not self._setting:
            self.changed.emit(self.option.name, self.value())


_MORE: Final = "Options ▾"


class OptionBar(QWidget):
    """A view's options: the first ones beside the button if they fit, all of them below it."""

    changed = Signal(str, object)

    def __init__(self, view: View, shared: Sequence[str] = ()) -> None:
        """*shared* options are set elsewhere, for all views at once."""
        super().__init__()
        self._shared = shared
        self._own: tuple[Option, ...] = ()
        self._inline: list[OptionEditor] = []
        self._below: list[OptionEditor] = []  # created when the button is first pressed
        self._form: QFormLayout | None = None  # with them
        self._data: StudyData | None = None
        self._values: Mapping[str, OptionValue] = {}
        self._followed: Mapping[str, OptionValue] = {}
        self._titles: list[QLabel] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._row = horizontal(self, spacing=6)
        self.more = QToolButton()
        self.more.setText(_MORE)
        self.more.setAccessibleName("Options")
        self.more.setToolTip("All options of this view")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self.more)
        self.menu.aboutToShow.connect(lambda: self._all)
        self.more.setMenu(self.menu)
        self.more.setProperty("arrow", "own")
        self._row.addWidget(self.more)
        self._row.addStretch(1)
        self.show_view(view)

    def show_view(self, view: View) -> None:
        """Offer the options of *view*, of the same family as the view before; the editor of "show as" stays."""
        self._own = tuple(option for option in view.all_options if option.name not in self._shared)
        before, self._inline = self._inline, []
        kept = {editor.option.name: editor for editor in before if editor.option.name == SHOW_AS}
        for widget in (*self._titles, *(editor for editor in before if editor not in kept.values())):
            self._row.removeWidget(widget)
            retire(widget)
        self._titles.clear()
        for at, option in enumerate(sorted(self._own, key=_place)[:_INLINE]):
            editor = kept.get(option.name) or self._editor(option)
            editor.option = option
            title = QLabel(option.title)
            title.setProperty("role", "muted")
            title.setBuddy(editor.editor)
            self._inline.append(editor)
            self._titles.append(title)
            self._row.insertWidget(2 * at, title)
            self._row.insertWidget(2 * at + 1, editor)
        if self.menu.isVisible():
            self._fill_below()  # "show as" was chosen there, and goes on being chosen
        else:
            self._drop_below()
        if not self._own:
            self.hide()  # without a parent it would appear as a window

    def _editor(self, option: Option) -> OptionEditor:
        editor = OptionEditor(option)
        if self._data is not None:
            editor.offer(self._data)
        editor.changed.connect(self._tell)
        return editor

    def _drop_below(self) -> None:
        self._below.clear()
        self._form = None
        for action in self.menu.actions():
            self.menu.removeAction(action)
            action.deleteLater()

    @property
    def _all(self) -> list[OptionEditor]:
        """The editors below the button."""
        if not self._below:
            self._fill_below()
        return self._below

    def _fill_below(self) -> None:
        """Put editors of all options below the button; that of "show as" stays."""
        kept = {editor.option.name: editor for editor in self._below if editor.option.name == SHOW_AS}
        if self._form is None:
            page = QWidget()
            self._form = QFormLayout(page)
            action = QWidgetAction(self.menu)
            action.setDefaultWidget(page)
            self.menu.addAction(action)
        form, self._below = self._form, []
        for row in range(form.rowCount() - 1, -1 + len(kept), -1):
            taken = form.takeRow(row)
            for item in (taken.labelItem, taken.fieldItem):
                if (widget := item.widget()) is not None:
                    retire(widget)
        for option in self._own:
            editor = kept.get(option.name) or self._editor(option)
            editor.option = option
            self._below.append(editor)
            if option.name not in kept:
                editor.set_value(self._values.get(option.name))
                if option.follows:
                    editor.show_followed(self._followed.get(option.name))
                title = QLabel(option.title)
                title.setBuddy(editor.editor)
                form.addRow(title, editor)
                title.show()  # at once: what is hidden takes no room below
                editor.show()
        if self.menu.isVisible():
            if (below := form.parentWidget()) is not None:
                below.adjustSize()
            # any change of the action lets Qt measure the menu again
            self.menu.actions()[0].setToolTip(str(len(self._own)))

    def editor(self, name: str) -> OptionEditor:
        """Return an option's editor, the visible one if any; for tests."""
        return next(editor for editor in (*self._inline, *self._all) if editor.option.name == name)

    def offer(self, data: StudyData) -> None:
        """Offer the values in *data*."""
        if data is self._data:
            return
        self._data = data
        for editor in (*self._inline, *self._below):
            editor.offer(data)

    def show_values(self, values: Mapping[str, OptionValue]) -> None:
        """Show *values*; other options show their defaults."""
        self._values = dict(values)
        for editor in (*self._inline, *self._below):
            editor.set_value(values.get(editor.option.name))

    def show_followed(self, followed: Mapping[str, OptionValue]) -> None:
        """Show the values that options take from the selection."""
        self._followed = dict(followed)
        for editor in (*self._inline, *self._below):
            if editor.option.follows:
                editor.show_followed(followed.get(editor.option.name))

    def minimumSizeHint(self) -> QSize:
        """Qt: as narrow as the button; options beside it are hidden if they do not fit."""
        return QSize(20, self.sizeHint().height())

    def _tell(self, name: str, value: object) -> None:
        self.changed.emit(name, value)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: shorten the button, as the layout may give less width than planned."""
        super().resizeEvent(event)
        if not any(editor.isVisibleTo(self) for editor in self._inline):
            self._name_button(self.width())

    def _name_button(self, width: int) -> None:
        """Show the button's name if it fits *width*, otherwise an ellipsis; Qt would clip the text."""
        self.more.setText(_MORE)
        if self.more.sizeHint().width() > width:
            self.more.setText(_MORE[-1])

    def least_width(self) -> int:
        """Return the width of the shortened button in pixels, 0 if the view has no options."""
        if not self._own:
            return 0
        text = self.more.text()
        self.more.setText(_MORE[-1])
        width = self.more.sizeHint().width()
        self.more.setText(text)
        return width

    def choice_width(self) -> int:
        """Return the width of "show as" in pixels, 0 if the view has no family."""
        return sum(_width(editor) for editor in self._inline if editor.option.name == SHOW_AS)

    def make_room(self, width: int) -> None:
        """Show the options that fit beside the button; "show as" fits if the button is shortened."""
        shown = 0
        choice = self.choice_width() + _BESIDE
        self._name_button(width - choice if self.least_width() + choice <= width else width)
        room = width - self.more.sizeHint().width() - _BESIDE
        for title, editor in zip(self._titles, self._inline, strict=True):
            named = isinstance(editor.editor, QDoubleSpinBox) or editor.option.name in _NAMED
            name = 0 if named else title.sizeHint().width()
            need = name + _width(editor)
            fits = shown == self._inline.index(editor) and room >= need
            room -= need
            shown += fits
            title.setVisible(fits and not named)
            if not fits and editor.editor.hasFocus():
                self.more.show()
                self.more.setFocus(Qt.FocusReason.OtherFocusReason)  # it has the option now
            editor.setVisible(fits)
        self.more.setVisible(shown < len(self._own))


def _one_of_the_study(option: Option) -> bool:
    """Return whether *option* takes one of the study's values: one N or one problem size, not a list."""
    return option.name == "size" or (option.name == "processors" and option.type == "int")


def known_values(name: str, data: StudyData) -> list[tuple[str, Any]]:
    """Return the study's values for ``processors`` or ``size`` (parameters as ``name=value``), as text and value."""
    table = data.table
    if table.empty or "processors" not in table.columns:
        return []
    if name == "processors":
        return [(str(int(n)), int(n)) for n in sorted(table["processors"].unique())]
    columns = [column for column in table.columns if str(column).startswith("param.")]
    if not columns:
        return []
    texts = []
    for row in table[columns].drop_duplicates().sort_values(columns).to_dict("records"):
        pairs = [f"{str(key).removeprefix('param.')}={_plain(value)}" for key, value in row.items() if value == value]
        texts.append(",".join(pairs))
    return [(text.replace(",", ", "), text) for text in texts[:_MOST_CHOICES]]


def metric_names(data: StudyData) -> list[str]:
    """Return the study's metrics by name: those of its measurement set, or time and its groups."""
    if data.imported is not None:
        return [metric.name for metric in data.imported[0].metrics]
    return ["time", *GROUPS]


def _plain(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _width(editor: OptionEditor) -> int:
    return max(96, editor.minimumSizeHint().width()) + 14


def _place(option: Option) -> int:
    """Return the position of *option* among the view's options."""
    return _FIRST.index(option.name) if option.name in _FIRST else len(_FIRST)
