"""What a command that starts the other end of a pipe, as `piped`, says of its own accord."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_NEVER: Final = re.compile(r"(?!)")


@dataclass(frozen=True)
class Sentences:
    """What a command says of its own accord, by what it means.

    *refused*: this run will never start, while others may; *hopeless*: the command would wait for ever and is ended;
    *progress*: lines that say nothing of a failure; *ended*: somebody ended the run before it had begun.
    """

    refused: re.Pattern[str] = _NEVER
    hopeless: re.Pattern[str] = _NEVER
    progress: re.Pattern[str] = _NEVER
    ended: re.Pattern[str] = _NEVER
