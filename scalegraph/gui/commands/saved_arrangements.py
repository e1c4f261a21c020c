"""Arrangements of views that the user has saved under a name: kept in the settings, offered in every study or trace."""

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
    """One arrangement: views of a *subject* (study or trace), and what `ViewArea.save_state` says of them."""

    subject: str
    state: str


@dataclass(frozen=True)
class Arranged:
    """Every saved arrangement by its name."""

    by_name: dict[str, Saved] = field(default_factory=dict)


class SavedArrangements(EditModel[Arranged]):
    """Saves, renames and deletes arrangements; each is a step that can be undone, and lands in the settings."""

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(Arranged(_read(settings.text(_KEY))), parent)
        self._settings = settings

    def names(self, subject: str = "") -> list[str]:
        """Return the names of those of *subject*, or of all, in the order of saving."""
        return [name for name, saved in self.state.by_name.items() if subject in ("", saved.subject)]

    def state_of(self, name: str) -> QByteArray:
        """Return what `ViewArea.apply_state` takes."""
        return QByteArray(self.state.by_name[name].state.encode())

    def save(self, name: str, subject: str, state: QByteArray) -> None:
        """Keep *state* under *name*; one of that name is replaced."""
        saved = Saved(subject, bytes(state.data()).decode())
        self.set(replace(self.state, by_name={**self.state.by_name, name: saved}), f"save arrangement {name}")

    def rename(self, old: str, new: str) -> None:
        """Call *old* by another name; one that has it already is replaced."""
        rest = [(name, saved) for name, saved in self.state.by_name.items() if name != new or name == old]
        made = {new if name == old else name: saved for name, saved in rest}
        self.set(replace(self.state, by_name=made), f"rename arrangement {old}")

    def delete(self, name: str) -> None:
        """Forget *name*."""
        made = {other: saved for other, saved in self.state.by_name.items() if other != name}
        self.set(replace(self.state, by_name=made), f"delete arrangement {name}")

    def show(self, state: Arranged) -> None:
        """Make *state* the current one and keep it; for the commands."""
        self._settings.set_text(
            _KEY,
            json.dumps(
                {name: {"subject": saved.subject, "state": saved.state} for name, saved in state.by_name.items()}
            ),
        )
        super().show(state)


def _read(text: str) -> dict[str, Saved]:
    """Return what the settings say; what cannot be read of them is left out."""
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
