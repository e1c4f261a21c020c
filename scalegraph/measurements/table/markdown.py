"""Emphasis in the cells of a Markdown table: ``**52.0**``, ```52.0```."""

from __future__ import annotations

import re
from collections.abc import Sequence

_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)+\|?\s*")
_EMPHASIS = re.compile(r"(?P<mark>\*\*|__|`|\*)(?P<text>[^*`|_\s](?:[^*`|]*[^*`|_\s])?)(?P=mark)(?=\s*(?:\||$))")


def as_table(lines: Sequence[str]) -> list[str] | None:
    """Return *lines* with the cells of Markdown tables without emphasis; None if there is none in them."""
    if not any("--" in line and _RULE.fullmatch(line) for line in lines):
        return None
    made = [_EMPHASIS.sub(r"\g<text>", line) if "|" in line else line for line in lines]
    return made if made != list(lines) else None
