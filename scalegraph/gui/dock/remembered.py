"""What the places of a study's arrangements showed when they were last left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.subjects.option import OptionValue
from scalegraph.views.families import SHOW_AS
from scalegraph.views.view import View

if TYPE_CHECKING:
    from scalegraph.gui.dock.view_dock import ViewDock


class Remembered:
    """For each arrangement the choices of "show as" and the options of its places, by the name of their view.

    "Show as" belongs to one arrangement: another one that has the same view shows it as it was left there.
    """

    def __init__(self) -> None:
        self._left: dict[str, dict[str, dict[str, Any]]] = {}

    def leave(self, arrangement: str, docks: Iterable[ViewDock]) -> None:
        """Remember what *docks* show in *arrangement*."""
        if arrangement:
            changed = [dock for dock in docks if dock.view.name != dock.objectName() or dock.chosen]
            known = views.everything()
            self._left[arrangement] = {
                dock.objectName(): {"view": dock.view.name, "options": dock.chosen}
                for dock in changed
                if dock.objectName() in known
            }

    def at(self, arrangement: str, place: str) -> tuple[View, dict[str, OptionValue]]:
        """Return the view at *place*, and its options."""
        view = views.get(place)
        kept = self._left.get(arrangement, {}).get(place, {})
        shown = next((member for member in view.members if member.name == kept.get("view")), view)
        return shown, view_options(shown, kept.get("options") or {})

    def choose(self, arrangement: str, place: str, choice: OptionValue) -> None:
        """Remember another *choice* of "show as": an undone one, for instance."""
        view = views.get(place).shown_as(choice)
        self._left.setdefault(arrangement, {})[place] = {"view": view.name, "options": {}}

    def written(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return self._left

    def read(self, content: Any) -> None:
        """Take what `written` returned; what is malformed is ignored."""
        for arrangement, places in dict(content).items():
            known = {
                place: {"view": item.get("view"), "options": dict(item.get("options") or {})}
                for place, item in dict(places).items()
                if place in views.everything() and isinstance(item, Mapping)
            }
            self._left[str(arrangement)] = known


def option_of(view: View, name: str) -> dict[str, OptionValue]:
    """Return the option "show as" that lets *view* show the view *name* of its family; nothing if it does."""
    if view.name == name or view.family is None:
        return {}
    return {SHOW_AS: view.family.choice_of(name)}


def view_options(view: View, given: Any) -> dict[str, OptionValue]:
    """Return the options of *given* that the view still has and that are valid."""
    known = {option.name: option for option in view.options}
    kept: dict[str, OptionValue] = {}
    for name, value in dict(given).items():
        if name in known:
            try:
                kept[name] = known[name].parse(value)
            except InputError:
                continue
    return kept
