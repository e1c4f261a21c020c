"""What messages cost, as plain rows: a short run does not wait for the import of pandas; `tables` has data frames."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from scalegraph.base.messages import NO_COMMUNICATOR, MessageCosts
from scalegraph.base.run import RunRecord

# Category -> words, in the order of display.
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
    """Return the costs of *run*'s messages by communicator, the most expensive first; what no communicator has is last.

    Keys: `COMMUNICATOR_COLUMNS`: ``communicator`` (its words; those of one name, or made by one call, are one row),
    ``count`` of these, ``size`` in ranks of the largest, ``messages`` and ``bytes`` received, each category, and their
    sum ``cycles``.

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
    """Return the costs of *run*'s messages by rank and partner, over all communicators, in their order.

    Keys: `PARTNER_COLUMNS`: ``rank``, ``partner`` (-1: nobody in particular, -2: further ones together), counts, each
    category, and their sum ``cycles``.

    Shape: one row for each pair that had any. Unit: cycles; bytes. Source: ScaleGraph.
    """
    costs = run.messages or MessageCosts()
    columns = _columns(costs)
    cycles = map(sum, zip(*columns[2:], strict=True))
    entries = sorted(zip(costs.rank, costs.partner, *columns, cycles, strict=True))
    if len(set(zip(costs.rank, costs.partner, strict=True))) < len(entries):
        entries = _joined(entries)
    # in one display, which takes half as long as to zip names with values: there are tens for each rank
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
    """Return the sums of `_columns` by number of the communicator.

    Most entries are of one: its sums are what the others leave of all, so that only these are picked one by one.
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
    """Return *entries*, which are in order, with those of one rank and partner, of several communicators, as one."""
    found: list[tuple[int, ...]] = []
    for entry in entries:
        if found and found[-1][:2] == entry[:2]:
            found[-1] = (*entry[:2], *map(int.__add__, found[-1][2:], entry[2:]))
        else:
            found.append(entry)
    return found


def _columns(costs: MessageCosts) -> list[tuple[int, ...]]:
    """Return the columns of `SUMS`, zeros where a category is not there."""
    none = (0,) * len(costs.rank)
    return [costs.messages, costs.bytes, *(costs.cycles.get(name, none) for name in CATEGORIES)]


def _summed(values: list[int]) -> dict[str, int]:
    return {**dict(zip(SUMS, values, strict=True)), "cycles": sum(values[2:])}
