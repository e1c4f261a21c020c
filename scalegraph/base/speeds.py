"""Speeds of stations or nodes in shorthand: ``4*1+2*2.5``, ``1 1 2``, ``1, 1, 2``, or one number for all."""

from __future__ import annotations

import math
import re

_MOST = 1 << 20  # maximum in one text
_TERM = re.compile(r"^(?:(\d+)\s*[*x]\s*)?(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)$")


def speeds(text: str) -> list[float]:
    """Return the speeds in *text*, one per station; a single value if it is one number for all.

    Raises `ValueError` naming what was expected.
    """
    bare = re.sub(r"\s*([*x])\s*", r"\1", text.strip().strip("[]"))
    found: list[float] = []
    for term in filter(None, re.split(r"(?<![eE])[+;,\s]+", bare)):
        match = _TERM.match(term)
        many = int(match.group(1) or 1) if match else 0
        value = float(match.group(2)) if match else 0.0
        if not 0 < value < math.inf or not 0 < many <= _MOST - len(found):
            raise ValueError(f"'{text}': speeds such as 4*1+2*2.5 were expected")
        found += [value] * many
    if not found:
        raise ValueError(f"'{text}': speeds such as 4*1+2*2.5 were expected")
    return found
