"""The user's corrections to a measurement file; immutable, which makes undo simple."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from scalegraph.base.errors import Fault
from scalegraph.base.units import counted, thousands

Pairs = tuple[tuple[str, Any], ...]

_OPTIONS: Final = re.compile(r"; --[a-z](?:'[^']*'|[^()'])*(?=\)|$)")
NONE: Final = "\x00none"  # explicitly absent, unlike an empty text (not set)


_MEANT: Final = {"processors": "parameter", "time": "metric", "rate": "metric"}  # role of such a column in the table


@dataclass(frozen=True)
class ImportState:
    """*table*: fields of `TableChoices` except columns; *columns*: roles by title; *meaning*: fields of `Mapping`.

    *cells*: marks of single cells and rows, as in `TableChoices`. Everything else is guessed.
    """

    table: Pairs = ()
    columns: Pairs = ()
    meaning: Pairs = ()
    cells: Pairs = ()

    def said(self, part: str, key: str, value: Any) -> ImportState:
        """Return the state with *key* of *part* set, or guessed again for ``None``."""
        pairs: Pairs = getattr(self, part)
        made = dict(pairs)
        if value is None:
            made.pop(key, None)
        else:
            made[key] = value
        if part == "table" and key in ("delimiter", "header", "names"):
            # the columns change, so their roles no longer apply
            return replace(self, table=tuple(made.items()), columns=(), cells=())
        if part == "meaning" and key == "processors":
            made.pop("sizes", None)  # the candidates for sizes have changed
        if part == "meaning" and value is not None and key in ("rate", "time"):
            made.pop("time" if key == "rate" else "rate", None)  # times are computed from one metric
        if part == "meaning" and value is not None and key == "rate":
            made.pop("unit", None)
        return replace(self, **{part: tuple(made.items())})

    def with_role(self, title: str, name: str, role: str | None) -> ImportState:
        """Return the state with a *role* for the column *title*, named *name* in the set; ``None``: guess again.

        In addition to the roles of `TableChoices` there are ``processors``, ``time`` and ``rate``.
        """
        made = self
        for key in _MEANT:
            if made.get("meaning", key) == name:
                made = made.said("meaning", key, None)
        if role in _MEANT:
            return made.said("columns", title, _MEANT[role]).said("meaning", role, name)
        return made.said("columns", title, role)

    def role(self, title: str, name: str) -> str | None:
        """Return the role set for the column *title*, ``None`` if none."""
        said: str | None = self.get("columns", title)
        return next((key for key in _MEANT if said and self.get("meaning", key) == name), said)

    def get(self, part: str, key: str) -> Any:
        """Return the value set for *key*, ``None`` if none."""
        return dict(getattr(self, part)).get(key)


def choices(state: ImportState) -> dict[str, Any]:
    """Return the arguments for `TableChoices`."""
    made: dict[str, Any] = dict(state.table)
    if state.columns:
        made["columns"] = dict(state.columns)
    if state.cells:
        made["cells"] = dict(state.cells)
    return made


def meaning(state: ImportState) -> dict[str, Any]:
    """Return the fields of `Mapping` that are set; `NONE` becomes an empty one."""
    return {key: "" if value == NONE else value for key, value in state.meaning}


def words_of(file: str, measured: Any) -> str:
    """Return one sentence about a set's content."""
    parts = [
        counted(len(measured.values), "value"),
        "at " + counted(len(measured.points), "point"),
        "of " + (", ".join(measured.parameters) or "no parameter"),
    ]
    paths, metrics = len(measured.call_paths), len(measured.metrics)
    more = []
    if paths > 1:
        more.append(counted(paths, "call path"))
    more.append(counted(metrics, "metric"))
    return f"{file}: {' '.join(parts)}; {', '.join(more)}."


def skipped_words(measured: Any) -> tuple[str, str]:
    """Return one sentence about skipped items, and the list of all; empty texts if none were skipped."""
    skipped = measured.skipped
    if not skipped:
        return "", ""
    total = sum(item.count for item in skipped)
    first = skipped[0]
    sentence = f"{thousands(total)} left out: "
    more = f"; and {len(skipped) - 1} more kinds" if skipped[1:] else ""
    sentence += f"{first.count} {first.what}, {first.reason}{more}"
    lines = [
        f"{item.count} {item.what}: {item.reason}" + (f" (first at {item.place})" if item.place else "")
        for item in skipped
    ]
    return sentence.rstrip(".") + ".", "\n".join(lines)


def without_options(words: str) -> str:
    """Return a note or error without its hints at command line options, for which the window has fields."""
    return _OPTIONS.sub("", words)


def fault_places(faults: Iterable[Fault]) -> dict[str, str]:
    """Return errors by the key of their field, one per line."""
    found: dict[str, list[str]] = {}
    for fault in faults:
        found.setdefault(fault.key.lstrip("-"), []).append(fault.message)
    return {key: "\n".join(texts) for key, texts in found.items()}
