"""The colours of a flame graph's frames, and its levels as rows of pixels, computed for all frames at once."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from scalegraph.figures.flames import Flame
from scalegraph.figures.palette import Theme, colour, diverging
from scalegraph.gui.base.tints import paper

Colours = NDArray[np.int64]  # one 0xRRGGBB per frame
FADED: Final = 0.28  # opacity of frames that do not match the search
GAP_FROM: Final = 2.0  # pixels of width at which a frame has a gap on its right


class Shades:
    """The colours of all frames of *flame*, computed together: a trace's flame has tens of thousands."""

    def __init__(self, flame: Flame) -> None:
        self._flame = flame
        known: dict[str, int] = {}
        self._role = np.array([known.setdefault(frame.role, len(known)) for frame in flame.frames], np.int64)
        self._roles = tuple(known)

    def colours(self, theme: Theme) -> Colours:
        """Return the colour of every frame in *theme*."""
        change = self._flame.change
        if change is None:
            return np.array([_number(colour(role, theme)) for role in self._roles], np.int64)[self._role]
        high = change.limits[1] if change.limits else 0.0
        changes = np.array([frame.change for frame in self._flame.frames], np.float64)
        return _diverging(changes / high if high > 0 else np.full(len(changes), np.nan), theme)


def faded(colours: Colours, theme: Theme) -> Colours:
    """Return *colours* as they appear half-transparent on the background."""
    return _mixed(_number(paper(theme).name()), colours, np.full(len(colours), FADED))


def strip(
    begin: NDArray[np.float64], end: NDArray[np.float64], colours: Colours, width: int, ratio: float, behind: QColor
) -> QImage:
    """Return one level as a picture of *width* x 1 pixels: frames from *begin* to *end* (0 .. 1) in *colours*.

    *ratio* is device pixels per layout pixel; *behind* is the colour between frames.
    """
    order = np.argsort(begin, kind="stable")
    left, right = begin[order] * width, end[order] * width
    right = np.where(right - left > GAP_FROM * ratio, right - ratio, right)
    middle = np.arange(width) + 0.5
    which = np.searchsorted(left, middle, "right") - 1
    inside = (which >= 0) & (middle < right[which])
    line = np.where(inside, colours[order][which], _number(behind.name())).astype(np.uint32) | np.uint32(0xFF000000)
    return QImage(line.tobytes(), width, 1, 4 * width, QImage.Format.Format_RGB32).copy()


def _diverging(shares: NDArray[np.float64], theme: Theme) -> Colours:
    """Return `palette.diverging` of all *shares*."""
    low, middle, high = (_number(diverging(share, theme)) for share in (-1.0, 0.0, 1.0))
    far = np.nan_to_num(np.clip(shares, -1.0, 1.0), nan=0.0)
    return np.where(far > 0, _mixed(middle, np.full(len(far), high), far), _mixed(middle, np.full(len(far), low), -far))


def _mixed(one: int, other: Colours, share: NDArray[np.float64]) -> Colours:
    made = np.zeros(len(other), np.int64)
    for shift in (16, 8, 0):
        first, second = one >> shift & 255, other >> shift & 255
        made |= np.rint(first + np.clip(share, 0.0, 1.0) * (second - first)).astype(np.int64) << shift
    return made


def _number(hexa: str) -> int:
    return int(hexa[1:], 16)
