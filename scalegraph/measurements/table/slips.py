"""Cells that say that there is no number where one was expected: ``ERR``, ``timeout``, ``>3600``."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(
    r"#?(?:err(?:or|ors)?|fail(?:ed|ure|s)?|time[ _-]?d?[ _-]?out|oom|out[ _]of[ _]mem(?:ory)?|killed|crash(?:ed)?|"
    r"abort(?:ed)?|segfault|seg(?:mentation)?[ _]fault|sig[a-z]{3,4}|dnf|dns|tle|mle|not[ _]run|skipped|cancell?ed|"
    r"invalid|hang|hung|pending|running|#?(?:ref|name|value|div/0|num)!?\??|x+|\*+|\.+|tbd|todo|fehler|abbruch|echec)[!?.]*",
    re.IGNORECASE,
)
_BOUND = re.compile(r"(?:[<>~\u2248\u2264\u2265]=?\s*[\d.,]+|[\d.,]+\s*[*?!\u2020]+)(?:\s*[a-z]{1,3})?", re.IGNORECASE)
_LONGEST = 40  # characters of such a cell


def is_slip(cell: str) -> bool:
    """Whether *cell* holds, in place of a number, words that none was measured, or only a limit (``>3600``)."""
    return len(cell) <= _LONGEST and bool(_WORD.fullmatch(cell) or _BOUND.fullmatch(cell))


def without(found: Sequence[str]) -> list[str]:
    """Return the cells that are not slips, or all cells if every one is a slip."""
    return [cell for cell in found if not is_slip(cell)] or list(found)
