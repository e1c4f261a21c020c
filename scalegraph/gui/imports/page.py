"""The page between a measurement file and a study: what was found, open questions, the resulting runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QCursor, QResizeEvent, QUndoStack
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QProgressBar,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from scalegraph.figures.figure import Column, Table
from scalegraph.gui.base.banner import Banner
from scalegraph.gui.base.edit_model import EditModel
from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.base.layouts import horizontal, vertical
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.widgets import button, label
from scalegraph.gui.imports import roles
from scalegraph.gui.imports.form import ImportForm
from scalegraph.gui.imports.question import QuestionPanel
from scalegraph.gui.imports.state import ImportState, skipped_words, without_options
from scalegraph.gui.imports.work import Preview, Source, placed, preview_of

_FORM: Final = 400
_MOST_NOTES: Final = 3
_LOW: Final = 600  # pixels of height below which an open question leaves no room for the form
_NOTHING: Final = Table((Column(""),), ())


class ImportPage(QWidget):
    """Previews one source at a time. *accepted* carries it and its preview once it is to become a study."""

    accepted = Signal(object, object)  # Source, Preview
    left = Signal(object)  # Source
    refused = Signal(str)  # a file that cannot be read, and why
    undo_changed = Signal()

    def __init__(self, jobs: Jobs, theme: Theme, form: ImportForm | None = None) -> None:
        super().__init__()
        self._jobs, self._theme = jobs, theme
        self._source: Source | None = None
        self._latest: Preview | None = None
        self._eager = False
        self._reading = False
        self._asked: Callable[[], None] = lambda: None
        self._reads = Latest(jobs, "reading measurements", self)
        self.model: EditModel[ImportState] = EditModel(ImportState(), self)
        self.model.changed.connect(lambda _state: self._read())
        self.model.undo_stack.indexChanged.connect(self._walked)
        self.banner = Banner()
        self._title = label("Open measurements", "title")
        self._words = label("", "muted", wrap=True)
        self._skipped = label("", "muted", wrap=True)
        self._notes = label("", "muted", wrap=True)
        self._notes.setAccessibleName("Assumptions")
        self.form = form or ImportForm()
        self.form.edited.connect(self._edited)
        self._lay()
        self._theme.changed.connect(self._dress)

    def _lay(self) -> None:
        from scalegraph.gui.figures.table.panel import TablePanel

        self.rows = TablePanel(_NOTHING, self._theme.name, searchable=False)
        self.rows.setAccessibleName("First rows")
        self.rows.setToolTip("Click a heading or a cell to set its role")
        self.rows.tree.choose_columns()
        self.rows.tree.column_clicked.connect(self.show_roles)
        self.rows.tree.cell_clicked.connect(self.show_cell)
        self.runs = TablePanel(_NOTHING, self._theme.name, searchable=False)
        self.runs.setAccessibleName("Resulting runs")
        self._runs_words = label("", "sentence", wrap=True)
        self._runs_words.setAccessibleName("Result")
        self._questions = label("", "fault", wrap=True)
        self._questions.setAccessibleName("Open questions")
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setMinimumWidth(_FORM)
        self._form_area = area
        self.question = QuestionPanel()
        self.question.answered.connect(self._answered)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setChildrenCollapsible(False)
        split.addWidget(_titled("First rows", self.rows))
        self._result = _titled("Resulting runs", self._runs_words, self.runs)
        self._result.layout().addStretch(0)  # type: ignore[union-attr]
        split.addWidget(self._result)
        split.setSizes([240, 300])
        self._split = split
        column = vertical(self, (16, 12, 16, 12), spacing=6)
        for widget in (
            self._title,
            self.banner,
            self._words,
            self._skipped,
            self._notes,
            self._questions,
            self.question,
        ):
            column.addWidget(widget)
        self._parts = QStackedWidget()
        column.addWidget(self._parts, 1)
        # put containers in place before adding to them: Qt restyles their content whenever they move
        whole = QWidget()
        self._parts.addWidget(self._make_waiting())
        self._parts.addWidget(whole)
        middle = horizontal(whole)
        middle.addWidget(area, 2)
        area.setWidget(self.form)
        middle.addWidget(split, 3)
        column.addLayout(self._make_footer())

    def _make_waiting(self) -> QWidget:
        made = QWidget()
        column = QVBoxLayout(made)
        self._waiting = label("", "muted")
        self._waiting.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addStretch(1)
        column.addWidget(self._waiting)
        column.addStretch(1)
        return made

    def _make_footer(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.bar = QProgressBar()
        self.bar.setRange(0, 100)
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(6)
        self.bar.setAccessibleName("Progress of reading")
        self.cancel = button("Cancel", "Cancel the import (Esc)")
        self.cancel.clicked.connect(self.leave)
        self.open = button("Open", "Create the study and open it (Ctrl+Return)", "primary")
        self.open.clicked.connect(self.accept)
        row.addWidget(self.bar, 1)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.open)
        self.bar.hide()
        return row

    # called by the rest of the window

    @property
    def undo_stack(self) -> QUndoStack:
        """The undo stack of corrections."""
        return self.model.undo_stack

    @property
    def source(self) -> Source | None:
        """The previewed source."""
        return self._source

    @property
    def latest(self) -> Preview | None:
        """The latest preview."""
        return self._latest

    @property
    def can_accept(self) -> bool:
        """Whether a study can be made now."""
        return self._latest is not None and self._latest.ready and not self._reading

    def show_source(self, source: Source, state: ImportState, *, eager: bool, asked: Callable[[], None]) -> None:
        """Preview *source*. *eager*: accept it automatically if there are no questions, otherwise call *asked*."""
        self._source, self._latest, self._eager, self._asked = source, None, eager, asked
        self.banner.clear()
        self._title.setText(f"Import mapping of {source.title}" if source.study else f"Open {source.title}")
        self.open.setText("Apply" if source.study else "Open")
        for text in (self._words, self._skipped, self._notes, self._questions, self.question):
            text.hide()
        self._waiting.setText(f"Reading {source.title} …")
        self._parts.setCurrentIndex(0)
        self.open.setEnabled(False)
        self.model.reset(state)

    def accept(self) -> None:
        """Make a study of the preview, if possible."""
        if self.can_accept and self._source is not None:
            self.open.setEnabled(False)
            self.accepted.emit(self._source, self._latest)

    def _answered(self, answers: dict[str, str]) -> None:
        """Apply the *answers* to all open questions as one undoable step."""
        state = self.model.state
        for question, value in answers.items():
            state = state.said(*placed(question, value))
        self.model.set(state, "answers")

    def show_roles(self, column: int) -> QMenu | None:
        """Show a menu of roles below a column's heading; a click sets the column's role."""
        made = self._roles_menu(column)
        if made is not None:
            header = self.rows.tree.header()
            made.popup(header.mapToGlobal(QPoint(header.sectionViewportPosition(column), header.height())))
        return made

    def show_cell(self, row: int, column: int) -> QMenu | None:
        """Show a menu at the pointer for a cell of the first rows: mark it empty, skip its row, or set its role."""
        made = self._roles_menu(column)
        guess = self._latest.guess if self._latest is not None else None
        if made is None or guess is None or row >= len(guess.lines):
            return made
        line, title = guess.lines[row], roles.title_of(guess.columns[column])
        keys = {"none": f"{line}:{title}", "skip": str(line)}
        marked = {role for role, key in keys.items() if self.model.state.get("cells", key) == role}

        def choose(role: str) -> None:
            if role == "header":
                self._edited("table", "header", line)
            else:
                self._edited("cells", keys[role], None if role in marked else role)

        cells = guess.preview[row]
        roles.add_cell(made, line, cells[column] if column < len(cells) else "", marked, choose)
        made.popup(QCursor.pos())
        return made

    def _roles_menu(self, column: int) -> QMenu | None:
        guess = self._latest.guess if self._latest is not None else None
        if guess is None or column >= len(guess.columns):
            return None
        assert self._latest is not None
        chosen, mapping = guess.columns[column], self._latest.mapping
        title = roles.title_of(chosen)
        made = roles.menu(
            chosen, mapping, self.model.state, lambda role: self._edited("role", title, (chosen.name, role)), self
        )
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return made

    def leave(self) -> None:
        """Stop reading and leave the page."""
        self.stop()
        source, self._source = self._source, None
        if source is not None:
            self.left.emit(source)

    def stop(self) -> None:
        """Cancel reading."""
        self._reads.stop()
        self.bar.hide()

    def done(self) -> None:
        """Clear the page after the study has been made."""
        self._source = self._latest = None
        self.bar.hide()

    def fail(self, sentence: str) -> None:
        """Show why no study could be made."""
        self.banner.show_fault(sentence)
        self.open.setEnabled(self.can_accept)

    def busy(self, text: str) -> None:
        """Show the work in progress."""
        self._waiting.setText(text)
        self.show_progress(0.0)

    def show_progress(self, share: float) -> None:
        """Show the fraction done."""
        self.bar.show()
        self.bar.setValue(round(100 * share))

    # looking

    def _walked(self, _index: int) -> None:
        self.undo_changed.emit()

    def _edited(self, part: str, key: str, value: object) -> None:
        if part == "role":
            chosen: Any = value
            self.model.set(self.model.state.with_role(key, chosen[0], chosen[1]), f"role of {key}")
            return
        self.model.set(self.model.state.said(part, key, value), key)

    def _read(self) -> None:
        source, state = self._source, self.model.state
        if source is None:
            return
        self._reading = True
        self.open.setEnabled(False)
        self.show_progress(0.0)

        def work(reporter: Reporter) -> Preview:
            return preview_of(source, state, reporter.token, lambda share: reporter.send((source, share)))

        self._reads.ask(work, self._show, self._failed, said=self._progress)

    def _progress(self, told: Any) -> None:
        source, share = told
        if source is self._source:
            self.show_progress(share)

    def _show(self, seen: Preview) -> None:
        if self._source is None:
            return
        self._latest, self._reading = seen, False
        self.bar.hide()
        if self._eager and seen.ready:
            self._eager = False
            self.accepted.emit(self._source, seen)
            return
        if self._eager:
            self._eager = False
            self._asked()
        self.banner.clear()
        self._say(seen)
        self.form.show_preview(seen, self.model.state)
        self.rows.set_table(seen.rows, seen.heads, seen.bad_cells)
        self.runs.set_table(seen.runs)
        self.runs.setVisible(bool(seen.runs.rows))
        self._runs_words.setText(seen.runs_words)
        self._result.setVisible(bool(seen.runs.rows or seen.runs_words))
        self._fit()
        self._parts.setCurrentIndex(1)
        self.open.setEnabled(self.can_accept)

    def _fit(self) -> None:
        """In a low window an open question takes the place of the form, and both tables stand side by side."""
        seen = self._latest
        low = seen is not None and seen.listed and self.height() < _LOW
        self._split.setOrientation(Qt.Orientation.Horizontal if low else Qt.Orientation.Vertical)
        self._form_area.setVisible(not low and seen is not None and (seen.guess or seen.measured) is not None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: fit the parts to the window's height."""
        super().resizeEvent(event)
        self._fit()

    def _say(self, seen: Preview) -> None:
        self._words.setText(seen.words)
        open_ = any(question.key.startswith("columns") for question in seen.questions)  # instead of remarks
        sentence, details = skipped_words(seen.measured) if seen.measured is not None and not open_ else ("", "")
        self._skipped.setText(sentence)
        self._skipped.setToolTip(details)
        self._questions.setText("\n".join(seen.open_questions))
        notes = [without_options(note) for note in dict.fromkeys(seen.notes)]
        more = f" And {len(notes) - _MOST_NOTES} more remarks." if len(notes) > _MOST_NOTES else ""
        self._notes.setText(" ".join(f"{note[:1].upper()}{note[1:]}." for note in notes[:_MOST_NOTES]) + more)
        self._notes.setToolTip("\n".join(notes))
        for text in (self._words, self._skipped, self._notes, self._questions):
            text.setVisible(bool(text.text()))
        self.question.ask(seen.questions)

    def _failed(self, error: Exception) -> None:
        self.bar.hide()
        self._latest, self._reading = None, False
        source = self._source
        if self._eager and source is not None:
            self._eager = False
            self._source = None
            self.refused.emit(str(error))
            self.left.emit(source)
            return
        self.banner.show_fault(str(error))
        self._waiting.setText("")

    def _dress(self, name: str) -> None:
        for panel in (self.rows, self.runs):
            panel.set_theme(name)


def _titled(title: str, *widgets: QWidget) -> QWidget:
    made = QWidget()
    column = vertical(made, spacing=4)
    column.addWidget(label(title, "heading"))
    for widget in widgets[:-1]:
        column.addWidget(widget)
    column.addWidget(widgets[-1], 1)
    return made
