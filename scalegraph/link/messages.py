"""What messages cost by rank, communicator and partner: from the runtime's records to those of a run."""

from __future__ import annotations

from scalegraph.base.messages import NO_COMMUNICATOR, Communicator, MessageCosts
from scalegraph.link.build import Build
from scalegraph.runtime import observed
from scalegraph.runtime.results import Result


def message_costs(build: Build, result: Result) -> MessageCosts | None:
    """Return what messages cost, by the MESSAGE and COMMUNICATOR records; ``None`` where there are none."""
    rows = result.rows("MESSAGES")
    if not rows:
        return None
    return MessageCosts(
        communicators=_communicators(build, result, {row["communicator"] for row in rows}),
        rank=tuple(row["rank"] for row in rows),
        communicator=tuple(_number(row["communicator"]) for row in rows),
        partner=tuple(row["peer"] for row in rows),
        messages=tuple(row["messages"] for row in rows),
        bytes=tuple(row["bytes"] for row in rows),
        cycles={
            name: column
            for at, name in enumerate(observed.MESSAGE_CATEGORIES)
            if any(column := tuple(row["cycles"][at] for row in rows))
        },
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
