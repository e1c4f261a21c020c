"""The application on the desktop: its icon and its menu entry."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from PySide6.QtGui import QGuiApplication, QImage

from scalegraph.gui import app


def test_the_application_has_an_icon_and_the_name_of_its_menu_entry(qapp: Any, root: Path) -> None:
    shown = app._icon()
    assert not shown.isNull()
    assert not shown.pixmap(48, 48).isNull()
    assert (root / "share" / "applications" / "scalegraph.desktop").exists()
    code = Path(app.__file__).read_text()
    assert 'setDesktopFileName("scalegraph")' in code
    assert isinstance(QGuiApplication.instance(), QGuiApplication)


def test_icons_in_pixels_show_the_icon_in_lines(qapp: Any, root: Path) -> None:
    place = importlib.util.spec_from_file_location("make_icons", root / "docs" / "make_icons.py")
    assert place is not None
    assert place.loader is not None
    made = importlib.util.module_from_spec(place)
    place.loader.exec_module(made)
    for path, drawn in made.icons():
        kept = QImage(str(path)).convertToFormat(drawn.format())
        assert kept.size() == drawn.size()
        step = max(1, kept.width() // 24)
        for x in range(step // 2, kept.width(), step):
            for y in range(step // 2, kept.height(), step):
                one, two = kept.pixelColor(x, y), drawn.pixelColor(x, y)
                apart = max(abs(a - b) for a, b in zip(one.getRgb(), two.getRgb(), strict=True))  # type: ignore[arg-type, type-var]
                assert apart <= 40, (path.parent.parent.name, x, y)
