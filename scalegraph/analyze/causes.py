"""Remote accesses, hits, invalidations and miss latencies by cause (latency-metric.txt 5.2)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scalegraph.analyze.table import numbers
from scalegraph.base.run import RunRecord
from scalegraph.runtime.format import CAUSE_NAMES, STALL_NAMES

_REMOTE = ("remote_reads", "remote_writes", "upgrades")
_REMOTE_STALLS = ("stall_remote_read", "stall_remote_write", "stall_upgrade", "stall_contention")
# Accesses grouped by origin. Every access is in one group, so the overall mean lies between those of the groups.
GROUPS = {
    "computation": ("computation",),
    "synchronisation": ("barrier", "lock"),
    "others": tuple(cause for cause in CAUSE_NAMES if cause not in ("computation", "barrier", "lock")),
}


def _known(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which rows of *table* have references by cause, shape (rows,)."""
    known = np.zeros(len(table), dtype=bool)
    for column in table.columns:
        if str(column).startswith("cause."):
            known |= np.isfinite(numbers(table, str(column)))
    return known


def is_known(table: pd.DataFrame) -> bool:
    """Return whether any run of *table* has references by cause.

    Source: ScaleGraph.
    """
    return bool(_known(table).any())


def by_cause(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Return the sum of the quantities *names*, one row per run of *table*, one column per cause (events or cycles).

    NaN for runs without references by cause.

    Shape: (rows of *table*, causes). Unit: events or cycles, as the quantities. Source: latency-metric.txt 5.2.
    """
    known = _known(table)  # if a run has any cause, a missing one counts as 0
    columns = {
        cause: np.where(known, sum(np.nan_to_num(numbers(table, f"cause.{cause}.{name}")) for name in names), np.nan)
        for cause in CAUSE_NAMES
    }
    return pd.DataFrame(columns, index=table.index)


def remote_accesses(table: pd.DataFrame) -> pd.DataFrame:
    """Return accesses through the network by cause (latency-metric.txt Table III, Fig. 7).

    Reads and writes served remotely, and writes that had to invalidate copies elsewhere (upgrades).

    Shape: (rows of *table*, causes). Unit: events. Source: as named above.
    """
    return by_cause(table, *_REMOTE)


def hit_rates(table: pd.DataFrame, level: str = "private") -> pd.DataFrame:
    """Return the share of references that hit, 0 to 1, by cause and for ``all`` (latency-metric.txt Table III, Fig. 8).

    *level* ``private`` counts a hit when the processor's own caches have the line (with write permission for a write),
    ``first`` when its first-level cache does. NaN for a cause without references.

    Shape: (rows of *table*, causes + 1). Unit: none (share). Source: as named above.
    """
    references = by_cause(table, "reads", "writes")
    misses = by_cause(table, "misses" if level == "private" else "l1_misses")
    references.insert(0, "all", references.sum(axis=1, skipna=False))
    misses.insert(0, "all", misses.sum(axis=1, skipna=False))
    return (1 - misses / references).where(references > 0)


def invalidations(table: pd.DataFrame) -> pd.DataFrame:
    """Return copies invalidated by cause (latency-metric.txt Table IV).

    Shape: (rows of *table*, causes). Unit: events (copies). Source: as named above.
    """
    return by_cause(table, "invalidations")


def miss_latency(table: pd.DataFrame) -> pd.DataFrame:
    """Return the average latency of accesses through the network, in cycles (latency-metric.txt 5.2.2, Fig. 10).

    Columns: ``program`` all accesses, ``computation`` the program's own, ``synchronisation`` those of barriers and
    locks, ``others`` those of atomics, forks, loop chunks and tasks. Includes waiting for slots, links and modules. NaN
    without accesses.

    Shape: (rows of *table*, 4). Unit: cycles. Source: as named above.
    """
    accesses, cycles = remote_accesses(table), by_cause(table, *_REMOTE_STALLS)
    found = {}
    for name, causes in {"program": CAUSE_NAMES, **GROUPS}.items():
        count = accesses[list(causes)].sum(axis=1, skipna=False)
        found[name] = (cycles[list(causes)].sum(axis=1, skipna=False) / count).where(count > 0)
    return pd.DataFrame(found, index=table.index)


def access_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return the share (0 to 1) of network accesses made by each of `GROUPS`; NaN if there are none.

    Shape: (rows of *table*, groups). Unit: none (share). Source: latency-metric.txt Fig. 7.
    """
    accesses = remote_accesses(table)
    whole = accesses.sum(axis=1, skipna=False)
    parts = {name: accesses[list(causes)].sum(axis=1, skipna=False) / whole for name, causes in GROUPS.items()}
    return pd.DataFrame(parts, index=table.index).where(whole > 0)


def stalls(table: pd.DataFrame) -> pd.DataFrame:
    """Return memory stall cycles by cause; those of the runtime count as part of its primitives.

    Shape: (rows of *table*, causes). Unit: cycles. Source: ScaleGraph.
    """
    return by_cause(table, *STALL_NAMES)


def widths(run: RunRecord) -> pd.DataFrame:
    """Return how many writes invalidated a given number of copies (latency-metric.txt Fig. 9).

    Index ``width`` (copies, from 1), one column per cause that occurs (writes).

    Shape: (widths, causes). Unit: events (writes). Source: as named above.
    """
    table = pd.DataFrame({cause: pd.Series(part, dtype=float) for cause, part in run.widths.items()})
    ordered = table.reindex(columns=[cause for cause in CAUSE_NAMES if cause in table.columns])
    return ordered.fillna(0.0).sort_index().rename_axis("width")


def average_width(run: RunRecord) -> float:
    """Return the mean number of copies invalidated by a write that invalidates any (Table IV); NaN if none does.

    Unit: copies for each write. Source: as named above.
    """
    table = widths(run)
    total = float(table.to_numpy().sum())
    return float((table.sum(axis=1) * table.index.to_numpy(dtype=float)).sum()) / total if total else float("nan")
