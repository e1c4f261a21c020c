"""Regular expressions that are compiled when they are first used: most commands use few of all that modules declare."""

from __future__ import annotations

import re
from typing import Any, cast


class _Late:
    """Stands for a compiled expression; its methods are those of the expression, which the first use compiles."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(re.compile(self._text, self._flags), name)
        self.__dict__[name] = found
        return found


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` makes of *text* and *flags*, made at the first use of one of its methods.

    Functions of `re` do not take it: call its own. Raises `re.error` at the first use.
    """
    return cast("re.Pattern[str]", _Late(text, flags))
