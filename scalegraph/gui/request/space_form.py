"""Converts lists of machines, splits, schedules etc. between the request panel's text and a request."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

from scalegraph.gui.request import text
from scalegraph.request.model.space import Space, named_by

if TYPE_CHECKING:
    from scalegraph.gui.request.form import RequestForm

_AXES: Final = ("machine", "threads_per_process", "schedule", "affinity", "cflags")


def put(form: RequestForm, data: dict[str, Any]) -> None:
    """Write the lists of *form* into *data*, a request as a dictionary; the first of each becomes the single value."""
    lists = {axis: text.items(getattr(form, f"space_{axis}"), axis) for axis in _AXES}
    made: dict[str, Any] = {axis: values for axis, values in lists.items() if values}
    if form.space_budget.strip():
        made |= {"budget": form.space_budget.strip(), "minimise": form.space_minimise}
    if not made:
        return
    data["space"] = made
    if lists["machine"]:
        first = lists["machine"][0]
        data["machine"] = {**data["machine"], "name": "", "path": "", named_by(first): first}
    if lists["threads_per_process"]:
        data["program"].pop("threads_per_process", None)
    if lists["schedule"]:
        data["schedule"] = ""
    if lists["affinity"]:
        data["target"].pop("pin", None)
    if lists["cflags"]:
        data["program"].pop("cflags", None)


def of_space(space: Space) -> dict[str, Any]:
    """Return the lists of *space* as typed text."""
    several = "; " if any("," in one for one in space.schedule) else ", "
    return {
        "space_machine": ", ".join(space.machine),
        "space_threads_per_process": ", ".join(map(str, space.threads_per_process)),
        "space_schedule": several.join(space.schedule),
        "space_affinity": ", ".join(space.affinity),
        "space_cflags": "; ".join(shlex.join(shlex.split(one)) for one in space.cflags),
        "space_budget": space.budget,
        "space_minimise": space.minimise,
    }
