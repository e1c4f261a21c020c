"""Make contact sheets of the window for visual inspection: every page and arrangement, in several sizes and themes.

``python docs/make_sheets.py DIRECTORY [--sizes 1280x720,1920x1080] [--themes light,dark] [--only WORDS]``; set
``QT_SCALE_FACTOR=2`` for a display at 200 %. A sheet has four pictures. The studies and traces are the shipped ones;
nothing is simulated.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from make_pictures import measurements, settle, wait
from PIL import Image, ImageDraw
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from scalegraph.gui import app
from scalegraph.gui.dock.arrangements import OFFERED, TRACE_ARRANGEMENTS
from scalegraph.gui.shell.main_window import MainWindow

ROOT: Final = Path(__file__).parents[1]
STUDY: Final = ROOT / "resources" / "studies" / "demo.sgstudy"
TRACES: Final = (ROOT / "traces" / "billiard-4.sgtrace", ROOT / "traces" / "ge2-4.sgtrace")
SIZES: Final = "1280x720,1920x1080,3840x2160"
A_SHEET: Final = 4
WIDE: Final = 960  # width of a picture on a sheet, in pixels
TITLE: Final = 18  # height of the name above each picture, in pixels
Place = tuple[str, Callable[[], object]]


def places(window: MainWindow, scratch: Path) -> Iterator[Place]:
    """Yield the name of every page and arrangement, and a function that opens it."""
    yield "start", lambda: window.go("start")
    yield "request, new", lambda: window.go("request", new=True)
    yield "request, program", lambda: window.request.program.choose("billiard")
    yield "measure", lambda: window.go("measure")
    yield "import", lambda: _import(window, scratch)
    yield "import, answered", lambda: _answered(window)
    yield "measured: Overview", lambda: _kept(window)
    for name in ("Models", "Regions"):
        yield f"measured: {name}", lambda name=name: window.study.arrange(name)
    yield "Overview", lambda: window.open_files([STUDY])
    for name in OFFERED[1:]:
        yield name, lambda name=name: window.study.arrange(name)
    yield "export", lambda: (window.study.arrange("Overview"), settle(window), window.actions_["export_view"].trigger())
    yield "report", lambda: window.actions_["write_report"].trigger()
    yield "what if", lambda: (window.study.arrange("Lost time"), window.panels.want("whatif", True))
    yield "inspector, queue", lambda: _panels(window)
    yield "preferences", lambda: (_fold(window), window.actions_["preferences"].trigger())
    yield "palette", window.actions_["palette"].trigger
    yield "keys", lambda: (window.palette_.close(), window.actions_["shortcuts"].trigger())
    yield "Timeline", lambda: (window.sheet.close(), window.open_files([TRACES[0]]))
    for name in list(TRACE_ARRANGEMENTS)[1:]:
        yield f"trace: {name}", lambda name=name: window.study.arrange(name)
    yield "trace, second", lambda: window.open_files([TRACES[1]])
    yield "traces compared", lambda: window.study.arrange("Compare traces")


def _import(window: MainWindow, scratch: Path) -> None:
    table = scratch / f"before{random.randrange(10**6)}.csv"
    measurements(scratch, "before", 0.004).rename(table)
    window.open_files([table])
    wait(lambda: window.page == "import" and window.imports.page.latest is not None)


def _answered(window: MainWindow) -> None:
    edited = window.imports.page.form.edited
    edited.emit("meaning", "total", "*")
    settle(window)
    edited.emit("meaning", "unit", "s")
    settle(window)
    if window.imports.page.form.fault_of("scaling"):
        edited.emit("meaning", "scaling", "strong")


def _kept(window: MainWindow) -> None:
    window.imports.page.accept()
    wait(lambda: window.page == "study")


def _panels(window: MainWindow) -> None:
    window.panels.want("whatif", False)
    window.panels.want("inspector", True)
    window.panels.want("queue", True)
    window.study.arrange("Scalability")
    window.selection.select(cell=(4, 32))


def _fold(window: MainWindow) -> None:
    window.panels.want("inspector", False)
    window.panels.want("queue", False)
    window.selection.clear()


def pictured(window: MainWindow) -> Image.Image:
    """Return a screenshot of the window, with open dialogs on top."""
    whole = window.grab().toImage()
    pictures = [(whole, 0, 0)]
    for dialog in _dialogs(window):
        grabbed = dialog.grab().toImage()
        pictures.append((grabbed, (whole.width() - grabbed.width()) // 2, (whole.height() - grabbed.height()) // 2))
    sheet = Image.new("RGB", (whole.width(), whole.height()))
    for one, x, y in pictures:
        plain = one.convertToFormat(one.Format.Format_RGB888)
        raw = bytes(plain.constBits())
        made = Image.frombuffer("RGB", (plain.width(), plain.height()), raw, "raw", "RGB", plain.bytesPerLine(), 1)
        sheet.paste(made, (x, y))
    return sheet


def _dialogs(window: MainWindow) -> list[QWidget]:
    tops = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible() and widget is not window]
    return [widget for widget in tops if isinstance(widget, QDialog) or widget in (window.palette_, window.sheet)]


def sheets(pictures: list[tuple[str, Image.Image]], path: Path) -> None:
    """Write *pictures* with their names, four to a sheet."""
    for first in range(0, len(pictures), A_SHEET):
        some = pictures[first : first + A_SHEET]
        tall = max(round(WIDE * one.height / one.width) for _, one in some) + TITLE
        sheet = Image.new("RGB", (2 * WIDE + 6, 2 * tall + 6), "magenta")
        draw = ImageDraw.Draw(sheet)
        for index, (name, one) in enumerate(some):
            x, y = (index % 2) * (WIDE + 6), (index // 2) * (tall + 6)
            draw.text((x + 4, y + 3), name, fill="white")
            small = one.resize((WIDE, round(WIDE * one.height / one.width)), Image.Resampling.LANCZOS)
            sheet.paste(small, (x, y + TITLE))
        sheet.save(path.with_name(f"{path.name}-{first // A_SHEET + 1}.png"))


def main() -> None:
    """Write all sheets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--themes", default="light,dark")
    parser.add_argument("--only", default="", help="only pages and arrangements whose names contain this")
    asked = parser.parse_args()
    asked.directory.mkdir(parents=True, exist_ok=True)
    scale = os.environ.get("QT_SCALE_FACTOR", "1")
    app.make_application()
    for size in asked.sizes.split(","):
        for theme in asked.themes.split(","):
            with tempfile.TemporaryDirectory() as place:
                window = app.make_window(settings_file=Path(place) / "window.ini")
                window.resize(*map(int, size.split("x")))
                window.show()
                window.actions_[f"theme_{theme}"].trigger()
                settle(window)
                taken: list[tuple[str, Image.Image]] = []
                for name, go in places(window, Path(place)):
                    go()
                    settle(window)
                    if asked.only in name:
                        taken.append((f"{name} - {size}, {theme}, x{scale}", pictured(window)))
                    for dialog in _dialogs(window):
                        dialog.close()
                sheets(taken, asked.directory / f"{size}-x{scale}-{theme}")
                window.close()
                wait(lambda window=window: not window.isVisible())


if __name__ == "__main__":
    main()
