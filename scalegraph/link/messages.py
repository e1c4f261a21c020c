"""What messages cost by rank, communicator and partner: from the runtime's records to the run's."""

from __future__ import annotations

from scalegraph.base.messages import NO_COMMUNICATOR, Communicator, MessageCosts
from scalegraph.link.build import Build
from scalegraph.runtime import observed
from scalegraph.runtime.results import Result


def message_costs(build: Build, result: Result) -> MessageCosts | None:
    """Return the cost of messages from the MESSAGE and COMMUNICATOR records; ``None`` if there are none."""
    series = result.series("MESSAGES")
    columns = {name: lists[0] for name, lists in series.items()}
    if not columns["rank"]:
        return None
    cycles = zip(observed.MESSAGE_CATEGORIES, series["cycles"], strict=True)
    # Not validated: the runtime's format has only such numbers, and a check takes as long as reading them.
    return MessageCosts.model_construct(
        communicators=_communicators(build, result, set(columns["communicator"])),
        rank=tuple(columns["rank"]),
        communicator=tuple(map(_number, columns["communicator"])),
        partner=tuple(columns["peer"]),
        messages=tuple(columns["messages"]),
        bytes=tuple(columns["bytes"]),
        cycles={name: tuple(column) for name, column in cycles if any(column)},
    )


def _number(communicator: int) -> int:
    return NO_COMMUNICATOR if communicator == observed.NO_COMMUNICATOR else communicator


def _communicators(build: Build, result: Result, used: set[int]) -> tuple[Communicator, ...]:
    rows = [row for row in result.rows("COMMUNICATORS") if row["communicator"] in used]
    places = build.lines.lookup([row["address"] for row in rows])
    return tuple(
        Communicator(
            number=row["communicator"],
            name=row["name"].decode("utf-8", "replace"),
            size=row["size"],
            file=file,
            line=line,
        )
        for row, (file, line, _function) in zip(rows, places, strict=True)
    )
