"""The interconnects between nodes: every `InterconnectSection` declared in a module here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import Field

from scalegraph.machine.interconnects.base import InterconnectSection
from scalegraph.machine.kinds import kinds

__all__ = ["Interconnect", "InterconnectSection", "interconnects"]


def interconnects() -> tuple[type[InterconnectSection], ...]:
    """Return the interconnects, sorted by kind."""
    return kinds(InterconnectSection, __name__, __path__)


if TYPE_CHECKING:
    Interconnect = InterconnectSection
else:
    Interconnect: Any = Annotated[Union[interconnects()], Field(discriminator="kind")]  # noqa: UP007 - of a tuple
