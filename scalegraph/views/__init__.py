"""Views: what each window shows, built from a study or trace without Qt, and exported to files.

A new view is one new file in this package, or a package below it, that sets ``VIEW``; menus, ``--help`` and
documentation pick it up. A view that shows the same data as another one joins a family in `views.families`.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from scalegraph.base.errors import InputError, near

if TYPE_CHECKING:
    from scalegraph.views.view import Subject, View

_HINTS: Final = 8

__all__ = ["View", "everything", "get", "listed", "registry"]


def __getattr__(name: str) -> Any:
    """Import `View` on first use, so that importing this package does not load pandas."""
    if name != "View":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.view").View


@cache
def registry(subject: Subject = "study") -> dict[str, View]:
    """Return the views of studies, or of traces, by name, in menu order."""
    return {view.name: view for view in everything().values() if view.subject == subject}


@cache
def listed(subject: Subject = "study") -> dict[str, View]:
    """Return the views of studies, or of traces, as menus and lists have them: one of each family, with its title."""
    shown = {}
    for name, view in registry(subject).items():
        if view.family is None:
            shown[name] = view
        elif view.family.name == name:
            shown[name] = replace(view, title=view.family.title, description=view.family.description)
    return shown


@cache
def everything() -> dict[str, View]:
    """Return all views by name, in menu order; views of studies come first."""
    from scalegraph.views.families import FAMILIES
    from scalegraph.views.view import View

    found: list[View] = []
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        view = getattr(importlib.import_module(module.name), "VIEW", None)
        if isinstance(view, View):
            found.append(view)
    named = {view.name: view for view in sorted(found, key=lambda view: view.name)}
    for family in FAMILIES:
        for name in family.shown_as.values():
            view = named.pop(name)  # after the views without a family, in the order of "show as"
            named[name] = replace(view, family=family, group=family.group, order=family.order)
    return dict(sorted(named.items(), key=lambda item: (item[1].subject, item[1].order)))


def get(name: str) -> View:
    """Return the view called *name*.

    Raises:
        InputError: there is none; the message suggests the nearest name.

    """
    views = everything()
    if name not in views:
        raise InputError(f"unknown view '{name}'{_meant(name) or near(name, views)}; known: {', '.join(views)}")
    return views[name]


def _meant(word: str) -> str:
    """Return a hint at views for a *word* of "show as" or of a title that was taken for a view's name, or nothing."""
    from scalegraph.views.families import FAMILIES

    wanted = word.lower().replace("_", " ").replace("-", " ")
    chosen = [name for family in FAMILIES for choice, name in family.shown_as.items() if choice == wanted]
    titled = [
        name for family in FAMILIES if wanted in family.title.lower().split() for name in family.shown_as.values()
    ]
    titled += [view.name for view in everything().values() if wanted in view.title.lower().split()]
    found = list(dict.fromkeys(chosen or titled))[:_HINTS]
    *others, last = [f"'{name}'" for name in found] or [""]
    return f"; did you mean {' or '.join(part for part in (', '.join(others), last) if part)}?" if last else ""
