"""All open questions of the import page with their guesses, answered together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout

from scalegraph.gui.base.widgets import Group, button, empty, label
from scalegraph.gui.imports import roles
from scalegraph.gui.request.widgets import Choice
from scalegraph.measurements.runs import ALL

if TYPE_CHECKING:
    from scalegraph.measurements.mapping import Question

_WORDS: Final = {
    "scaling": {"strong": "the problem stays the same", "weak": "the problem grows with the processors"},
    "extent": {"exclusive": "leave out what is below", "inclusive": "hold what is below"},
    "sizes": {"none": "none: results of the runs"},
    "total": {ALL: "all of them together"},
    "columns": roles.WORDS,
    "decimal": {".": "a decimal point", ",": "a decimal comma"},
    "across": {
        "processors": "numbers of processors",
        "repetition": "repetitions of one measurement",
        "variant": "variants of the program",
        "none": "separate times",
    },
}


class QuestionPanel(Group):
    """Lists the open questions with a choice for each; *answered* carries the choices by question key."""

    answered = Signal(dict)

    def __init__(self) -> None:
        super().__init__("Is this right?")
        self._shown: list[tuple[str, str]] = []
        self.choices: dict[str, Choice] = {}
        self._grid = QGridLayout()
        self._grid.setColumnStretch(0, 3)
        self._grid.setColumnStretch(1, 2)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(6)
        self.confirm = button("Confirm", "Apply all answers above as one undoable step", "primary")
        self.confirm.clicked.connect(self.answer)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.confirm)
        self.column.addLayout(self._grid)
        self.column.addLayout(row)
        self.hide()

    def ask(self, questions: Sequence[Question]) -> None:
        """Show *questions*, if every one of them has choices; otherwise hide the panel."""
        points = [(one.key, one.message) for one in questions]
        self.setVisible(bool(questions) and all(one.choices and one.key != "columns" for one in questions))
        if points == self._shown or self.isHidden():
            return
        self._shown = points
        empty(self._grid)
        self.choices.clear()
        for row, one in enumerate(questions):
            self._add(row, one)

    def _add(self, row: int, question: Question) -> None:
        choice = Choice()
        words = _WORDS.get(question.key.partition(".")[0], {})
        choice.offer([(value, words.get(value, value)) for value in question.choices])
        choice.setCurrentIndex(0)
        choice.setAccessibleName(question.message)
        message = f"{question.message[:1].upper()}{question.message[1:]}."
        why = f" Guess: {words.get(question.guess, question.guess)} {question.because}." if question.because else ""
        self._grid.addWidget(label(f"{message}{why}", wrap=True), row, 0)
        self._grid.addWidget(choice, row, 1)
        self.choices[question.key] = choice

    def answer(self) -> None:
        """Emit the chosen answers to all questions."""
        self.answered.emit({key: choice.currentData() for key, choice in self.choices.items()})
