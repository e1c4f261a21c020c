"""Groups views in menus: one submenu per group, in the order in which a user needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scalegraph.views.view import Subject, View

GROUPS: Final = (
    "Overview",
    "Scalability",
    "Choose",
    "Lost time",
    "Cache and memory",
    "What would change it",
    "Models",
    "Prediction",
    "Isospeed",
    "Regions",
    "Compare",
)


def grouped(subject: Subject) -> dict[str, list[View]]:
    """Return the views of *subject* by group title, groups and views in menu order; a family appears once."""
    from scalegraph import views

    found: dict[str, list[View]] = {}
    for view in sorted(views.listed(subject).values(), key=_order):
        found.setdefault(view.group, []).append(view)
    return found


def _order(view: View) -> tuple[int, str, int]:
    known = GROUPS.index(view.group) if view.group in GROUPS else len(GROUPS)
    return known, view.group, view.order
