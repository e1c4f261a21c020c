"""The networks that a machine may have: every module here that declares a `NetworkSection` is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import Field

from scalegraph.machine.kinds import kind_of, kinds
from scalegraph.machine.networks.base import NetworkSection

__all__ = ["Network", "NetworkSection", "kind_of", "networks"]


def networks() -> tuple[type[NetworkSection], ...]:
    """Return the networks by the names of their kinds."""
    return kinds(NetworkSection, __name__, __path__)


if TYPE_CHECKING:
    Network = NetworkSection
else:
    Network: Any = Annotated[Union[networks()], Field(discriminator="kind")]  # noqa: UP007 - of a tuple
