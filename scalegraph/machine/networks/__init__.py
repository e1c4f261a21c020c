"""The networks that a machine can have: every `NetworkSection` declared in a module here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import Field

from scalegraph.machine.kinds import kind_of, kinds
from scalegraph.machine.networks.base import NetworkSection

__all__ = ["Network", "NetworkSection", "kind_of", "networks"]


def networks() -> tuple[type[NetworkSection], ...]:
    """Return the networks, sorted by kind."""
    return kinds(NetworkSection, __name__, __path__)


if TYPE_CHECKING:
    Network = NetworkSection
else:
    Network: Any = Annotated[Union[networks()], Field(discriminator="kind")]  # noqa: UP007 - of a tuple
