"""The line above a study: answer, place and messages in one line, everything reachable."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from scalegraph.gui.base.theme import Theme
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.state.selection import SelectionModel
from scalegraph.gui.study.header import Header
from scalegraph.gui.study.headline import Headline, one_line

VERDICT = (
    "Billiard balls on KSR-1, 1 to 64 processors, fixed size: fastest at 32; beyond 32, added time for locks and"
    " critical sections outweighs the extra processors. On 64 processors 47 % of the loss is locks and critical"
    " sections in add_time_to_queue (billiard.c:112)."
)


def shown(qtbot: Any, width: int, text: str) -> Headline:
    Theme("light").apply()
    headline = Headline()
    qtbot.addWidget(headline)
    headline.resize(width, 60)
    headline.setText(text)
    headline.show()
    return headline


@pytest.mark.parametrize("width", [300, 500, 3000])
def test_the_headline_takes_one_line(qtbot: Any, width: int) -> None:
    text = "The program is fastest on 32 processors; beyond them it waits at barriers for serial code. " * 3
    headline = shown(qtbot, width, text)
    said = headline.text()
    assert headline.sizeHint().height() < 2 * headline.fontMetrics().lineSpacing()
    assert headline.fontMetrics().horizontalAdvance(said) <= width - 20
    assert said == text or (said.endswith("…") and text.startswith(said[:-1]))
    assert headline.toolTip() == ("" if said == text else text)
    assert headline.accessibleDescription() == text


@pytest.mark.parametrize(
    ("width", "begin"),
    [
        (3000, VERDICT),
        (1100, "…fastest at 32"),
        (500, "…fastest at 32"),
    ],
)
def test_the_headline_names_answer_and_place(qtbot: Any, width: int, begin: str) -> None:
    headline = shown(qtbot, width, VERDICT)
    assert headline.text().startswith(begin)
    assert headline.text().endswith("add_time_to_queue (billiard.c:112).")
    assert 'href="billiard.c:112"' in QLabel.text(headline)
    assert headline.toolTip() == ("" if width == 3000 else VERDICT)


def test_beside_a_message_the_headline_says_answer_and_loss_in_whole_clauses() -> None:
    text = VERDICT.replace("locks and critical sections in add_time_to_queue", "starting parallel initialize")
    shortest = "…fastest at 32… starting parallel initialize (billiard.c:112)."
    for room in range(len(shortest), 130):
        said = one_line(text, lambda words, room=room: len(words) <= room)
        begin, _, end = said.partition("… ")
        assert begin == "…fastest at 32"
        assert text.endswith(end)
        assert end.startswith(("On 64 processors 47 %", "47 % of the loss is starting", "starting parallel initialize"))


def test_without_a_location_the_part_that_loses_most_is_named(qtbot: Any) -> None:
    text = (
        "before.csv, 1 to 64 ranks: size = 8000 is still faster at 64, the largest count run, 49.9 times as fast as on"
        " one with efficiency 0.78. On 64 processors 83 % of the loss is in sweep."
    )
    for width in (1100, 900, 500):
        said = shown(qtbot, width, text).text()
        assert said.startswith("…size = 8000")
        assert said.endswith("83 % of the loss is in sweep.")
    assert shown(qtbot, 300, text).text().endswith("sweep.")


def test_links_and_the_whole_headline_are_reached_by_keys(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Theme("light").apply()
    box = QWidget()
    qtbot.addWidget(box)
    row = QHBoxLayout(box)
    before, headline = QLineEdit(), Headline()
    row.addWidget(before)
    row.addWidget(headline, 1)
    box.resize(900, 60)
    headline.setText(VERDICT)
    box.show()
    before.setFocus()
    qtbot.waitUntil(before.hasFocus)
    told: list[str] = []
    places: list[str] = []
    monkeypatch.setattr("scalegraph.gui.base.tips.show", lambda _at, text, _widget: told.append(text))
    headline.place_wanted.connect(places.append)
    QTest.keyClick(before, Qt.Key.Key_Tab)
    while QApplication.focusWidget() is headline and not places:
        QTest.keyClick(headline, Qt.Key.Key_Return)
        QTest.keyClick(headline, Qt.Key.Key_Tab)
    assert told == [VERDICT]
    assert places == ["billiard.c:112"]


@pytest.mark.parametrize("fault", [True, False])
def test_a_message_beside_the_headline_takes_no_further_line(qtbot: Any, fault: bool) -> None:
    Theme("light").apply()
    header = Header(SelectionModel())
    box = QWidget()
    qtbot.addWidget(box)
    column = QVBoxLayout(box)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(header)
    column.addStretch(1)
    box.resize(1000, 300)
    header.verdict.setText(VERDICT)
    box.show()
    QApplication.processEvents()
    before = header.height()
    said = "The file is damaged: " + "a part of it has a wrong checksum, " * 9
    (header.banner.show_fault if fault else header.banner.show_remark)(said, "Try again", lambda: None)
    QApplication.processEvents()
    assert header.height() == before
    assert header.verdict.text().endswith("(billiard.c:112).")
    (text,) = [label for label in header.banner.findChildren(QLabel) if label.accessibleName() == "Message"]
    assert text.toolTip() == said
    (more,) = [one for one in header.banner.findChildren(QPushButton) if one.text() == "Details"]
    more.click()
    qtbot.waitUntil(lambda: header.height() > before)
    assert text.text() == said


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 1920])
def test_the_headline_of_the_window_is_one_row(window: MainWindow, qtbot: Any, model_study: Any, width: int) -> None:
    window.resize(width, 720)
    window.open_study(model_study())
    qtbot.waitUntil(lambda: "processors" in window.study.header.verdict.accessibleDescription())
    header = window.study.header
    header.verdict.setText(VERDICT)
    QApplication.processEvents()
    assert header.height() < 2 * header.verdict.fontMetrics().lineSpacing()
    window.study.banner.show_remark("The runs are made again with classes of misses; see the queue.")
    QApplication.processEvents()
    assert header.height() < 2 * header.verdict.fontMetrics().lineSpacing()
