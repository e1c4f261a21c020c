"""Views: what each window shows, built from a study without any toolkit, and its export to files.

A new view is one new file in this package that sets ``VIEW``; menus, ``--help`` and documentation follow.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from scalegraph.base.errors import InputError, near
from scalegraph.views.data import SourceText, StudyData
from scalegraph.views.view import Option, View

__all__ = ["Option", "SourceText", "StudyData", "View", "get", "registry"]


@cache
def registry() -> dict[str, View]:
    """Return every view by name, in the order of the menus."""
    found: list[View] = []
    for module in pkgutil.iter_modules(__path__):
        view = getattr(importlib.import_module(f"{__name__}.{module.name}"), "VIEW", None)
        if isinstance(view, View):
            found.append(view)
    return {view.name: view for view in sorted(found, key=lambda view: (view.order, view.name))}


def get(name: str) -> View:
    """Return the view called *name*.

    Raises:
        InputError: there is none; the nearest known name is given.

    """
    views = registry()
    if name not in views:
        raise InputError(f"unknown view '{name}'{near(name, views)}; known: {', '.join(views)}")
    return views[name]
