"""ScaleGraph's rows in a Paraver trace, for writer and reader.

A comment after the header holds definitions, so that numbers are preserved. Rows for which Paraver has no record become
events: one line, with an event type for each column.
"""

from __future__ import annotations

import json
from typing import Any, Final

from scalegraph.traces.kinds import KINDS
from scalegraph.traces.model import Definitions, Meta

COMMENT: Final = "#ScaleGraph "
CALLS: Final = 60000019  # user functions, in Extrae's form: the function, then 0
LEFT: Final = 91900000  # with the 0: the region that is left
METRICS: Final = 92000000  # plus the number of the metric
ROWS: Final = {kind: 91000000 + 100 * number for number, kind in enumerate(KINDS)}  # plus the number of the column


def pack(definitions: Definitions, meta: Meta, base: int) -> str:
    """Return the comment; time 0 of the file is tick *base*."""
    return COMMENT + json.dumps({"definitions": definitions.as_data(), "meta": meta.as_data(), "base": base})


def unpack(line: str) -> tuple[Definitions, Meta, int] | None:
    """Return the data from `pack`, or None if the comment is not ours or is damaged."""
    try:
        data: Any = json.loads(line[len(COMMENT) :])
        return Definitions.from_data(data["definitions"]), Meta.from_data(data["meta"]), int(data["base"])
    except (ValueError, KeyError, TypeError):
        return None


def threads(definitions: Definitions) -> list[tuple[int, int, int]]:
    """Return application, task and thread (from 1) of every location: a task per group, or location without one."""
    tasks: dict[tuple[str, int], int] = {}
    used: dict[int, int] = {}
    made = []
    for number, location in enumerate(definitions.locations):
        key = ("group", location.group) if location.group >= 0 else ("location", number)
        task = tasks.setdefault(key, len(tasks) + 1)
        used[task] = used.get(task, 0) + 1
        made.append((1, task, used[task]))
    return made
