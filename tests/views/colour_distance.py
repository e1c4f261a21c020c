"""The perceived difference of two colours: CIEDE2000 of sRGB colours, also with colour blindness.

Formula: Sharma, Wu, Dalal (2005). Simulation of dichromacy: Machado, Oliveira, Fernandes (2009), severity 1.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

import numpy as np

VISION: Final = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
_XYZ: Final = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE: Final = np.array([0.95047, 1.0, 1.08883])


def lab(colour: str, vision: str = "normal") -> Any:
    """Return L*, a*, b* of ``#rrggbb`` as seen with *vision*."""
    raw = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(raw <= 0.04045, raw / 12.92, ((raw + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VISION[vision] @ linear, 0.0, 1.0)
    part = (_XYZ @ seen) / _WHITE
    f = np.where(part > (6 / 29) ** 3, np.cbrt(part), part / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(one: Any, other: Any) -> float:
    """Return the difference of two colours in L*, a*, b*; less than 1 is invisible."""
    mean_chroma = (np.hypot(*one[1:]) + np.hypot(*other[1:])) / 2
    more = 0.5 * (1 - np.sqrt(mean_chroma**7 / (mean_chroma**7 + 25.0**7)))
    (l1, a1, b1), (l2, a2, b2) = one, other
    a1, a2 = a1 * (1 + more), a2 * (1 + more)
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2)
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    middle = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = (
        1
        - 0.17 * np.cos(np.radians(middle - 30))
        + 0.24 * np.cos(np.radians(2 * middle))
        + 0.32 * np.cos(np.radians(3 * middle + 6))
        - 0.20 * np.cos(np.radians(4 * middle - 63))
    )
    sl = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    rc = 2 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    rt = -np.sin(np.radians(60 * np.exp(-(((middle - 275) / 25) ** 2)))) * rc
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, hue / sh
    return float(np.sqrt(dl**2 + dc**2 + dh**2 + rt * dc * dh))


def least(colours: list[str], visions: tuple[str, ...] = tuple(VISION)) -> tuple[float, str, str, str]:
    """Return the smallest difference between two of *colours* under any of *visions*, with the pair and the vision."""
    found = [
        (ciede2000(lab(one, vision), lab(other, vision)), one, other, vision)
        for vision in visions
        for one, other in combinations(colours, 2)
    ]
    return min(found, default=(100.0, "", "", ""))
