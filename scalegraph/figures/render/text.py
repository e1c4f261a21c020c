"""Text fitting: measuring, wrapping and shortening, in points."""

from __future__ import annotations

import re
from functools import lru_cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from scalegraph.figures.render.glyphs import STAND_IN, known

_SYMBOL = re.compile(r"\b([TLp])_(para|seq|x|max)\b")


def measure(text: str, size: float, weight: str = "normal", family: str = "DejaVu Sans") -> float:
    """Return the width of *text* in points at font *size* (points)."""
    return 1.015 * sum(_advance(character, weight, family) for character in text) * size


@lru_cache(maxsize=4096)
def _advance(character: str, weight: str, family: str) -> float:
    """Return the advance of a character at size 1; kerning is ignored, which overestimates widths."""
    if ord(character) not in known(family, weight):
        character = STAND_IN
    font = FontProperties(family=family, weight=weight, size=100)
    width, _, _ = text_to_path.get_text_width_height_descent(character, font, ismath=False)
    return float(width) / 100 if character.strip() else 0.32 if family == "DejaVu Sans" else 0.602


def text_of(text: str) -> str:
    """Return *text* with the papers' symbols typeset (``T_para`` with a subscript), for ``parse_math``."""
    escaped = text.replace("\\", "\\backslash ").replace("$", r"\$")
    return _SYMBOL.sub(lambda found: f"${found[1]}_{{\\mathrm{{{found[2]}}}}}$", escaped)


def wrapped(text: str, size: float, room: float, weight: str = "normal") -> list[str]:
    """Return *text* wrapped to lines of at most *room* points; a wider single word stays whole."""
    lines: list[str] = []
    current = ""
    for word in text.split(" "):  # not at no-break spaces
        longer = f"{current} {word}".strip()
        if current and measure(longer, size, weight) > room:
            lines.append(current)
            current = word
        else:
            current = longer
    return [*lines, current] if current else lines


def fitted(text: str, size: float, room: float, family: str = "DejaVu Sans", *, middle: bool = False) -> str:
    """Return *text*, with an ellipsis at its end or in its *middle* if it is wider than *room* points."""
    if measure(text, size, family=family) <= room:
        return text
    for kept in range(len(text) - 1, 0, -1):
        tail = kept // 2 if middle else 0
        short = text[: kept - tail].rstrip() + "…" + text[len(text) - tail :].lstrip()
        if measure(short, size, family=family) <= room:
            return short
    return ""


def spread(places: list[float], gap: float, low: float, high: float) -> list[float]:
    """Return *places* moved as little as possible to be *gap* apart within *low* to *high*, keeping their order.

    If there is too little room, the gap shrinks evenly.
    """
    if not places:
        return []
    order = sorted(range(len(places)), key=lambda index: places[index])
    gap = min(gap, (high - low) / max(1, len(places) - 1)) if len(places) > 1 else gap
    # clusters of touching labels are centred on the mean of their ideal positions
    clusters: list[tuple[list[int], float]] = []
    for index in order:
        members, centre = [index], places[index]
        while clusters and clusters[-1][1] + _half(clusters[-1][0], gap) > centre - _half(members, gap):
            before, _ = clusters.pop()
            members = before + members
            centre = sum(places[i] for i in members) / len(members)
        centre = min(max(centre, low + _half(members, gap) - gap / 2), high - _half(members, gap) + gap / 2)
        clusters.append((members, centre))
    result = list(places)
    for members, centre in clusters:
        for rank, index in enumerate(members):
            result[index] = centre + (rank - (len(members) - 1) / 2) * gap
    return result


def _half(members: list[int], gap: float) -> float:
    return len(members) * gap / 2
