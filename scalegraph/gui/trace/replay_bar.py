"""The replay controls above a trace's views: play, step, slider, speed, loop, position; and bookmarks."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QSizePolicy,
    QSlider,
    QStyle,
    QToolButton,
    QWidget,
)
from shiboken6 import isValid

from scalegraph.base.units import plain, si
from scalegraph.gui.base.icons import icon
from scalegraph.gui.base.layouts import horizontal
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.state.replay_state import FASTER, USUAL_SECONDS, speed_words, usual_speed
from scalegraph.gui.state.selection import Selection, SelectionModel
from scalegraph.gui.trace.bookmark_list import BookmarkList
from scalegraph.gui.trace.commands import interval_of, jump, perform
from scalegraph.gui.trace.handle import TraceHandle

_STEPS: Final = 10_000  # positions of the slider
_SPEED_FROM, _MOMENT_FROM = 640, 460  # pixels of width
_ICONS: Final = {"step_back": "step_back", "play": "run", "step_on": "step_on", "loop": "loop", "bookmarks": "bookmark"}
_TIPS: Final = {
    "step_back": "Previous change of any location (,)",
    "play": "Play the run, or the selected interval: a line moves through all views over time (Space)",
    "step_on": "Next change of any location (.)",
    "loop": "Loop at the end (L)",
    "bookmarks": "Bookmarks of this trace: go to, name, delete, export (Shift+B); B sets one",
}


class ReplayBar(QWidget):
    """Controls the replay and the bookmarks of one trace."""

    now_wanted = Signal()  # open the view of the replay's moment

    def __init__(self, selection: SelectionModel, theme: Theme) -> None:
        super().__init__()
        self._selection, self._theme = selection, theme
        self._trace: TraceHandle | None = None
        self._list = BookmarkList(self)
        self._list.jump_wanted.connect(self._jump)
        self._sliding = self._was_shown = False
        self._toggle: QAbstractButton | None = None  # shows the bar; without a toggle the bar is always visible
        self.buttons = {name: self._button(name) for name in _ICONS}
        self.buttons["loop"].setCheckable(True)
        self.slider = _Slider()
        self.slider.valueChanged.connect(self._slid)
        self.slider.sliderPressed.connect(lambda: self._do("drag_replay"))
        self.slider.sliderReleased.connect(lambda: self._do("drop_replay"))
        self.moment = QLabel()
        self.moment.setAccessibleName("Moment of the replay")
        self.moment.setToolTip("Position of the replay, from the start of the run")
        self.moment.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.speed = QComboBox()
        self.speed.setAccessibleName("Speed of the replay")
        self.speed.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.speed.setMinimumContentsLength(len("Usual: 500 µs per second"))
        self.speed.activated.connect(self._choose_speed)
        self.now = QToolButton()
        self.now.setText("Now")
        self.now.setToolTip("Open the view of this moment: what every location does, and whom it waits for")
        self.now.clicked.connect(self.now_wanted)
        self.end = QToolButton()
        self.end.setText("✕")
        self.end.setToolTip("End the replay and remove its line")
        self.end.setAccessibleName("End the replay")
        self.end.clicked.connect(lambda: self._do("end_replay"))
        row = horizontal(self, (8, 0, 8, 3), spacing=4)
        for name in ("step_back", "play", "step_on"):
            row.addWidget(self.buttons[name])
        row.addWidget(self.slider, 1)
        for widget in (self.moment, self.speed, self.buttons["loop"], self.now, self.end):
            row.addWidget(widget)
        row.addSpacing(8)
        row.addWidget(self.buttons["bookmarks"])
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        selection.changed.connect(self._follow)
        theme.changed.connect(tied(self, lambda _name: self._dress()))
        self._dress()
        self.hide()

    def _button(self, name: str) -> QToolButton:
        made = QToolButton()
        made.setToolTip(_TIPS[name])
        made.setAccessibleName(_TIPS[name])
        made.setIconSize(QSize(16, 16))
        made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        made.clicked.connect(lambda _checked=False: self._do(name))
        return made

    @property
    def bookmarks(self) -> BookmarkList:
        """The list of bookmarks opened by the button."""
        return self._list

    def show_trace(self, trace: TraceHandle | None) -> None:
        """Control the replay of *trace*; hide the bar if None."""
        before, self._trace = self._trace, trace
        if before is not None and before is not trace and isValid(before):
            before.replay.pause()
            before.replay.moved.disconnect(self._show_moment)
            before.replay.changed.disconnect(self._show_replay)
            before.bookmarks.changed.disconnect(self._show_bookmarks)
            before.bookmarks.list_wanted.disconnect(self._open_list)
        self._fold()
        self._list.show_trace(trace)
        if trace is None or trace is before:
            return
        trace.replay.moved.connect(self._show_moment)
        trace.replay.changed.connect(self._show_replay)
        trace.bookmarks.changed.connect(self._show_bookmarks)
        trace.bookmarks.list_wanted.connect(self._open_list)
        self._follow(self._selection.current)
        self._show_replay()
        self._show_bookmarks()

    def fold_with(self, toggle: QAbstractButton) -> None:
        """Show the bar only while *toggle* is checked; starting a replay checks it."""
        self._toggle = toggle
        toggle.toggled.connect(self._fold)
        self._fold()

    def _fold(self, _on: bool = False) -> None:
        self.setVisible(self._trace is not None and (self._toggle is None or self._toggle.isChecked()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: keep the slider and the buttons when space is short."""
        super().resizeEvent(event)
        width = event.size().width()
        self.speed.setVisible(width >= _SPEED_FROM)
        self.moment.setVisible(width >= _MOMENT_FROM)
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        self.buttons["bookmarks"].setToolButtonStyle(
            style if width >= _SPEED_FROM else Qt.ToolButtonStyle.ToolButtonIconOnly
        )

    # user actions

    def _do(self, command: str) -> None:
        if self._trace is not None:
            perform(self._trace, self._selection, command)
            self._show_replay()

    def _slid(self, value: int) -> None:
        if self._trace is not None and not self._sliding:
            self._trace.replay.seek(self._trace.replay.state.at_share(value / _STEPS))

    def _choose_speed(self, index: int) -> None:
        if self._trace is not None:
            self._trace.replay.set_speed(self.speed.itemData(index))

    def _jump(self, bookmark: object) -> None:
        from scalegraph.gui.state.bookmark_store import Bookmark

        if self._trace is not None and isinstance(bookmark, Bookmark):
            jump(self._trace, self._selection, bookmark)

    def _open_list(self) -> None:
        if self._toggle is not None:
            self._toggle.setChecked(True)
        button = self.buttons["bookmarks"]
        self._list.open_below(button.mapToGlobal(button.rect().bottomRight()))

    # display

    def _follow(self, _selection: Selection) -> None:
        """Play the selected interval, or the whole run."""
        trace = self._trace
        if trace is None or trace.data() is None:
            return
        ticks = interval_of(trace, self._selection)
        trace.replay.set_interval(None if ticks is None else (trace.seconds(ticks[0]), trace.seconds(ticks[1])))

    def _show_moment(self, now: float) -> None:
        if self._trace is None:
            return
        from scalegraph.figures.timelines import time_text

        state = self._trace.replay.state
        self._sliding = True
        self.slider.setValue(round(_STEPS * state.share()))
        self._sliding = False
        shown = self._trace.replay.shown
        finest = max(1 / self._trace.marks.ticks_per_second, self._trace.window.width / 20_000)
        widest = time_text(state.end, finest)
        self.moment.setMinimumWidth(self.fontMetrics().horizontalAdvance(f"{widest}0"))  # so the slider does not jump
        self.moment.setText(time_text(now, finest) if shown else "")

    def _show_replay(self) -> None:
        trace = self._trace
        if trace is None:
            return
        replay = trace.replay
        self._dress()
        if replay.shown and self._toggle is not None and not self._was_shown:
            self._toggle.setChecked(True)
        self._was_shown = replay.shown
        self.buttons["loop"].setChecked(replay.state.loop)
        self.end.setVisible(replay.shown)
        part = (replay.state.begin, replay.state.end) != (0.0, trace.window.length)
        over = f"the selected interval of {si(replay.state.length, 's', 4)}" if part else "the run"
        self.slider.setToolTip(f"Moment of the replay, over {over}")
        self.slider.setAccessibleName(f"Moment of the replay, over {over}")
        self._offer_speeds()
        self._show_moment(replay.now)

    def _offer_speeds(self) -> None:
        assert self._trace is not None
        replay = self._trace.replay
        usual = usual_speed(self._trace.window.width)
        chosen = replay.chosen_speed
        speeds = sorted({*(float(f"{usual * factor:.2g}") for factor in FASTER), *((chosen,) if chosen else ())})
        wanted = [(f"Usual: {speed_words(usual)}", None), *((speed_words(speed), speed) for speed in speeds)]
        if 1.0 not in speeds:
            wanted.append((speed_words(1.0), 1.0))
        if [(self.speed.itemText(row), self.speed.itemData(row)) for row in range(self.speed.count())] != wanted:
            self.speed.clear()
            for text, speed in wanted:
                self.speed.addItem(text, speed)
        self.speed.setCurrentIndex(next(row for row, (_text, speed) in enumerate(wanted) if speed == chosen))
        self.speed.setToolTip(
            f"Speed: {speed_words(replay.speed)}, {si(replay.speed, '', 2)} of real time."
            f" Usual: the visible time plays in about {plain(USUAL_SECONDS)} s"
        )

    def _show_bookmarks(self) -> None:
        if self._trace is not None:
            count = len(self._trace.bookmarks.all)
            self.buttons["bookmarks"].setText(f"Bookmarks ({count})" if count else "Bookmarks")

    def _dress(self) -> None:
        paper = self._theme.paper
        playing = self._trace is not None and self._trace.replay.playing
        for name, which in _ICONS.items():
            drawn = "pause" if name == "play" and playing else which
            self.buttons[name].setIcon(icon(drawn, paper.text, paper.line))


class _Slider(QSlider):
    """A slider that jumps to where it is clicked."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setRange(0, _STEPS)
        self.setPageStep(_STEPS // 20)
        self.setSingleStep(_STEPS // 200)
        self.setMinimumWidth(80)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: jump to the click, then drag from there."""
        if event.button() == Qt.MouseButton.LeftButton:
            where = QStyle.sliderValueFromPosition(0, _STEPS, round(event.position().x()), self.width())
            self.setValue(where)
        super().mousePressEvent(event)
