"""Garbage collection in commands: rare, since most of what it would search is modules."""

from __future__ import annotations

import gc

_USUAL = gc.get_threshold()
_SELDOM = (50_000, 20, 20)  # objects before a young collection; some 5 MB


def seldom() -> None:
    """Collect after more objects than usual: loading modules alone would set off 150 collections."""
    gc.set_threshold(*_SELDOM)


def as_usual() -> None:
    """Collect as often as Python does: for what goes on for long, and decides itself when to collect."""
    gc.set_threshold(*_USUAL)


def done() -> None:
    """Spare a command that ends a last collection of all that it loaded, a sixth of a short run."""
    if gc.get_threshold() == _SELDOM:
        gc.freeze()
