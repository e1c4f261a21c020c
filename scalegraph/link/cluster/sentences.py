"""Messages printed by the command that starts the other end of a pipe (see `piped`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_NEVER: Final = re.compile(r"(?!)")


@dataclass(frozen=True)
class Sentences:
    """A command's own messages, by meaning.

    *refused*: this run will never start, though others may; *hopeless*: the command would wait for ever and is ended;
    *progress*: lines that do not explain a failure; *ended*: somebody ended the run before it had begun.
    """

    refused: re.Pattern[str] = _NEVER
    hopeless: re.Pattern[str] = _NEVER
    progress: re.Pattern[str] = _NEVER
    ended: re.Pattern[str] = _NEVER
