"""Bookmarks of traces as text, for the settings and for exported files. Independent of Qt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from scalegraph.base.errors import InputError

ENDING: Final = ".bookmarks.json"
_FORMAT: Final = "scalegraph-bookmarks"
_VERSION: Final = 1
_LONGEST: Final = 200  # characters of a name


@dataclass(frozen=True, order=True)
class Bookmark:
    """A named moment (*begin* is *end*) or interval, in ticks of the trace."""

    begin: int
    end: int
    name: str

    @property
    def moment(self) -> bool:
        """Whether it has no duration."""
        return self.begin == self.end


@dataclass(frozen=True)
class Whose:
    """The trace that bookmarks belong to: its file, and the clock of their ticks."""

    path: str
    size: int
    ticks_per_second: float

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.replace("\\", "/").rpartition("/")[2]

    def moved_to(self, other: Whose) -> bool:
        """Return whether *other* is the same file in another place, judged by name, size and clock."""
        return (self.name, self.size, self.ticks_per_second) == (other.name, other.size, other.ticks_per_second)


def written(bookmarks: Iterable[Bookmark], whose: Whose) -> str:
    """Return *bookmarks* as JSON."""
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "trace": whose.path,
        "size": whose.size,
        "ticks_per_second": whose.ticks_per_second,
        "bookmarks": [{"name": one.name, "begin": one.begin, "end": one.end} for one in bookmarks],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read(text: str, name: str = "the file") -> tuple[Whose, tuple[Bookmark, ...]]:
    """Return the bookmarks that `written` wrote.

    Raises:
        InputError: it is something else, or a later version.

    """
    try:
        content = json.loads(text)
    except ValueError as error:
        raise InputError(f"{name} is not JSON: {error}") from error
    if not isinstance(content, Mapping) or content.get("format") != _FORMAT:
        raise InputError(f'{name} holds no bookmarks: expected "format": "{_FORMAT}"')
    if content.get("version") != _VERSION:
        raise InputError(f"{name}: expected bookmarks of version {_VERSION}, got '{content.get('version')}'")
    try:
        whose = Whose(str(content["trace"]), int(content["size"]), float(content["ticks_per_second"]))
        found = tuple(sorted(_bookmark(item) for item in content["bookmarks"]))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{name}: expected name, begin and end of every bookmark, got {error!r}") from error
    return whose, found


def _bookmark(item: Mapping[str, Any]) -> Bookmark:
    begin, end = sorted((int(item["begin"]), int(item["end"])))
    return Bookmark(begin, end, tidy(str(item["name"])))


def tidy(name: str) -> str:
    """Return *name* as one line of limited length."""
    return " ".join(name.split())[:_LONGEST]


def rescaled(bookmarks: Iterable[Bookmark], before: float, after: float) -> tuple[Bookmark, ...]:
    """Return *bookmarks* converted from *before* to *after* ticks per second."""
    if before == after or before <= 0:
        return tuple(bookmarks)
    scale = after / before
    return tuple(Bookmark(round(one.begin * scale), round(one.end * scale), one.name) for one in bookmarks)


def merged(one: Iterable[Bookmark], other: Iterable[Bookmark]) -> tuple[Bookmark, ...]:
    """Return both lists in order, without duplicates."""
    return tuple(sorted({*one, *other}))


def free_name(bookmarks: Iterable[Bookmark]) -> str:
    """Return an unused name: ``Bookmark 3``."""
    taken = {bookmark.name for bookmark in bookmarks}
    number = 1
    while f"Bookmark {number}" in taken:
        number += 1
    return f"Bookmark {number}"
