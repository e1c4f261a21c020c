"""The line above the current study: its verdict in one sentence, and a message beside it if there is one."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame

from scalegraph.gui.base.banner import Banner
from scalegraph.gui.base.layouts import horizontal, vertical
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.widgets import button, label
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.state.selection import SelectionModel
from scalegraph.gui.study.choice_switch import ChoiceSwitch
from scalegraph.gui.study.headline import Headline
from scalegraph.gui.study.studies import StudyHandle
from scalegraph.gui.trace.handle import STOPPED, TraceHandle

_LONGEST_NAME: Final = 28
_AROUND_MESSAGE: Final = 6  # pixels above and below its buttons together
_OF_MESSAGE: Final = 0.45  # largest share of the width for a message beside the sentence


class Header(QFrame):
    """Shows a study's verdict and the selection."""

    def __init__(self, selection: SelectionModel) -> None:
        super().__init__()
        self.setProperty("role", "header")
        self.banner = Banner(folds=True)
        self.banner.width_wanted.connect(self._place_banner)
        self.verdict = Headline()
        self.chosen = button("", "Clear the selection (Esc)", "flat")
        self.chosen.clicked.connect(selection.clear)
        self._selection = selection
        self.estimated = label("estimated", "muted")
        self.choice = ChoiceSwitch()
        self._row = row = horizontal(margins=(0, 0, 8, 0))
        row.addWidget(self.verdict, 1)
        row.addWidget(self.estimated)
        row.addWidget(self.choice)
        row.addWidget(self.chosen)
        self._column = column = vertical(self, spacing=0)
        column.addLayout(row)
        self._place_banner(False)
        selection.changed.connect(tied(self, lambda _new: self._show_chosen()))
        self._show_chosen()

    def _place_banner(self, alone: bool) -> None:
        """Place a message beside the sentence, or below it if it needs more room."""
        if alone and self._row.indexOf(self.banner) >= 0:
            self._row.removeWidget(self.banner)
            self._column.addWidget(self.banner)
        elif not alone and self._row.indexOf(self.banner) < 0:
            self._column.removeWidget(self.banner)
            self._row.insertWidget(1, self.banner)

    def minimumSizeHint(self) -> QSize:
        """Qt: high enough for a message or a selection, so that nothing below moves when one comes."""
        hint = super().minimumSizeHint()
        return QSize(hint.width(), max(hint.height(), self.chosen.sizeHint().height() + _AROUND_MESSAGE))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: fit the message again."""
        super().resizeEvent(event)
        self.banner.set_room(round(_OF_MESSAGE * self.width()))

    def show_study(self, handle: Handle | None) -> None:
        """Show the verdict of *handle*, or that it is being read, unreadable or without runs."""
        self.choice.show_study(handle if isinstance(handle, StudyHandle) else None)
        data = handle.study() if isinstance(handle, StudyHandle) else None
        said = data.estimated() if data is not None else ""
        self.estimated.setVisible(bool(said))
        self.estimated.setToolTip(said)
        self.estimated.setAccessibleDescription(said)
        if handle is None:
            self.verdict.setText("")
        elif handle.error:
            stopped = handle.error == STOPPED
            self.verdict.setText(f"{handle.title}: {handle.error}" if stopped else f"{handle.title} cannot be read.")
            folded = handle.data() is not None  # otherwise no view needs the room
            if isinstance(handle, TraceHandle) and not (stopped or handle.partial or handle.lacking):
                way = handle.open_what_is_there
                self.banner.show_fault(handle.error, "Open the readable part", way, folded=folded)
                return
            self.banner.show_fault(handle.error, "Try again", handle.refresh, folded=folded)
        elif handle.data() is None:
            self.verdict.setText(f"Reading {handle.title}…")
        else:
            self.verdict.setText(handle.verdict())
            if isinstance(handle, TraceHandle):
                self._show_notes(handle)

    def _show_notes(self, handle: TraceHandle) -> None:
        """Show once per trace which parts of its file are converted, skipped or damaged."""
        trace = handle.trace()
        if trace is None or handle.notes_told:
            return
        handle.notes_told = True
        meta = trace.meta
        lines = [*meta.damage, *(note.words for note in meta.notes)]
        if meta.damage:
            self.banner.show_remark("The file is damaged; only part of it could be read.", details="\n".join(lines))
        elif len(lines) == 1:
            self.banner.show_remark(f"{lines[0][:1].upper()}{lines[0][1:].rstrip('.')}.")
        elif lines:
            self.banner.show_remark("Parts of this file were converted or skipped.", details="\n".join(lines))

    def _show_chosen(self) -> None:
        current = self._selection.current
        words = []
        if current.cell is not None:
            words.append(f"{current.cell[0]} → {current.cell[1]}")
        elif current.processors is not None:
            words.append(f"N = {current.processors}")
        if current.region is not None:
            words.append("1 region")
        if current.line is not None:
            words.append(f"line {current.line[1]}")
        if current.call_path is not None:
            words.append(_shortened(current.call_path.rpartition("->")[2]))
        if current.location is not None:
            words.append("1 location")
        if current.interval is not None:
            words.append("interval")
        if current.metric is not None:
            words.append(_shortened(current.metric))
        self.chosen.setToolTip("\n".join(part for part in (current.call_path, "Clear the selection (Esc)") if part))
        self.chosen.setText("  ".join([*words, "×"]))
        self.chosen.setVisible(bool(words))


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
