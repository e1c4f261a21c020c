"""Arrangements saved by the user: kept in the settings, offered for every study or trace."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Final

from PySide6.QtCore import QByteArray, QObject

from scalegraph.gui.base.edit_model import EditModel
from scalegraph.gui.base.settings import Settings

_KEY: Final = "arrangements"


@dataclass(frozen=True)
class Saved:
    """One arrangement: views of a *subject* (study or trace), and the state from `ViewArea.save_state`."""

    subject: str
    state: str


@dataclass(frozen=True)
class Arranged:
    """All saved arrangements by name."""

    by_name: dict[str, Saved] = field(default_factory=dict)


class SavedArrangements(EditModel[Arranged]):
    """Saves, renames and deletes arrangements; each change is undoable and goes into the settings."""

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(Arranged(_read(settings.text(_KEY))), parent)
        self._settings = settings

    def names(self, subject: str = "") -> list[str]:
        """Return the names of arrangements of *subject*, or of all, in the order of saving."""
        return [name for name, saved in self.state.by_name.items() if subject in ("", saved.subject)]

    def state_of(self, name: str) -> QByteArray:
        """Return the state for `ViewArea.apply_state`."""
        return QByteArray(self.state.by_name[name].state.encode())

    def save(self, name: str, subject: str, state: QByteArray) -> None:
        """Save *state* under *name*, replacing any of that name."""
        saved = Saved(subject, bytes(state.data()).decode())
        self.set(replace(self.state, by_name={**self.state.by_name, name: saved}), f"save arrangement {name}")

    def rename(self, old: str, new: str) -> None:
        """Rename *old*; an arrangement that has the new name is replaced."""
        rest = [(name, saved) for name, saved in self.state.by_name.items() if name != new or name == old]
        made = {new if name == old else name: saved for name, saved in rest}
        self.set(replace(self.state, by_name=made), f"rename arrangement {old}")

    def delete(self, name: str) -> None:
        """Delete *name*."""
        made = {other: saved for other, saved in self.state.by_name.items() if other != name}
        self.set(replace(self.state, by_name=made), f"delete arrangement {name}")

    def show(self, state: Arranged) -> None:
        """Make *state* the current one and save it; called by the commands."""
        self._settings.set_text(
            _KEY,
            json.dumps(
                {name: {"subject": saved.subject, "state": saved.state} for name, saved in state.by_name.items()}
            ),
        )
        super().show(state)


def _read(text: str) -> dict[str, Saved]:
    """Return the arrangements in the settings; unreadable ones are skipped."""
    try:
        content = json.loads(text) if text else {}
    except ValueError:
        return {}
    found = content.items() if isinstance(content, dict) else ()
    return {
        name: Saved(str(item["subject"]), str(item["state"]))
        for name, item in found
        if isinstance(item, dict) and {"subject", "state"} <= item.keys()
    }
