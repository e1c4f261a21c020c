"""Colours by role, the same in all views, after Okabe and Ito (safe for colour-blind readers).

The categories of a group share a family of hues; processor counts have a sequential scale.
"""

from __future__ import annotations

import colorsys
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import count
from typing import Final, Literal, TypeAlias

Theme: TypeAlias = Literal["light", "dark", "print"]

_GROUPS: Final = {
    "busy": "#009E73",
    "memory_stall": "#0072B2",
    "idle": "#E69F00",
    "primitive": "#D55E00",
    "communication": "#CC79A7",
}
_ROLES: Final = {
    **_GROUPS,
    "time": "#0072B2",
    "speedup": "#0072B2",
    "efficiency": "#009E73",
    "latency": "#CC79A7",
    "miss": "#56B4E9",
    "mark": "#D55E00",
}
# Categories of each group; the first has the group's own colour. Any two of all groups differ by at least 5 in
# CIEDE2000, including under protanopia and deuteranopia: each was chosen farthest from those before it.
_CATEGORIES: Final = {
    "busy": ("#009E73", "#1D735D", "#259444", "#57D9B0", "#145242"),
    "memory_stall": ("#0072B2", "#B2DFFF", "#36ABFF", "#000FB9", "#490DFF", "#6C77F3", "#00D0E0"),
    "idle": (
        "#E69F00", "#453321", "#F0E5C2", "#FAFF60", "#BEB477", "#DFDA7F", "#FCFFB2", "#E2D600", "#5E3308",
        "#86A550", "#60462E", "#637A52", "#6A6E35", "#B4C757", "#D6871F",
    ),
    "primitive": (
        "#D55E00", "#731D56", "#D9AFB8", "#AB380E", "#994A7E", "#AB0E46", "#E7A1D0", "#DF7F93", "#FAB49A",
        "#AB7396", "#823285", "#402636", "#D96CB5",
    ),
}  # fmt: skip
# Causes of lost time, beside those with a group's colour, for lines: any two, also of those groups and of the latency,
# differ by at least 11 in CIEDE2000, including under protanopia and deuteranopia.
_CAUSES: Final = {
    "light": ("#CC0066", "#007777", "#66BB99", "#66BBEE", "#224433", "#8877FF", "#661155", "#FF6666", "#664400"),
    "dark": ("#FF3377", "#009988", "#44EEBB", "#55BBFF", "#336644", "#8877FF", "#992266", "#AA1100", "#EEDD77"),
}
# viridis in steps of equal perceived difference (CIEDE2000, also for the colour-blind), without shades too close to the
# paper
_COUNTS: Final = (
    "#440154",
    "#481B6D",
    "#453581",
    "#3D4E8A",
    "#34618D",
    "#2D708E",
    "#277E8E",
    "#238A8D",
    "#1F948C",
    "#1E9C89",
    "#21A685",
    "#29AF7F",
    "#38B977",
    "#4CC26C",
    "#67CC5C",
    "#86D549",
    "#BDDF26",
)
_COUNTS_DARK: Final = (
    "#3E4989",
    "#375A8C",
    "#30698E",
    "#2A768E",
    "#26818E",
    "#228B8D",
    "#1F948C",
    "#1E9B8A",
    "#20A386",
    "#25AB82",
    "#2FB47C",
    "#3DBC74",
    "#50C46A",
    "#67CC5C",
    "#86D549",
    "#B0DD2F",
    "#FDE725",
)
_SERIES: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_TURNS: Final = (0, 2, 3, 6)  # shades for series after the first seven
# Dash patterns in line widths, in order: the dashed ones of the first seven series, then those of further series.
DASHES: Final = ((4, 3), (10, 3, 2, 3), (2, 2), (10, 3))
# For regions, by name: distinguishable by colour-blind readers, and none is the hue of a waiting state (idle, orange)
_NAMES: Final = ("#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#B8A800", "#882255", "#44AA99", "#6A51A3", "#A6611A")
_SLOTS: Final = 4 * len(_NAMES)
LINE_CONTRAST: Final = 1.9  # minimum contrast of lines with the paper
_GREY: Final = {"light": "#8A8F98", "dark": "#8A8F98", "print": "#808080"}
_INK: Final = {"light": "#1B1F24", "dark": "#E6E8EB", "print": "#000000"}
_PAPER: Final = {"light": "#FFFFFF", "dark": "#1E2126", "print": "#FFFFFF"}


def ink(theme: Theme) -> str:
    """Return the colour of text and axes."""
    return _INK[theme]


def paper(theme: Theme) -> str:
    """Return the background colour of a picture."""
    return _PAPER[theme]


@lru_cache(maxsize=4096)
def colour(role: str, theme: Theme = "light") -> str:
    """Return the ``#rrggbb`` of *role*.

    Roles are group names, ``<group>:<i>`` for the i-th category of a group, ``series:<i>`` for curves of one rank,
    ``cause:<i>`` for causes of lost time, ``count:<i>/<k>`` for the i-th of k processor counts, ``name:<i>`` for the
    i-th colour of regions (`name_slots`), ``ideal``, ``grid`` and ``other`` for background elements, ``ink`` for text,
    ``paper`` for the background, a quantity's name, or an ``#rrggbb``, which is returned unchanged.
    """
    if role.startswith("#"):
        return role
    if role in ("ideal", "grid", "muted", "other"):
        return _GREY[theme]
    if role == "ink":
        return _INK[theme]
    if role == "paper":
        return _PAPER[theme]
    base, _, index = role.partition(":")
    if base == "series":
        turn, place = divmod(int(index or 0), len(_SERIES))
        chosen = _SERIES[place]
        if turn:
            return _lift(_shade("#595959" if chosen == "#000000" else chosen, _TURNS[turn % len(_TURNS)]), theme)
        return _INK[theme] if chosen == "#000000" else _lift(chosen, theme)
    if base == "cause":
        return _CAUSES["dark" if theme == "dark" else "light"][int(index)]
    if base == "count":
        nth, _, of = index.partition("/")
        return _count(int(nth), int(of), theme)
    if base in _CATEGORIES:
        return _CATEGORIES[base][int(index or 0) % len(_CATEGORIES[base])]
    if base == "name":
        slot = int(index or 0) % _SLOTS
        return _lift(_shade(_NAMES[slot % len(_NAMES)], (0, 2, 1, 3)[slot // len(_NAMES)]), theme)
    chosen = _ROLES.get(base, _GREY[theme])
    return _lift(_shade(chosen, int(index)) if index else chosen, theme)


@lru_cache(maxsize=4096)
def line_colour(role: str, theme: Theme = "light") -> str:
    """Return the ``#rrggbb`` of a line of *role*: its colour, darkened towards ink if a thin line would be hard to see.

    Areas keep the original colour; a line has a contrast of at least `LINE_CONTRAST` with the paper.
    """
    chosen = colour(role, theme)
    share = 0.0
    while contrast(_mixed(chosen, _INK[theme], share), _PAPER[theme]) < LINE_CONTRAST:
        share += 0.02
    return _mixed(chosen, _INK[theme], share)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 (none) to 21 (WCAG 2)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _count(place: int, of: int, theme: Theme) -> str:
    """Return the colour of one of *of* processor counts: dark to light, evenly spaced."""
    stops = _COUNTS_DARK if theme == "dark" else _COUNTS
    at = (place / (of - 1) if of > 1 else 0.5) * (len(stops) - 1)
    left = min(int(at), len(stops) - 2)
    return _mixed(stops[left], stops[left + 1], at - left)


def series_turn(role: str) -> int:
    """Return how many times the series colours were used up before *role*: 0 for the first seven and for other roles.

    Later rounds also have another dash pattern, since more than seven hues look alike.
    """
    base, _, index = role.partition(":")
    return int(index or 0) // len(_SERIES) if base == "series" else 0


def rivals(*taken: str) -> Iterator[str]:
    """Yield the roles ``series:<i>`` endlessly, skipping those with the colour of a role in *taken*."""
    shades = {colour(role) if role != "ink" else "#000000" for role in taken}
    return (f"series:{i}" for i in count() if i >= len(_SERIES) or _SERIES[i] not in shades)


@lru_cache(maxsize=4096)
def legible_on(back: str) -> str:
    """Return black or white, whichever contrasts more with ``#rrggbb``: at least 4.5 on any colour (WCAG 2)."""
    return "#000000" if _luminance(back) > 0.179 else "#FFFFFF"


def _luminance(hexa: str) -> float:
    parts = (int(hexa[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def name_slots(names: Iterable[str]) -> dict[str, int]:
    """Return for each of *names* the i of its role ``name:<i>``: the same name has the same colour everywhere.

    The colour is a hash of the name. If an earlier name has it, the next free one is used: first the other hues, then
    their shades; with more names than colours some share one. So put the most important name first.
    """
    slots: dict[str, int] = {}
    taken: set[int] = set()
    for name in dict.fromkeys(names):
        first = zlib.crc32(name.encode("utf-8", "replace")) % len(_NAMES)
        order = [hue % len(_NAMES) + row * len(_NAMES) for row in range(4) for hue in range(first, first + len(_NAMES))]
        slots[name] = next((slot for slot in order if slot not in taken), first)
        taken.add(slots[name])
    return slots


def diverging(share: float, theme: Theme = "light") -> str:
    """Return the colour of a change: *share* from -1 (blue, less) over 0 (grey) to 1 (vermilion, more).

    Values beyond are clipped, NaN is grey. Colour-blind readers can tell both ends from each other and from the middle.
    """
    middle = {"light": "#E3E5E8", "dark": "#4A4F57", "print": "#E8E8E8"}[theme]
    if not share:
        return middle
    clipped = min(1.0, max(-1.0, share)) if share == share else 0.0
    end = "#D55E00" if clipped > 0 else "#0072B2"
    return _mixed(middle, end if theme != "dark" else _lift(end, theme), abs(clipped))


def _mixed(one: str, other: str, share: float) -> str:
    pairs = ((int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + share * (b - a)):02X}" for a, b in pairs)


def _shade(hexa: str, index: int) -> str:
    """Return *hexa* mixed with white (positive) or black (negative): categories of one hue differ in lightness."""
    share = (0.0, 0.42, -0.34, 0.66, -0.18, 0.24, -0.5, 0.54)[index % 8]
    towards = 255 if share > 0 else 0
    parts = (int(hexa[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + abs(share) * (towards - part)):02X}" for part in parts)


def _lift(hexa: str, theme: Theme) -> str:
    if theme != "dark":
        return hexa
    hue, light, saturation = _to_hls(hexa)
    return _from_hls(hue, min(0.9, light + 0.12), saturation)


def _to_hls(hexa: str) -> tuple[float, float, float]:
    red, green, blue = (int(hexa[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return colorsys.rgb_to_hls(red, green, blue)


def _from_hls(hue: float, light: float, saturation: float) -> str:
    return "#" + "".join(f"{round(255 * part):02X}" for part in colorsys.hls_to_rgb(hue, light, saturation))
