"""The origin of a request: typed here, read from a request file, or kept in a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from scalegraph.request.model.request import Request

Kind: TypeAlias = Literal["here", "file", "study"]


@dataclass(frozen=True)
class Origin:
    """Where a request came from, and the *name* of that file. It is ignored when requests are compared."""

    kind: Kind = field(default="here", compare=False)
    name: str = field(default="", compare=False)


HERE = Origin()


def of_study(data: Mapping[str, Any], name: str) -> Request:
    """Return the request that the study *name* keeps as *data*, marked as from a study.

    Raises `InputError` if *data* is not a request.
    """
    from scalegraph.base import toml
    from scalegraph.request.model.request import Request

    return toml.validate(Request, dict(data), name).with_origin(Origin("study", name))
