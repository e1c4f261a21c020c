"""Opens the window, or explains in one sentence why it cannot."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import click

from scalegraph.base.errors import Fault, InputError, MissingTool
from scalegraph.base.host import INSTALL_QT
from scalegraph.cli import collecting

_HEADLESS = "without a display, `scalegraph demo --headless -o DIR` and all other commands work"


@click.command("window", hidden=True)
@click.argument("files", nargs=-1, metavar="[FILE ...]", type=click.Path(path_type=Path))
def window(files: tuple[Path, ...] = ()) -> int:
    """Open the window with the studies named."""
    missing = [Fault("no such file", file=str(file)) for file in files if not file.exists()]
    if missing:
        raise InputError(missing)
    return open_window(files)


def open_window(files: tuple[Path, ...], *, demo: bool = False, fresh: bool = False) -> int:
    """Open the window on *files*, or on the *demo* (*fresh*: recomputed); return its exit code when it is closed.

    Raises `MissingTool` saying what to install if there is no display or a Qt library is missing.
    """
    check_display()
    app = check_qt()
    collecting.as_usual()
    return int(app.run([str(file) for file in files], demo=demo, fresh=fresh))


def check_qt() -> Any:
    """Return the window's module; raise `MissingTool` saying what to install if Qt does not work here."""
    try:
        importlib.import_module("PySide6.QtWidgets")
        importlib.import_module("pyqtgraph")
        app = importlib.import_module("scalegraph.gui.app")
    except ImportError as error:
        raise MissingTool(_no_qt(error)) from error
    app.check_display()  # finds out whether the named display responds
    return app


def check_display() -> None:
    """Raise `MissingTool` if there is no display for a window."""
    chosen = os.environ.get("QT_QPA_PLATFORM", "")
    if sys.platform.startswith("linux") and not chosen:
        display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        if not display:
            raise MissingTool(f"there is no display to open a window on (DISPLAY is not set); {_HEADLESS}")


def _no_qt(error: ImportError) -> str:
    name = error.name or ""
    if name.startswith(("PySide6", "shiboken6", "pyqtgraph")) and isinstance(error, ModuleNotFoundError):
        package = "pyqtgraph" if name.startswith("pyqtgraph") else "PySide6-Essentials"
        return f"the window needs {package}; install it with: pip install {package}; {_HEADLESS}"
    what = str(error).split(":")[0]
    return f"the window cannot open: the library {what} is missing; on Debian: {INSTALL_QT}; {_HEADLESS}"
