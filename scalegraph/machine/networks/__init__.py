"""The networks that a machine may have: every module here that declares a `NetworkSection` is one."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args

from pydantic import Field

from scalegraph.machine.networks.base import NetworkSection

__all__ = ["Network", "NetworkSection", "kind_of", "networks"]


def networks() -> tuple[type[NetworkSection], ...]:
    """Return the networks by the names of their kinds."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    found = {kind_of(network): network for network in NetworkSection.__subclasses__()}
    return tuple(found[kind] for kind in sorted(found))


def kind_of(network: type[NetworkSection]) -> str:
    """Return the name of a network in machine files."""
    return str(get_args(network.model_fields["kind"].annotation)[0])


if TYPE_CHECKING:
    Network = NetworkSection
else:
    Network: Any = Annotated[Union[networks()], Field(discriminator="kind")]  # noqa: UP007 - of a tuple
