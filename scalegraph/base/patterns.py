"""Regular expressions compiled on first use: most commands use few of those declared by modules."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Late:
    """A proxy for a regular expression that compiles it on first use."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(re.compile(self._text, self._flags), name)
        self.__dict__[name] = found
        return found


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return the equivalent of `re.compile` for *text* and *flags*, compiled when one of its methods is first used.

    Functions of `re` do not accept it: call its methods. Raises `re.error` on first use.
    """
    return cast("re.Pattern[AnyStr]", _Late(text, flags))
