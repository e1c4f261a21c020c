"""The default machine and processor counts of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from scalegraph.request.model.request import Request

Asked = TypeVar("Asked", bound="Request")
OWN_MACHINE: Final = "server-2x32"  # for a user's own program: the kind of machine that it runs on today
OWN_PROCESSORS: Final = (1, 2, 4, 8, 16, 32, 64)  # all processors of `OWN_MACHINE`
SHIPPED_MACHINE: Final = "ksr1"  # for shipped programs: the papers' machine


def default_machine(program: str) -> str:
    """Return the default machine of a request.

    *program*: the name of a shipped program, the path of a description, or "" for sources and executables.
    """
    shipped = bool(program) and not program.endswith(".toml") and "/" not in program
    return SHIPPED_MACHINE if shipped else OWN_MACHINE


def with_machine(request: Asked) -> Asked:
    """Return *request* with its program's machine if it names none, and that machine's processor counts if it has none.

    It is changed in place, while it is being made; it is frozen afterwards.
    """
    if not request.machine.reference:
        name = default_machine(request.program.name)
        request.__dict__["machine"] = request.machine.model_copy(update={"name": name})
        if name == OWN_MACHINE and "processors" not in request.model_fields_set:
            request.__dict__["processors"] = OWN_PROCESSORS
    return request
