"""Pictures of every panel in light and dark, in several sizes: ``python tests/gui/gallery.py DIRECTORY [name ..]``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parent))

import view_figures as synthetic
from PySide6.QtWidgets import QApplication

from scalegraph.gui.base.theme import Theme
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel

SIZES = {"large": (1280, 720), "middle": (640, 420), "small": (380, 280)}


def main(directory: Path, names: list[str]) -> None:
    """Write the pictures."""
    app = QApplication.instance() or QApplication([])
    directory.mkdir(parents=True, exist_ok=True)
    for mode in ("light", "dark"):
        theme = Theme(mode)
        theme.apply()
        selection = SelectionModel()
        selection.select(processors=8, cell=(4, 8), region=3)
        for name, figure in synthetic.all_figures().items():
            if names and name not in names:
                continue
            widget = FigureWidget(Context(selection, theme))
            widget.show_figure(figure)
            for size, (width, height) in SIZES.items():
                widget.resize(width, height)
                widget.show()
                app.processEvents()
                app.processEvents()
                widget.grab().save(str(directory / f"{name}-{size}-{mode}.png"))
            widget.close()
            widget.deleteLater()
            app.processEvents()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
