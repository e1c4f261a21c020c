"""The cost of messages by communicator, and by rank and partner: the message categories broken down."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze.messages import rows
from scalegraph.analyze.messages.rows import CATEGORIES
from scalegraph.base.messages import NO_PARTNER
from scalegraph.base.run import RunRecord

__all__ = ["CATEGORIES", "by_communicator", "by_partner", "most_expensive"]


def by_communicator(run: RunRecord) -> pd.DataFrame:
    """Return the rows of `rows.by_communicator` as a table.

    Shape: one row for each name. Unit: cycles; bytes. Source: ScaleGraph.
    """
    return pd.DataFrame(rows.by_communicator(run), columns=pd.Index(rows.COMMUNICATOR_COLUMNS))


def by_partner(run: RunRecord) -> pd.DataFrame:
    """Return the rows of `rows.by_partner` as a table.

    Shape: one row for each pair with messages. Unit: cycles; bytes. Source: ScaleGraph.
    """
    return pd.DataFrame(rows.by_partner(run), columns=pd.Index(rows.PARTNER_COLUMNS))


def most_expensive(run: RunRecord) -> tuple[int, int, int] | None:
    """Return (rank, partner, cycles) of the pair that costs its rank most; ``None`` if there are no pairs.

    Unit: cycles. Source: ScaleGraph.
    """
    pairs = [row for row in rows.by_partner(run) if row["partner"] > NO_PARTNER and row["cycles"] > 0]
    if not pairs:
        return None
    row = max(pairs, key=lambda pair: int(pair["cycles"]))
    return row["rank"], row["partner"], row["cycles"]
