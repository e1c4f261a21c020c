"""The plain build of a program, as passed to the pipeline model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Plain:
    """A program's plain build: its *executable*, which is never run, and the output of `places.save` for it."""

    executable: Path
    places: Path
