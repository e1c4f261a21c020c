"""What messages cost, by communicator and by rank and partner: the categories of messages, split."""

from __future__ import annotations

import pandas as pd

from scalegraph.base.messages import NO_COMMUNICATOR, NO_PARTNER
from scalegraph.base.run import RunRecord

# Category -> words, in the order of display.
CATEGORIES = {
    "idle_late_sender": "waiting for a sender",
    "idle_late_receiver": "waiting for a receiver",
    "idle_collective": "waiting in collectives",
    "idle_transfer": "messages on their way",
    "idle_network": "contention on the way",
    "prim_send": "sending",
    "prim_receive": "receiving",
    "prim_pack": "packing",
}
_COUNTS = ["messages", "bytes"]
OUTSIDE = "outside communicators"


def table(run: RunRecord) -> pd.DataFrame:
    """Return the accounts of messages of *run* as columns: names, counts, and cycles by category (0 where none).

    Shape: one row for each rank, communicator and partner. Unit: cycles; bytes. Source: ScaleGraph.
    """
    costs = run.messages
    if costs is None:
        return pd.DataFrame(columns=pd.Index(["rank", "communicator", "partner", *_COUNTS, *CATEGORIES]))
    none = (0,) * len(costs.rank)
    return pd.DataFrame(
        {
            "rank": list(costs.rank),
            "communicator": list(costs.communicator),
            "partner": list(costs.partner),
            "messages": list(costs.messages),
            "bytes": list(costs.bytes),
            **{name: list(costs.cycles.get(name, none)) for name in CATEGORIES},
        }
    )


def by_communicator(run: RunRecord) -> pd.DataFrame:
    """Return the costs of *run*'s messages by communicator, the most expensive first; what no communicator has is last.

    Columns: ``communicator`` (its words; those of one name, or made by one call, are one row), ``count`` of these,
    ``size`` in ranks of the largest, ``messages`` and ``bytes`` received, each category, and their sum ``cycles``.

    Shape: one row for each name. Unit: cycles; bytes. Source: ScaleGraph.
    """
    rows = table(run)
    known = {one.number: one for one in (run.messages.communicators if run.messages else ())}
    words = {number: one.words for number, one in known.items()} | {NO_COMMUNICATOR: OUTSIDE}
    rows["name"] = [words.get(int(number), f"communicator {number}") for number in rows["communicator"]]
    rows["size"] = [known[number].size if number in known else 0 for number in rows["communicator"]]
    sums = rows.groupby("name", sort=True)[[*_COUNTS, *CATEGORIES]].sum()
    sums.insert(0, "size", rows.groupby("name")["size"].max())
    sums.insert(0, "count", rows.groupby("name")["communicator"].nunique())
    sums["cycles"] = sums[list(CATEGORIES)].sum(axis=1)
    sums["last"] = [name == OUTSIDE for name in sums.index]
    ordered = sums.sort_values(["last", "cycles"], ascending=[True, False], kind="stable").drop(columns="last")
    return ordered.rename_axis("communicator").reset_index()


def by_partner(run: RunRecord) -> pd.DataFrame:
    """Return the costs of *run*'s messages by rank and partner, over all communicators, in their order.

    Columns: ``rank``, ``partner`` (-1: nobody in particular, -2: further ones together), counts, each category, and
    their sum ``cycles``.

    Shape: one row for each pair that had any. Unit: cycles; bytes. Source: ScaleGraph.
    """
    sums = table(run).groupby(["rank", "partner"], sort=True)[[*_COUNTS, *CATEGORIES]].sum()
    sums["cycles"] = sums[list(CATEGORIES)].sum(axis=1)
    return sums.reset_index()


def most_expensive(run: RunRecord) -> tuple[int, int, int] | None:
    """Return (rank, partner, cycles) of the pair that costs its rank most; ``None`` without any pair.

    Unit: cycles. Source: ScaleGraph.
    """
    pairs = by_partner(run)
    pairs = pairs[(pairs["partner"] > NO_PARTNER) & (pairs["cycles"] > 0)]
    if pairs.empty:
        return None
    row = pairs.nlargest(1, "cycles").iloc[0]
    return int(row["rank"]), int(row["partner"]), int(row["cycles"])
