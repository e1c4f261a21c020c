"""Regenerate README.md's animated picture, two minutes of the demonstration's window: ``python docs/make_film.py``.

Every frame is a screenshot of the real window, 1280 x 720 pixels; its status bar says what happens.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PIL import Image
from PySide6.QtCore import QBuffer, QDeadlineTimer, QEventLoop, QIODevice
from PySide6.QtWidgets import QApplication

from scalegraph.gui import app
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.shell.main_window import MainWindow

FILM = Path(__file__).parent / "images" / "film.gif"
SIZE = (1280, 720)
EACH_MS = 9_000
COLOURS = 128  # enough for text and pictures, few enough for a small file
BY_COVERAGE = Image.Quantize.MAXCOVERAGE  # thin lines keep their colours; median cut would turn orange into brown
REFINED = 2  # rounds of k-means, enough for backgrounds to get their exact colours
QUIET_MS, LONGEST_MS = 400, 120_000


def main() -> int:
    """Write the film; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_DATA_HOME"] = folder  # without the user's own copies, the study is called demo
        app.make_application()
        window = app.make_window(settings_file=Path(folder) / "window.ini")
        window.resize(*SIZE)
        window.show()
        window.actions_["theme_light"].trigger()
        frames = []
        for said, act in scenes(window):
            act()
            window.statusBar().showMessage(said)
            settle(window)
            frames.append(grabbed(window))
        window.close()
        settle(window)
    first, *rest = (frame.quantize(COLOURS, BY_COVERAGE, kmeans=REFINED, dither=Image.Dither.NONE) for frame in frames)
    first.save(FILM, save_all=True, append_images=rest, duration=EACH_MS, loop=0, optimize=True)
    print(f"{FILM}: {len(frames)} pictures, {FILM.stat().st_size / 1e3:.0f} kB")
    return 0


def scenes(window: MainWindow) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the caption of each frame, and the action before it."""
    actions, selection = window.actions_, window.selection
    yield "Choose your program, or open the demonstration", lambda: None
    yield "The answer is the line on top: fastest on 32 processors, and what stops it", window.demonstration.open
    link = window.study.header.verdict.linkActivated
    yield (
        "A click on the line that it names shows the source with the cost of every line",
        partial(link.emit, "billiard.c:296"),
    )
    yield "3: where the time is lost", partial(window.study.arrange, "Lost time")
    yield "A click on a point selects 16 processors: all views follow", partial(selection.select, processors=16)
    yield "Every cause with its location and its share of the loss", partial(window.show_view, "verdicts")
    yield "The lines that cost most", partial(window.show_view, "lines")
    yield "2: how the program scales with its size", partial(window.study.arrange, "Scalability")
    yield "A cell of the matrix: the inspector shows its formula with the numbers filled in", partial(cell, window)
    yield "4: caches and memory", partial(tidy, window)
    yield "5: laws and models fitted to the runs", partial(window.study.arrange, "Models")
    yield "Ctrl+K finds every command, whatever you call it", partial(search, window)
    yield "A dark theme, if you like", partial(dark, window, actions["theme_dark"].trigger)


def cell(window: MainWindow) -> None:
    """Select a cell and show it in the inspector."""
    window.panels.want("inspector", True)
    window.selection.select(cell=(4, 32))


def tidy(window: MainWindow) -> None:
    """Close the inspector and open the arrangement for caches and memory."""
    window.panels.want("inspector", False)
    window.selection.clear()
    window.study.arrange("Cache and memory")


def search(window: MainWindow) -> None:
    """Search for a common word that no command's name contains."""
    window.actions_["palette"].trigger()
    window.palette_.entry.setText("mutex")


def dark(window: MainWindow, switch: Callable[[], object]) -> None:
    """Close the palette and switch the theme."""
    window.palette_.leave()
    switch()
    window.study.arrange("Overview")


def settle(window: MainWindow) -> None:
    """Wait until everything is drawn."""
    end, quiet = QDeadlineTimer(LONGEST_MS), QDeadlineTimer(QUIET_MS)
    while not (quiet.hasExpired() or end.hasExpired()):
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        if window.jobs.running or len(turn_queue()):
            quiet = QDeadlineTimer(QUIET_MS)


def grabbed(window: MainWindow) -> Image.Image:
    """Return a screenshot of the window."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    window.grab().save(buffer, "PNG")
    return Image.open(BytesIO(bytes(buffer.data().data()))).convert("RGB")


if __name__ == "__main__":
    sys.exit(main())
