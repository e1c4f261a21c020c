"""Render the PNG icons from the SVG icon: ``python docs/make_icons.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SIZES = (48, 128, 256)


def icons() -> Iterator[tuple[Path, Any]]:
    """Yield the path and the image of each size."""
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    for size in SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        QSvgRenderer(str(ROOT / "resources" / "icons" / "scalegraph.svg")).render(painter)
        painter.end()
        yield ROOT / "share" / "icons" / "hicolor" / f"{size}x{size}" / "apps" / "scalegraph.png", image


if __name__ == "__main__":
    for path, image in icons():
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(str(path))
