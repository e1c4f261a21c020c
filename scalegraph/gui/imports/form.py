"""The left side of the import page: how a table is read, and what a set's names mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QCompleter, QGridLayout, QHBoxLayout, QLabel, QWidget

from scalegraph.base.units import as_read
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.widgets import Field, Group, empty, label, mark
from scalegraph.gui.imports import roles
from scalegraph.gui.imports.roles import GUESSED
from scalegraph.gui.imports.state import NONE, ImportState
from scalegraph.gui.request.widgets import Choice, Entry
from scalegraph.measurements import guessing, rates
from scalegraph.measurements.runs import ALL

if TYPE_CHECKING:
    from scalegraph.gui.imports.work import Preview

_DELIMITERS: Final = ((";", "semicolon"), ("\t", "tab"), (",", "comma"), ("|", "bar"), (" ", "space"))
_UNITS: Final = ("s", "ms", "us", "ns", "min", "h")
_EXTENTS: Final = (
    ("exclusive", "exclusive: without the paths below"),
    ("inclusive", "inclusive: with the paths below"),
)
_SCALING: Final = (("strong", "the problem stays the same"), ("weak", "the problem grows with the processors"))
_MOST_COLUMNS: Final = 40  # with a field for their role
_MOST_PATHS: Final = 400  # in the list; others can be typed
_ALL_WORDS: Final = "all of them together"


class ImportForm(QWidget):
    """Shows guesses and takes corrections: *edited* carries part, key and value (``None``: guess again).

    For the part ``role`` the key is a column's title, and the value its name in the set and its role.
    """

    edited = Signal(str, str, object)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("page", True)
        self._fields: dict[str, Field] = {}
        self._roles: dict[str, Choice] = {}
        self._reasons: dict[str, QLabel] = {}
        self._sizes: dict[str, QCheckBox] = {}
        self.table = self._make_table()
        self.columns = Group("Columns", "What each column of the table is.")
        self._column_grid = QGridLayout()
        self._column_grid.setColumnStretch(0, 1)
        self._column_grid.setVerticalSpacing(3)
        self.columns.column.addLayout(self._column_grid)
        self.meaning = self._make_meaning()
        column = vertical(self, (10, 8, 6, 8), spacing=8)
        for group in (self.meaning, self.columns, self.table):
            column.addWidget(group)
        column.addStretch(1)

    # parts

    def _make_table(self) -> Group:
        group = Group("Table")
        self.delimiter = self._choice("table", "delimiter")
        self.decimal = self._choice("table", "decimal")
        self.header = Entry(GUESSED)
        self.header.editingFinished.connect(lambda: self._typed_header())
        self.names = Entry("column names, separated by commas")
        self.names.editingFinished.connect(lambda: self._typed_names())
        self.across = self._choice("table", "across")
        self._add(group, "delimiter", "Divided by", self.delimiter)
        self._add(group, "decimal", "Decimals", self.decimal)
        self._add(group, "header", "Line with the names", self.header, "number of the line, 0 if no line has names")
        self._add(group, "names", "Names", self.names)
        self._add(group, "across", "Columns go over", self.across, "what the numbers in the column headings are")
        return group

    def _make_meaning(self) -> Group:
        group = Group("Import mapping", "You can change every choice later.")
        self.processors = self._choice("meaning", "processors")
        self.time = self._choice("meaning", "time")
        self.rate = self._choice("meaning", "rate")
        self.unit = self._choice("meaning", "unit")
        self.total = QComboBox()
        self.total.setEditable(True)
        self.total.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.total.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.total.setMinimumContentsLength(12)
        completer = self.total.completer()
        if completer is not None:
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        self.total.activated.connect(lambda _index: self._typed_total())
        line = self.total.lineEdit()
        if line is not None:
            line.editingFinished.connect(self._typed_total)
        self.summed = QCheckBox("values are sums over the processors")
        self.summed.setToolTip("Elapsed time is then the value divided by the number of processors")
        self.summed.clicked.connect(lambda on: self.edited.emit("meaning", "summed", on))
        self.clock = Entry("cycles per second, as in 2.4e9")
        self.clock.editingFinished.connect(lambda: self._typed_clock())
        self.extent = self._choice("meaning", "extent")
        self.scaling = self._choice("meaning", "scaling")
        sizes = QWidget()
        column = vertical(sizes, (0, 3, 0, 0))
        self.sizes = Choice()  # if a parameter may be a size or a result
        self.sizes.setAccessibleName("Parameters that are sizes")
        self.sizes.chosen.connect(self._sizes_chosen)
        self._size_row = QHBoxLayout()
        column.addWidget(self.sizes)
        column.addLayout(self._size_row)
        self._add(group, "processors", "Processors", self.processors, "the parameter that counts processors")
        self._add(group, "time", "Elapsed time", self.time, "the metric that is the time from start to end")
        self._add(group, "rate", "or a rate", self.rate, "the metric of work per second: larger is better")
        self._add(group, "unit", "Unit of the time", self.unit)
        self._add(group, "clock_hz", "Clock", self.clock)
        self._add(group, "extent", "Values of call paths", self.extent, "whether they include the paths below")
        self._add(group, "total", "Whole program", self.total, "the call path that stands for the whole program")
        group.column.addWidget(self.summed)
        self._add(group, "scaling", "From N to N", self.scaling, "strong or weak scaling, if no size shows it")
        self._add(group, "sizes", "Problem size", sizes, "the parameters that make the problem larger")
        return group

    def _choice(self, part: str, key: str) -> Choice:
        made = Choice()
        made.chosen.connect(lambda value: self.edited.emit(part, key, value or None))
        return made

    def _add(self, group: Group, key: str, name: str, editor: QWidget, tip: str = "") -> None:
        field = Field(name, editor, (key,), tip)
        group.column.addWidget(field)
        self._fields[key] = field

    # display

    def show_preview(self, seen: Preview, state: ImportState) -> None:
        """Show a preview and the user's corrections."""
        self.table.setVisible(seen.guess is not None)
        self.columns.setVisible(seen.guess is not None and bool(seen.guess.columns))
        self.meaning.setVisible(seen.measured is not None)
        if seen.guess is not None:
            self._show_table(seen.guess, state)
            self._show_columns(seen.guess, seen.mapping if seen.measured is not None else None, state)
        if seen.measured is not None:
            self._show_meaning(seen, state)
        self._show_faults(seen.faults_by_field)

    def _show_table(self, guess: Any, state: ImportState) -> None:
        names = dict(_DELIMITERS)
        self.delimiter.offer([("", f"{GUESSED}: {names.get(guess.delimiter, guess.delimiter)}"), *_DELIMITERS])
        self.delimiter.show_value(state.get("table", "delimiter") or "")
        decimal = {".": "with a point", ",": "with a comma"}
        self.decimal.offer([("", f"{GUESSED}: {decimal[guess.decimal]}"), *decimal.items()])
        self.decimal.show_value(state.get("table", "decimal") or "")
        header = state.get("table", "header")
        self.header.setPlaceholderText(f"{GUESSED}: {guess.header or 'none has names'}")
        self.header.show_text("" if header is None else str(header))
        self.names.show_text(", ".join(state.get("table", "names") or ()))
        self._fields["names"].setVisible(not guess.header or bool(state.get("table", "names")))
        wide = bool(guess.of("wide")) or any(q.key == "across" for q in guess.questions)
        self._fields["across"].setVisible(wide)
        known = (
            *(("processors", "processors"), ("n", "sizes n"), ("repetition", "repetitions")),
            *(("variant", "variants of the program"), ("none", "nothing: separate columns")),
        )
        self.across.offer([("", f"{GUESSED}: {guess.across or 'not sure'}"), *known])
        self.across.show_value(state.get("table", "across") or "")

    def _show_columns(self, guess: Any, mapping: Any, state: ImportState) -> None:
        shown = guess.columns[:_MOST_COLUMNS]
        titles = [roles.title_of(column) for column in shown]
        if list(self._roles) != titles:
            empty(self._column_grid)
            self._roles.clear()
            self._reasons.clear()
            for row, column in enumerate(shown):
                self._add_column(2 * row, column)
            if len(guess.columns) > len(shown):
                more = label(f"and {len(guess.columns) - len(shown)} more columns, as guessed", "muted")
                self._column_grid.addWidget(more, 2 * len(shown), 0, 1, 2)
        asked = {question.key.removeprefix("columns.") for question in guess.questions}
        for title, column in zip(titles, shown, strict=True):
            said = state.role(title, column.name)
            guessed = roles.words_of(column, mapping)
            choice, why = self._roles[title], self._reasons[title]
            first = GUESSED if said is not None else f"{guessed} ?" if title in asked else guessed
            choice.offer([("", first), *roles.ROLES])
            choice.setItemText(0, first)
            choice.show_value(said or "")
            choice.setToolTip(roles.reason(column))
            why.setText(roles.reason(column) if said is None else "")
            why.setVisible(bool(why.text()))
            mark(why, "role", "fault" if title in asked else "muted")

    def _add_column(self, row: int, column: Any) -> None:
        title, name = roles.title_of(column), column.name
        choice = Choice()
        choice.setAccessibleName(f"Role of column {title}")
        choice.chosen.connect(lambda value: self.edited.emit("role", title, (name, value or None)))
        why = label("", "muted", wrap=True)
        why.setAccessibleName(f"Reason for column {title}")
        self._column_grid.addWidget(label(title), row, 0)
        self._column_grid.addWidget(choice, row, 1)
        self._column_grid.addWidget(why, row + 1, 0, 1, 2)
        self._roles[title], self._reasons[title] = choice, why

    def _show_meaning(self, seen: Preview, state: ImportState) -> None:
        measured, mapping = seen.measured, seen.mapping
        assert measured is not None
        parameters, metrics = list(measured.parameters), [metric.name for metric in measured.metrics]
        asked = {question.key: question.choices for question in seen.questions}
        wanted = {
            question.key: f"choose … (guess: {question.guess})" if question.guess else "choose …"
            for question in seen.questions
        }
        for key, choice, guessed, names in (
            ("processors", self.processors, mapping.processors, parameters),
            ("time", self.time, mapping.time, metrics),
            ("unit", self.unit, mapping.unit, list(_UNITS)),
        ):
            likely = [name for name in asked.get(key, ()) if name in names or key == "processors"]
            ordered = [*likely, *(name for name in names if name not in likely)]
            self._offer(
                choice, guessed, ordered, state.get("meaning", key), wanted=wanted.get(key, ""), absent=key != "unit"
            )
        rated = state.get("meaning", "rate")
        self._fields["rate"].setVisible(bool(metrics))
        self.rate.offer([("", f"{GUESSED}: none" if rated is None else GUESSED), *((name, name) for name in metrics)])
        self.rate.show_value(rated or "")
        self._fields["unit"].setVisible(bool(mapping.time) and mapping.time != rates.TIME)
        self._fields["clock_hz"].setVisible("clock_hz" in asked or mapping.clock_hz is not None)
        if not self.clock.hasFocus():
            self.clock.setText("" if mapping.clock_hz is None else as_read(mapping.clock_hz))
        extent = state.get("meaning", "extent")
        self._fields["extent"].setVisible("extent" in asked or extent is not None)
        first = wanted.get("extent", "choose …") if extent is None else GUESSED
        self.extent.offer([("", first), *_EXTENTS])
        self.extent.setItemText(0, first)
        self.extent.show_value(extent or "")
        self._show_total(seen, state)
        self.summed.setChecked(mapping.summed)
        self.summed.setVisible(bool(mapping.time and mapping.processors))
        words = dict(_SCALING)
        first = wanted.get("scaling") or f"{GUESSED}: {words.get(mapping.scaling, 'as the sizes tell')}"
        self.scaling.offer([("", first), *_SCALING])
        self.scaling.setItemText(0, first)
        self.scaling.show_value(state.get("meaning", "scaling") or "")
        self.sizes.setVisible("sizes" in asked)
        words = {
            each: "none: results of the runs" if each == guessing.NONE else each for each in asked.get("sizes", ())
        }
        self.sizes.offer([("", "choose …"), *words.items()])
        self.sizes.show_value("")
        self._show_sizes([name for name in parameters if name != mapping.processors], mapping.sizes)

    def _offer(
        self, choice: Choice, guessed: str, names: Sequence[str], said: str | None, *, wanted: str, absent: bool
    ) -> None:
        """Offer the guess, or a prompt if there is none; every name; and "none"."""
        first = GUESSED if said is not None else wanted or f"{GUESSED}: {guessed or 'none'}"
        items = [("", first), *((name, name) for name in names)]
        choice.offer([*items, (NONE, "none")] if absent else items)
        choice.setItemText(0, first)
        choice.show_value(said or "")

    def _show_total(self, seen: Preview, state: ImportState) -> None:
        measured, mapping = seen.measured, seen.mapping
        assert measured is not None
        paths = measured.paths
        self._fields["total"].setVisible(len(paths) > 1)
        line = self.total.lineEdit()
        if line is not None and line.hasFocus() and state.get("meaning", "total") is None:
            return
        roots = [paths[index] for index in measured.roots()]
        several = [_ALL_WORDS] if len(roots) > 1 else []
        names = list(dict.fromkeys([*several, *roots[:_MOST_PATHS], *paths[:_MOST_PATHS]]))
        if [self.total.itemText(i) for i in range(self.total.count())] != names:
            self.total.clear()
            self.total.addItems(names)
        shown = _ALL_WORDS if mapping.total == ALL else mapping.total
        self.total.setCurrentIndex(self.total.findText(shown))
        self.total.setEditText(shown)
        if line is not None:
            line.setPlaceholderText("type a part of its name")

    def _show_sizes(self, names: Sequence[str], sizes: Sequence[str]) -> None:
        self._fields["sizes"].setVisible(bool(names))
        if list(self._sizes) != list(names):
            empty(self._size_row)
            self._sizes.clear()
            for name in names:
                box = QCheckBox(name)
                box.clicked.connect(self._size_clicked)
                self._size_row.addWidget(box)
                self._sizes[name] = box
            self._size_row.addStretch(1)
        for name, box in self._sizes.items():
            box.setChecked(name in sizes)
            box.setVisible(self.sizes.isHidden())

    def _show_faults(self, faults: Mapping[str, str]) -> None:
        for key, field in self._fields.items():
            field.show_fault(faults.get(key, ""))

    def fault_of(self, key: str) -> str:
        """Return the error shown at a field."""
        return self._fields[key].fault.text()

    # user input

    def _typed_header(self) -> None:
        text = self.header.text().strip()
        self.edited.emit("table", "header", int(text) if text.isdecimal() else None)

    def _typed_clock(self) -> None:
        try:
            value = float(self.clock.text())
        except ValueError:
            value = 0.0
        self.edited.emit("meaning", "clock_hz", value if 0 < value < float("inf") else None)

    def _typed_names(self) -> None:
        names = tuple(part.strip() for part in self.names.text().split(",") if part.strip())
        self.edited.emit("table", "names", names or None)

    def _typed_total(self) -> None:
        text = self.total.currentText().strip()
        self.edited.emit("meaning", "total", (ALL if text == _ALL_WORDS else text) or None)

    def _sizes_chosen(self, value: str) -> None:
        if value:
            self.edited.emit("meaning", "sizes", () if value == guessing.NONE else tuple(value.split(",")))

    def _size_clicked(self, _on: bool) -> None:
        chosen = tuple(name for name, box in self._sizes.items() if box.isChecked())
        self.edited.emit("meaning", "sizes", chosen)
