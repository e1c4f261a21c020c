"""A way on from a picture as data: the window makes a button of it, the command line words."""

from __future__ import annotations

from dataclasses import dataclass


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
    """What a view lacks (*text*), and how to get it.

    *way* leads there where ScaleGraph can run the program again; *rerun* says so, or *record*, what to measure of a
    program that it cannot run. *always*: the way needs no program.
    """

    text: str
    way: Way
    rerun: str = ""
    record: str = ""
    always: bool = False

    def sentence(self, *, runs: bool) -> str:
        """Return what is lacking and how to get it; *runs*: whether ScaleGraph can run the program."""
        return " ".join(part for part in (self.text, self.rerun if runs else self.record) if part)

    def ways(self, *, runs: bool) -> tuple[Way, ...]:
        """Return the way on, where there is one."""
        return (self.way,) if runs or self.always else ()
