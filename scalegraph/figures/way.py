"""Next steps from a figure, as data: a button in the window, a sentence on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

Met: TypeAlias = Callable[..., bool]  # takes a study or trace, and the options of the view by name


@dataclass(frozen=True)
class Way:
    """A next step from a figure, offered as a button in the window.

    *name* is its kind, *arguments* its arguments (``(("what", "classes"),)``). *text* is the button's label, *tip* its
    tooltip. *words* are the equivalent for the command line: options of ``scalegraph simulate``, sections of a file.
    """

    name: str
    text: str
    tip: str = ""
    words: str = ""
    arguments: tuple[tuple[str, str], ...] = ()

    def argument(self, name: str) -> str:
        """Return the argument called *name*, empty if missing."""
        return dict(self.arguments).get(name, "")


@dataclass(frozen=True)
class Need:
    """A requirement of a view on a study or trace: whether it is *met*, and the *text* shown if it is not.

    *met* takes the study or trace and the options of the view. Without it, the view itself finds out and returns the
    need; *text* may then have placeholders (``{words}``) that `of` fills. *way* gets the missing data if ScaleGraph can
    run the program again; *rerun* says so, or *record* says what to measure for a program that it cannot run. *always*:
    the next step needs no program. A need without a way is met by other options, or cannot be met.
    """

    text: str
    way: Way | None = None
    rerun: str = ""
    record: str = ""
    always: bool = False
    met: Met | None = field(default=None, compare=False, repr=False)
    declared: Need | None = field(default=None, compare=False, repr=False)

    def of(self, **places: object) -> Need:
        """Return the need with the *places* of its text filled in; `declared` stays the one that the view declares."""
        return replace(self, text=self.text.format(**places), declared=self)

    @property
    def general(self) -> str:
        """The text without reasons yet to be filled in; other placeholders give way to their names, if words."""
        known = re.sub(r": \{\w+\}\.?$", ".", self.text)
        return re.sub(r"(?<= )\{(\w+)\}", r"\1", re.sub(r"(?<! )\{\w+\}", "", known))

    def sentence(self, *, runs: bool) -> str:
        """Return what is missing and how to get it; *runs*: whether ScaleGraph can run the program."""
        return " ".join(part for part in (self.text, self.rerun if runs else self.record) if part)

    def ways(self, *, runs: bool) -> tuple[Way, ...]:
        """Return the next step, if there is one."""
        return (self.way,) if self.way is not None and (runs or self.always) else ()
