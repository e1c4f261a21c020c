"""ScaleGraph's additions to the OTF2 archives that it writes, so that reading them gives the same trace."""

from __future__ import annotations

import json
from typing import Any, Final

from scalegraph.traces.kinds import KINDS
from scalegraph.traces.model import Definitions, Meta

PROPERTY: Final = "SCALEGRAPH::TRACE"
PREFIX: Final = "scalegraph."  # of the metric members that hold the columns of rows for which OTF2 has no event


def pack(definitions: Definitions, meta: Meta, base: int) -> str:
    """Return the archive's property; the archive's time 0 is tick *base*."""
    return json.dumps({"definitions": definitions.as_data(), "meta": meta.as_data(), "base": base})


def unpack(low: Any, handle: Any) -> tuple[Definitions, Meta, int] | None:
    """Return the data from `pack` in the open archive, or None if another program wrote it."""
    try:
        if PROPERTY not in low.Reader_GetPropertyNames(handle):
            return None
        data = json.loads(low.Reader_GetProperty(handle, PROPERTY))
        return Definitions.from_data(data["definitions"]), Meta.from_data(data["meta"]), int(data["base"])
    except (low.Error, ValueError, KeyError, TypeError):
        return None


def row_columns(member_names: list[str]) -> tuple[str, ...]:
    """Return the kind of row that a metric class with these members holds, and its columns; empty if it is not ours."""
    parts = [name.split(".") for name in member_names]
    ours = all(name.startswith(PREFIX) and len(part) == 3 for name, part in zip(member_names, parts, strict=True))
    if not ours or len({part[1] for part in parts}) != 1 or parts[0][1] not in KINDS:
        return ()
    kind, columns = KINDS[parts[0][1]], [part[2] for part in parts]
    return (kind.name, *columns) if set(kind.columns) - set(kind.added) <= set(columns) <= set(kind.columns) else ()
