"""The view that a dock shows, and the options chosen for it."""

from __future__ import annotations

from collections.abc import Mapping

from scalegraph.subjects.option import OptionValue
from scalegraph.views import View
from scalegraph.views.families import SHOW_AS


class Chosen:
    """A view and its options. The option "show as" of a family changes the view.

    When the view changes, options that mean the same in both views keep their values. The new view's other options get
    the values that they had when it was last shown.
    """

    def __init__(self, view: View, options: Mapping[str, OptionValue]) -> None:
        self.view = view
        self.options: dict[str, OptionValue] = dict(options)
        self._left: dict[str, dict[str, OptionValue]] = {}  # options of the family's other views, by name

    @property
    def set(self) -> dict[str, OptionValue]:
        """The options that differ from their defaults."""
        return {name: value for name, value in self.options.items() if value is not None}

    def get(self, name: str) -> OptionValue:
        """Return an option's chosen value, None for the default; of "show as" the current choice."""
        if name == SHOW_AS and self.view.family is not None:
            return self.view.family.choice_of(self.view.name)
        return self.options.get(name)

    def update(self, options: Mapping[str, OptionValue]) -> bool:
        """Take *options* over; return whether "show as" among them changed the view."""
        values = dict(options)
        before, self.view = self.view, self.view.shown_as(values.pop(SHOW_AS, None))
        if self.view is not before:
            self._left[before.name] = self.options
            mine, theirs = _meanings(self.view), _meanings(before)
            kept = {name: value for name, value in self.options.items() if mine.get(name) == theirs.get(name)}
            self.options = self._left.get(self.view.name, {}) | kept
        known = {
            option.name for option in self.view.options
        }  # undo may name an option that only another view of the family has
        self.options.update({name: value for name, value in values.items() if name in known})
        return self.view is not before


def _meanings(view: View) -> dict[str, tuple[object, ...]]:
    """Return for each option what must be equal in another view so that a value means the same there."""
    return {option.name: (option.title, option.type, option.choices) for option in view.options}
