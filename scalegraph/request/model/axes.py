"""The axes of ``[space]``, declared once: each with the single value of a request that its list replaces."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from scalegraph.request.model.request import Request


class Axis(NamedTuple):
    """The *key* of the single value in the request file, and its *usual* text, which a choice need not state."""

    key: str
    usual: str = ""


MACHINE: Final = "machine"
FLAGS: Final = "cflags"
AXES: Final = {
    MACHINE: Axis("machine.name"),
    "threads_per_process": Axis("program.threads_per_process", "1"),
    "schedule": Axis("schedule"),
    "affinity": Axis("target.pin", "close"),
    FLAGS: Axis("program.cflags"),
}
"""The axes in the order of `base.points.AXES`."""


def written(axis: str, value: Any) -> str:
    """Return a value of *axis* as the text of a choice; flags may be given as one text or as separate words."""
    if axis == FLAGS:
        return shlex.join(shlex.split(value) if isinstance(value, str) else value)
    return str(value)


def single(request: Request, axis: str) -> str:
    """Return the single value of *axis* in *request* as the text of a choice."""
    if axis == MACHINE:
        return request.machine.reference
    group, _, name = AXES[axis].key.rpartition(".")
    return written(axis, getattr(getattr(request, group) if group else request, name))


def is_given(request: Request, axis: str) -> bool:
    """Whether *request* states the single value of *axis*, even if it is the usual one."""
    group, _, name = AXES[axis].key.rpartition(".")
    return name in (getattr(request, group) if group else request).model_fields_set


def with_single(request: Request, axis: str, value: Any) -> Request:
    """Return *request* with *value*, one of the list of *axis*, as its single value."""
    group, _, name = AXES[axis].key.rpartition(".")
    changes = {name: tuple(shlex.split(value)) if axis == FLAGS else value}
    if axis == MACHINE:
        changes = {"name": "", "path": "", named_by(value): value}
    return request.model_copy(update={group: getattr(request, group).model_copy(update=changes)} if group else changes)


def named_by(machine: str) -> str:
    """Return the field of a request for *machine*: its file, or its name."""
    return "path" if machine.endswith(".toml") or "/" in machine else "name"
