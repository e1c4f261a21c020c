"""The plain build of a program, as what runs it passes it on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Plain:
    """The plain build of a program: its *executable*, which is never run, and what `places.save` wrote of it."""

    executable: Path
    places: Path
