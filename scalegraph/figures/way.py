"""A way on from a picture as data: the window makes a button of it, the command line words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

Met: TypeAlias = Callable[..., bool]  # of a study or trace, with the options of the view by name


@dataclass(frozen=True)
class Way:
    """A way on from a figure, which the window offers as a button.

    *name* is its kind, *arguments* say of what (``(("what", "classes"),)``). *text* is on the button, *tip* says
    what it does. *words* say the same for the command line: switches of ``scalegraph simulate``, sections of a file.
    """

    name: str
    text: str
    tip: str = ""
    words: str = ""
    arguments: tuple[tuple[str, str], ...] = ()

    def argument(self, name: str) -> str:
        """Return the argument called *name*, empty if there is none."""
        return dict(self.arguments).get(name, "")


@dataclass(frozen=True)
class Need:
    """What a view needs of a study or a trace: whether it is there (*met*), and what is said where it is not (*text*).

    *met* takes the study or trace and the options of the view. Without it only the view itself finds out, and returns
    the need; *text* may then have places (``{words}``) that `of` fills. *way* leads to what is lacking where
    ScaleGraph can run the program again; *rerun* says so, or *record*, what to measure of a program that it cannot
    run. *always*: the way needs no program. A need without a way is met by other options, or by nothing.
    """

    text: str
    way: Way | None = None
    rerun: str = ""
    record: str = ""
    always: bool = False
    met: Met | None = field(default=None, compare=False, repr=False)
    declared: Need | None = field(default=None, compare=False, repr=False)

    def of(self, **places: object) -> Need:
        """Return the need with the *places* of its text filled; `declared` stays the one that the view declares."""
        return replace(self, text=self.text.format(**places), declared=self)

    @property
    def general(self) -> str:
        """The text where the places are not known: their names, where they are words of their own."""
        return re.sub(r"(?<= )\{(\w+)\}", r"\1", re.sub(r"(?<! )\{\w+\}", "", self.text))

    def sentence(self, *, runs: bool) -> str:
        """Return what is lacking and how to get it; *runs*: whether ScaleGraph can run the program."""
        return " ".join(part for part in (self.text, self.rerun if runs else self.record) if part)

    def ways(self, *, runs: bool) -> tuple[Way, ...]:
        """Return the way on, where there is one."""
        return (self.way,) if self.way is not None and (runs or self.always) else ()
