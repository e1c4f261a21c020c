"""Logs of `key: value` lines, a block of lines for each run, converted to the lines of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_LINE = re.compile(r"\s*(?P<key>[A-Za-z][^:=\t,;|]{0,59}?)\s*(?::(?![:/\\])|=(?!=))\s*(?P<value>\S.{0,199}?)\s*")
_FEWEST = 2  # blocks, and keys of each
_SHARE = 0.5  # of the nonempty lines


def as_table(lines: Sequence[str]) -> list[str] | None:
    """Return *lines* with a tab-separated table in place of such a log, None if they are not one.

    The names go to the line of the first key, each run to the last line of its block, so that line numbers stay true. A
    block ends when its first key, or any other that it already has, comes again; keys that only some blocks have leave
    cells empty. Other lines are left out.
    """
    found = [
        (number, match) for number, line in enumerate(lines) if len(line) < 300 and (match := _LINE.fullmatch(line))
    ]
    written = sum(1 for line in lines if line.strip() and not line.lstrip().startswith(("#", "%", "//")))
    if len(found) < _FEWEST * 2 or len(found) < _SHARE * written:
        return None
    counted = Counter(match["key"] for _, match in found)
    keys = [key for key, count in counted.items() if count >= _FEWEST]
    if len(keys) < _FEWEST:
        return None
    first = next(match["key"] for _, match in found if match["key"] in keys)
    blocks: list[dict[str, str]] = []
    ends: list[int] = []
    start = next(number for number, match in found if match["key"] == first)
    for number, match in found:
        key = match["key"]
        if key not in keys or "\t" in match["value"]:
            continue
        if not blocks or key == first or key in blocks[-1]:
            blocks.append({})
            ends.append(number)
        blocks[-1][key] = match["value"]
        ends[-1] = number
    whole = [len(block) > 1 for block in blocks]
    if sum(whole) < _FEWEST or not all(whole) or start == ends[0]:
        return None
    made = [""] * len(lines)
    made[start] = "\t".join(_quiet(key) for key in keys)
    for end, block in zip(ends, blocks, strict=True):
        made[end] = "\t".join(block.get(key, "") for key in keys)
    return made


def _quiet(key: str) -> str:
    """Return a key in the form of a column name."""
    return re.sub(r"\s*-{2,}\s*", " ", key).strip()
