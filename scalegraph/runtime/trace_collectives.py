"""Collective operations of a trace: from the runtime's records to columns, sorted by begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scalegraph.traces import model
from scalegraph.traces.kinds import Columns

if TYPE_CHECKING:
    from scalegraph.runtime.results import Records, Result
    from scalegraph.traces.model import Definitions


class Collectives:
    """Collects the operations of a trace: a nonblocking one is recorded at its end, after later ones."""

    def __init__(self) -> None:
        self._parts: list[Columns] = []

    def add(self, rows: Records, carried: Records) -> None:
        """Add operations (``collective`` records) with their second records."""
        self._parts.append(
            {
                "begin": rows["first"].astype("<i8"),
                "end": rows["time"].astype("<i8"),
                "location": rows["processor"].astype("<i4"),
                "operation": rows["what"].astype("u1"),
                "communicator": rows["region"].astype("<i4"),
                "root": (rows["second"].astype("<i8") - 1).astype("<i4"),
                "sent": carried["first"].astype("<i8"),
                "received": carried["second"].astype("<i8"),
            }
        )

    def columns(self, definitions: Definitions, result: Result | None) -> Columns | None:
        """Return all operations by location and begin, ``None`` if there are none; this defines their communicators."""
        if not self._parts:
            return None
        made = {name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]}
        order = np.lexsort((made["location"], made["begin"]))
        made = {name: values[order] for name, values in made.items()}
        numbers = {0: 0} | {int(n): 0 for n in np.unique(made["communicator"]) if n}
        names = _names(result)
        for number in numbers:
            members = tuple(int(one) for one in np.unique(made["location"][made["communicator"] == number]))
            if number == 0:
                members = members or definitions.communicators[0].members
                definitions.communicators[0] = model.Communicator(definitions.communicators[0].name, members)
                continue
            numbers[number] = len(definitions.communicators)
            definitions.communicators.append(model.Communicator(names.get(number, f"communicator {number}"), members))
        made["communicator"] = np.array([numbers[int(n)] for n in made["communicator"]], dtype="<i4")
        return made


def _names(result: Result | None) -> dict[int, str]:
    rows = result.rows("COMMUNICATORS") if result is not None else []
    return {row["communicator"] // 2: row["name"].decode("utf-8", "replace") for row in rows if row["name"]}
