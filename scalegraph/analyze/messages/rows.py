"""The cost of messages as plain rows, so that a short run need not import pandas; `tables` returns data frames."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from scalegraph.base.messages import NO_COMMUNICATOR, MessageCosts
from scalegraph.base.run import RunRecord

# Category -> label, in display order.
CATEGORIES: Final = {
    "idle_late_sender": "waiting for a sender",
    "idle_late_receiver": "waiting for a receiver",
    "idle_collective": "waiting in collectives",
    "idle_transfer": "messages on their way",
    "idle_network": "contention on the way",
    "prim_send": "sending",
    "prim_receive": "receiving",
    "prim_pack": "packing",
}
SUMS: Final = ("messages", "bytes", *CATEGORIES)
COMMUNICATOR_COLUMNS: Final = ("communicator", "count", "size", *SUMS, "cycles")
PARTNER_COLUMNS: Final = ("rank", "partner", *SUMS, "cycles")
OUTSIDE: Final = "outside communicators"


def by_communicator(run: RunRecord) -> list[dict[str, Any]]:
    """Return the message costs of *run* by communicator, most expensive first; costs without a communicator come last.

    Keys: `COMMUNICATOR_COLUMNS`: ``communicator`` (its label; communicators with the same name, or made by the same
    call, share a row), ``count`` of these, ``size`` in ranks of the largest, ``messages`` and ``bytes`` received, each
    category, and their sum ``cycles``.

    Shape: one row for each name. Unit: cycles; bytes. Source: ScaleGraph.
    """
    costs = run.messages or MessageCosts()
    known = {one.number: one for one in costs.communicators}
    words = {number: one.words for number, one in known.items()} | {NO_COMMUNICATOR: OUTSIDE}
    members: dict[str, set[int]] = {}
    sums: dict[str, list[int]] = {}
    for number, own in _by_number(costs).items():
        name = words.get(number, f"communicator {number}")
        members.setdefault(name, set()).add(number)
        sums[name] = [*map(int.__add__, sums[name], own)] if name in sums else own
    sizes = {name: max(known[one].size if one in known else 0 for one in ones) for name, ones in members.items()}
    rows = [
        {"communicator": name, "count": len(members[name]), "size": sizes[name], **_summed(sums[name])}
        for name in sorted(sums)
    ]
    return sorted(rows, key=lambda row: (row["communicator"] == OUTSIDE, -row["cycles"]))


def by_partner(run: RunRecord) -> list[dict[str, Any]]:
    """Return the message costs of *run* by rank and partner, over all communicators, in this order.

    Keys: `PARTNER_COLUMNS`: ``rank``, ``partner`` (-1: no particular one, -2: all further ones together), counts, each
    category, and their sum ``cycles``.

    Shape: one row for each pair with messages. Unit: cycles; bytes. Source: ScaleGraph.
    """
    costs = run.messages or MessageCosts()
    columns = _columns(costs)
    cycles = map(sum, zip(*columns[2:], strict=True))
    entries = sorted(zip(costs.rank, costs.partner, *columns, cycles, strict=True))
    if len(set(zip(costs.rank, costs.partner, strict=True))) < len(entries):
        entries = _joined(entries)
    # one literal takes half as long as zipping names with values, and there are tens of rows per rank
    return [
        {
            "rank": rank,
            "partner": partner,
            "messages": messages,
            "bytes": size,
            "idle_late_sender": sender,
            "idle_late_receiver": receiver,
            "idle_collective": collective,
            "idle_transfer": transfer,
            "idle_network": network,
            "prim_send": send,
            "prim_receive": receive,
            "prim_pack": pack,
            "cycles": total,
        }
        for (
            rank,
            partner,
            messages,
            size,
            sender,
            receiver,
            collective,
            transfer,
            network,
            send,
            receive,
            pack,
            total,
        ) in entries
    ]


def _by_number(costs: MessageCosts) -> dict[int, list[int]]:
    """Return the sums of `_columns` by communicator number.

    Most entries belong to one communicator: its sums are the totals minus the others', so only the others are picked
    out one by one.
    """
    columns, counts = _columns(costs), Counter(costs.communicator)
    if not counts:
        return {}
    most = counts.most_common(1)[0][0]
    places: dict[int, list[int]] = {number: [] for number in counts if number != most}
    for at, number in enumerate(costs.communicator):
        if number != most:
            places[number].append(at)
    sums = {number: [sum(map(column.__getitem__, mine)) for column in columns] for number, mine in places.items()}
    rest = [sum(column) - sum(own[i] for own in sums.values()) for i, column in enumerate(columns)]
    return {**sums, most: rest}


def _joined(entries: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return sorted *entries* with those of the same rank and partner (on several communicators) summed."""
    found: list[tuple[int, ...]] = []
    for entry in entries:
        if found and found[-1][:2] == entry[:2]:
            found[-1] = (*entry[:2], *map(int.__add__, found[-1][2:], entry[2:]))
        else:
            found.append(entry)
    return found


def _columns(costs: MessageCosts) -> list[tuple[int, ...]]:
    """Return the columns of `SUMS`, with zeros for missing categories."""
    none = (0,) * len(costs.rank)
    return [costs.messages, costs.bytes, *(costs.cycles.get(name, none) for name in CATEGORIES)]


def _summed(values: list[int]) -> dict[str, int]:
    return {**dict(zip(SUMS, values, strict=True)), "cycles": sum(values[2:])}
