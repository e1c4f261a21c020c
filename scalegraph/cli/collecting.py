"""Garbage collection in commands: infrequent, since most of what it would scan is modules."""

from __future__ import annotations

import gc

_USUAL = gc.get_threshold()
_SELDOM = (50_000, 20, 20)  # allocations before a young collection; about 5 MB


def seldom() -> None:
    """Collect less often: loading modules alone would trigger 150 collections."""
    gc.set_threshold(*_SELDOM)


def as_usual() -> None:
    """Collect as often as Python does by default: for long-running commands, which decide when to collect."""
    gc.set_threshold(*_USUAL)


def done() -> None:
    """Skip the final collection of everything a command has loaded, a sixth of a short run."""
    if gc.get_threshold() == _SELDOM:
        gc.freeze()
