"""Logs with one run a line, each as pairs: ``procs=4 time=2.9``, ``procs: 4, time: 2.9 s``."""

from __future__ import annotations

import re
from collections.abc import Sequence

_KEY = r"[A-Za-z_][A-Za-z0-9_.\-/()\[\] ]{0,39}?"
_PAIR = re.compile(
    rf"(?P<key>{_KEY})\s*(?:=(?!=)|:(?![:/\\]))\s*(?P<value>\"[^\"]*\"|'[^']*'|[^\s,;|=]+(?:\s(?:%|[a-zA-Z/]{{1,6}}(?=\s*(?:[,;|]|$))))?)\s*(?:[,;|\t]|\s|$)\s*"
)
_FEWEST = 2  # lines, and pairs in each
_SHARE = 0.5  # of the lines with text
_LONGEST = 2000  # characters of a line


def as_table(lines: Sequence[str]) -> tuple[list[str], int] | None:
    """Return *lines* with a tab-separated table of the pairs in place of such a log, and how many are left out.

    None if they are not one: at least half of the lines have the same keys. The names go to the line before the first
    run, or in front of it, so that line numbers stay true where they can.
    """
    found = {number: pairs for number, line in enumerate(lines) if len(pairs := _pairs(line)) >= _FEWEST}
    written = sum(1 for line in lines if line.strip())
    if len(found) < _FEWEST or len(found) < _SHARE * written:
        return None
    titles = list(dict.fromkeys(key for pairs in found.values() for key in pairs))
    shared = [key for key in titles if sum(key in pairs for pairs in found.values()) > _SHARE * len(found)]
    if len(shared) < _FEWEST or any(len(set(pairs) & set(shared)) < _FEWEST for pairs in found.values()):
        return None
    first = min(found)
    made = [""] * len(lines)
    for number, pairs in found.items():
        made[number] = "\t".join(pairs.get(key, "") for key in titles)
    header = "\t".join(titles)
    if first > 0:
        made[first - 1] = header
        return made, written - len(found)
    return [header, *made], written - len(found)


def _pairs(line: str) -> dict[str, str]:
    """Return the pairs that a line consists of, empty if it holds anything else or a key twice."""
    text = line.strip()
    if len(text) > _LONGEST:
        return {}
    made: dict[str, str] = {}
    at = 0
    while at < len(text):
        found = _PAIR.match(text, at)
        if found is None or found["key"].strip() in made:
            return {}
        made[found["key"].strip()] = found["value"].strip("\"'").replace("\t", " ")
        at = found.end()
    return made
