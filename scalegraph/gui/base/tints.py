"""Roles as Qt colours, and text legible on any of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal, cast

from PySide6.QtGui import QAction, QColor
from PySide6.QtWidgets import QMenu

from scalegraph.figures import palette

ColourMapName = Literal["viridis", "cividis"]
COLOUR_MAPS: Final[tuple[ColourMapName, ...]] = ("viridis", "cividis")


def tint(role: str, theme: str, alpha: float = 1.0) -> QColor:
    """Return the colour of *role* in *theme*, with *alpha* from 0 (clear) to 1."""
    colour = QColor(palette.colour(role, cast("palette.Theme", theme)))
    colour.setAlphaF(alpha)
    return colour


def line_tint(role: str, theme: str) -> QColor:
    """Return the colour of a line of *role* in *theme*, visible on the background."""
    return QColor(palette.line_colour(role, cast("palette.Theme", theme)))


def ink(theme: str, alpha: float = 1.0) -> QColor:
    """Return the colour of text."""
    colour = QColor(palette.ink(cast("palette.Theme", theme)))
    colour.setAlphaF(alpha)
    return colour


def paper(theme: str, alpha: float = 1.0) -> QColor:
    """Return the colour behind pictures."""
    colour = QColor(palette.paper(cast("palette.Theme", theme)))
    colour.setAlphaF(alpha)
    return colour


def heat(fraction: float, name: ColourMapName = "viridis") -> QColor:
    """Return the colour of *fraction* (clipped to 0..1) in a perceptually uniform colour map."""
    table = _table(name)
    red, green, blue = table[round(min(1.0, max(0.0, fraction)) * (len(table) - 1))]
    return QColor(red, green, blue)


def legible_on(colour: QColor) -> QColor:
    """Return black or white, whichever has more contrast on *colour*: at least 4.5 (WCAG 2)."""
    return QColor(palette.legible_on(colour.name()))


@lru_cache(maxsize=4)
def _table(name: ColourMapName) -> tuple[tuple[int, int, int], ...]:
    import pyqtgraph as pg  # imports numpy; at the start only role colours are needed

    lookup = pg.colormap.get(name).getLookupTable(nPts=256, alpha=False)
    return tuple((int(r), int(g), int(b)) for r, g, b in lookup)


def offer_colours(menu: QMenu, choose: Callable[[ColourMapName], None]) -> None:
    """Add an entry for every colour map to *menu*; *choose* is called with the chosen one."""
    for name in COLOUR_MAPS:
        colours = QAction(f"Colours: {name}", menu)
        colours.triggered.connect(lambda _on=False, name=name: choose(name))
        menu.addAction(colours)
