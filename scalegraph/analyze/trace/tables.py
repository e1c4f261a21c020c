"""Tables of the critical path and of waits with names beside the numbers, for files and the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.critical_path import PIECES, CriticalPath, Piece
from scalegraph.analyze.trace.critical_path_profile import OnPath
from scalegraph.traces.model import Trace


def critical_path(trace: Trace, path: CriticalPath, found: OnPath, show: str) -> pd.DataFrame:
    """Return what is on *path* (*found*) by ``regions``, ``states`` or ``locations``, or its ``pieces`` themselves.

    Times are ``path_s`` on the path and ``total_s`` over all locations (s), ``share`` of the path 0 to 1. Hand-overs,
    messages and unexplained pieces are separate rows, so that the rows add up to the path.

    Shape: one row for each entry of *show*. Unit: s; shares have none. Source: Böhme and others 2012.
    """
    second, length = trace.meta.ticks_per_second, max(path.ticks(), 1)
    if show == "pieces":
        return named(
            trace,
            pd.DataFrame(
                {
                    "begin_s": (path.begin - trace.meta.begin) / second,
                    "end_s": (path.end - trace.meta.begin) / second,
                    "location": path.location,
                    "kind": [PIECES[Piece(kind)] for kind in path.kind.tolist()],
                    "source": path.source,
                }
            ),
        )
    table = {"regions": found.regions, "states": found.states, "locations": found.locations}[show]
    number = show[:-1]
    table = named(trace, table).rename(columns={number: "number"})
    rest = [
        {"name": f"({PIECES[kind]})", "number": -1, "path": path.ticks(kind)}
        for kind in (Piece.HAND_OVER, Piece.MESSAGE, Piece.UNEXPLAINED)
        if path.ticks(kind)
    ]
    table = pd.concat([table, pd.DataFrame(rest)], ignore_index=True) if rest else table
    made = pd.DataFrame({number: table["number"], "name": table["name"]})
    for column in ("file", "line"):
        if column in table.columns:
            made[column] = table[column]
    made["path_s"] = table["path"] / second
    made["share"] = table["path"] / length
    for column in ("inclusive", "total", "mean", "imbalance"):
        if column in table.columns:
            made[f"{column}_s"] = table[column] / second
    if "pieces" in table.columns:
        made["pieces"] = table["pieces"]
    return made


def named(trace: Trace, table: pd.DataFrame) -> pd.DataFrame:
    """Return *table* with names for its numbers of regions, states, locations and holders.

    Shape: that of *table*. Unit: that of *table*. Source: ScaleGraph.
    """
    definitions, made = trace.definitions, table.copy()
    names = {
        "region": ([one.name for one in definitions.regions], "outside of all regions"),
        "state": ([one.name for one in definitions.states], "no state recorded"),
        "location": ([one.name for one in definitions.locations], ""),
        "source": ([one.name for one in definitions.locations], ""),
        "holder": ([one.name for one in definitions.locations], "not known"),
        "holder_region": ([one.name for one in definitions.regions], ""),
    }
    single = len([name for name in names if name in table.columns]) == 1
    for column, (known, none) in names.items():
        if column not in made.columns:
            continue
        text = np.array([*known, none], object)[made[column].to_numpy(np.int64)]  # -1 is the last
        made.insert(list(made.columns).index(column) + 1, "name" if single else f"{column}_name", text)
    if single and "region" in made.columns:
        places = [definitions.regions[n] if n >= 0 else None for n in made["region"].tolist()]
        made["file"] = [one.file if one else "" for one in places]
        made["line"] = [one.line if one else 0 for one in places]
    return made
