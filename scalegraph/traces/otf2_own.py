"""What ScaleGraph adds to the OTF2 archives that it writes, so that reading them gives the same trace."""

from __future__ import annotations

import json
from typing import Any, Final

from scalegraph.traces.model import Definitions, Meta

PROPERTY: Final = "SCALEGRAPH::TRACE"
PREFIX: Final = "scalegraph."  # of the metric members that hold the columns of rows for which OTF2 has no event


def pack(definitions: Definitions, meta: Meta, base: int) -> str:
    """Return the archive's property; the archive's time 0 is tick *base*."""
    return json.dumps({"definitions": definitions.as_data(), "meta": meta.as_data(), "base": base})


def unpack(low: Any, handle: Any) -> tuple[Definitions, Meta, int] | None:
    """Return what `pack` kept in the open archive, or None if somebody else wrote it."""
    try:
        if PROPERTY not in low.Reader_GetPropertyNames(handle):
            return None
        data = json.loads(low.Reader_GetProperty(handle, PROPERTY))
        return Definitions.from_data(data["definitions"]), Meta.from_data(data["meta"]), int(data["base"])
    except (low.Error, ValueError, KeyError, TypeError):
        return None


def row_kind(member_names: list[str]) -> str:
    """Return the kind of row that a metric class with these members holds, or an empty string."""
    return member_names[0].split(".")[1] if member_names and member_names[0].startswith(PREFIX) else ""
