"""Icons drawn from SVG outlines in the theme's colours: sharp at every size, in light and dark."""

from __future__ import annotations

from functools import cache
from typing import Final

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

_OUTLINES: Final = {
    "home": "M4 11.5 12 5l8 6.5M6.5 10v9h11v-9",
    "new": "M12 5v14M5 12h14",
    "open": "M4 18V6h5.5l2 2.5H20V18Z",
    "save": "M5 5h11l3 3v11H5ZM8 5v5h7V5M8 19v-6h8v6",
    "back": "M14.5 6 8.5 12l6 6",
    "forward": "M9.5 6l6 6-6 6",
    "undo": "M8 5 4 9l4 4M4.5 9H14a5 5 0 0 1 0 10h-4",
    "redo": "M16 5l4 4-4 4M19.5 9H10a5 5 0 0 0 0 10h4",
    "run": "M8 5.5v13l10.5-6.5Z",
    "stop": "M7 7h10v10H7Z",
    "pause": "M9 6v12M15 6v12",
    "step_back": "M7 6.5v11M17 6.5v11L10 12Z",
    "step_on": "M17 6.5v11M7 6.5v11L14 12Z",
    "loop": "M17 4.5l3 3-3 3M19.5 7.5H8a3.5 3.5 0 0 0-3.5 3.5v1M7 19.5l-3-3 3-3M4.5 16.5H16a3.5 3.5 0 0 0 3.5-3.5v-1",
    "bookmark": "M7 4.5h10v15l-5-4-5 4Z",
    "retry": "M18.5 9A7 7 0 1 0 19 13.5M19 5v4.5h-4.5",
    "close": "M6.5 6.5l11 11M17.5 6.5l-11 11",
    "search": "M10.5 17a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13ZM15.5 15.5 20 20",
    "command": "M5 8l4 4-4 4M12 17h7",
    "inspector": "M4 5h16v14H4ZM14.5 5v14",
    "navigator": "M4 5h16v14H4ZM9.5 5v14",
    "queue": "M4 5h16v14H4ZM4 14h16",
    "whatif": "M4 7h8M16 7h4M14 5v4M4 12h3M11 12h9M9 10v4M4 17h10M18 17h2M16 15v4",
    "code": "M9 7l-5 5 5 5M15 7l5 5-5 5",
    "folder": "M4 18V6h5.5l2 2.5H20V18Z",
    "remove": "M6 12h12",
    "export": "M12 4v10M8 10.5l4 4 4-4M5 19h14",
}
_SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="{colour}" '
    'stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"><path d="{path}"/></svg>'
)
_SIZES: Final = (16, 24, 48)


@cache
def icon(name: str, colour: str, muted: str = "") -> QIcon:
    """Return the icon *name* in *colour*, drawn once and cached; *muted* is the colour when disabled."""
    made = QIcon()
    for mode, value in ((QIcon.Mode.Normal, colour), (QIcon.Mode.Disabled, muted or colour)):
        for size in _SIZES:
            made.addPixmap(pixmap(name, value, size), mode)
    return made


def pixmap(name: str, colour: str, size: int) -> QPixmap:
    """Return the icon as a transparent pixmap of *size* pixels."""
    text = _SVG.format(colour=QColor(colour).name(), path=_OUTLINES[name])
    picture = QPixmap(size, size)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(text.encode())).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return picture
