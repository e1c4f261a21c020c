"""The machine and the processor counts of a request that names none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from scalegraph.request.model.request import Request

Asked = TypeVar("Asked", bound="Request")
OWN_MACHINE: Final = "server-2x32"  # of a program of the user's own: the kind of machine that it runs on today
OWN_PROCESSORS: Final = (1, 2, 4, 8, 16, 32, 64)  # all that `OWN_MACHINE` has
SHIPPED_MACHINE: Final = "ksr1"  # of shipped programs: the papers' machine


def default_machine(program: str) -> str:
    """Return the machine of a request that names none.

    *program* is the name of a shipped program, the path of a description, or "" for sources and executables.
    """
    shipped = bool(program) and not program.endswith(".toml") and "/" not in program
    return SHIPPED_MACHINE if shipped else OWN_MACHINE


def with_machine(request: Asked) -> Asked:
    """Return *request* with the machine of its program if it names none; without counts, those that this machine has.

    It is changed in place: this happens while it is made, it is frozen afterwards.
    """
    if not request.machine.reference:
        name = default_machine(request.program.name)
        request.__dict__["machine"] = request.machine.model_copy(update={"name": name})
        if name == OWN_MACHINE and "processors" not in request.model_fields_set:
            request.__dict__["processors"] = OWN_PROCESSORS
    return request
