"""Alternatives to a faster line where the line mostly waits and speeding it up would not help."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scalegraph.subjects.study import StudyData

# cause of a loss -> button that removes it
_HELPS: Final = {
    "lock_s": "Make what this lock protects free",
    "barrier_wait_s": "Balance this loop",
    "message_wait_s": "Make this message free",
    "transfer_wait_s": "Make this message free",
    "message_s": "Make this message free",
    "serial_wait_s": "Make this serial part free",
    "fork_join_s": "Make this parallel region free to start",
}


@dataclass(frozen=True)
class Help:
    """An alternative to a faster line: *target* and *factor* of a virtual speedup; *act* is the button's text."""

    sentence: str
    act: str
    target: str
    factor: str


def help_for(data: StudyData, target: str) -> Help | None:
    """Return an alternative if the line *target* loses most of its time by waiting, else None."""
    from scalegraph.analyze import culprits
    from scalegraph.subjects import judgement

    kind, _, place = target.partition(":")
    lost = judgement.parts(data, data.main_series) if kind == "line" else None
    if lost is None:
        return None
    at = [f"{row['file']}:{row['line']}" == place or str(row["inside"]) == place for _, row in lost.iterrows()]
    here = lost[at]
    if here.empty:
        return None
    row = here.iloc[0]  # the largest loss comes first
    better, act = culprits.target_of(row), _HELPS.get(str(row["cause"]))
    if act is None or not better or better == target:
        return None
    name = f"{PurePath(place.rpartition(':')[0]).name}:{place.rpartition(':')[2]}"
    sentence = f"A faster {name} changes little: its loss is {row['words']}."
    return Help(sentence, act, better, culprits.factor_of(row, lost))
