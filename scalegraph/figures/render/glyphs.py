"""Characters that a picture cannot show: control characters, and those without a glyph in the font."""

from __future__ import annotations

import copy
import dataclasses
from functools import lru_cache
from typing import Any, Final, cast

from matplotlib.font_manager import FontProperties, findfont, get_font

from scalegraph.base.text import HIDDEN
from scalegraph.figures.figure import Figure

STAND_IN: Final = "\N{WHITE SQUARE}"


@lru_cache(maxsize=8)
def known(family: str = "DejaVu Sans", weight: str = "normal") -> frozenset[int]:
    """Return the code points for which the font has a glyph."""
    return frozenset(get_font(findfont(FontProperties(family=family, weight=weight))).get_charmap())


def legible(figure: Figure, *, glyphs: bool) -> Figure:
    """Return *figure* with a square for every character that cannot be shown, and a note about it.

    *glyphs*: also for characters without a glyph; not needed for SVG, whose viewer uses its own fonts.
    """
    missing: set[str] = set()
    made = cast("Figure", _shown(figure, known() if glyphs else None, missing))
    if not missing:
        return made
    several = len(missing) > 1
    note = (
        f"{len(missing)} character{'s' if several else ''} of names cannot be shown in this picture ({STAND_IN}); "
        "exported data have all names in full."
    )
    return dataclasses.replace(made, notes=(*made.notes, note))


def _shown(part: Any, glyphs: frozenset[int] | None, missing: set[str]) -> Any:
    """Return *part* of a figure with characters replaced, or the same object if nothing changes."""
    if isinstance(part, str):
        return _text(part, glyphs, missing) if not part.isascii() or not part.isprintable() else part
    if isinstance(part, tuple):
        items = [_shown(item, glyphs, missing) for item in part]
        same = all(new is old for new, old in zip(items, part, strict=True))
        return part if same else type(part)(*items) if hasattr(part, "_fields") else tuple(items)
    if isinstance(part, list):
        return [_shown(item, glyphs, missing) for item in part]
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        return _fields(part, glyphs, missing)
    return part


def _fields(part: Any, glyphs: frozenset[int] | None, missing: set[str]) -> Any:
    made = part
    for field in dataclasses.fields(part):
        old = getattr(part, field.name)
        new = _shown(old, glyphs, missing)
        if new is not old:
            if made is part:
                made = copy.copy(part)
            object.__setattr__(made, field.name, new)  # parts are frozen, but this one is not shared yet
    return made


def _text(text: str, glyphs: frozenset[int] | None, missing: set[str]) -> str:
    found = {c for c in text if HIDDEN.match(c) or (glyphs is not None and ord(c) not in glyphs and c not in "\n\t")}
    missing |= found
    return "".join(STAND_IN if c in found else c for c in text) if found else text
