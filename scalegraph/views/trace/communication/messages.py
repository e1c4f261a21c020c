"""Statistics of messages, collective operations and waits: size, latency, bandwidth, by pair, tag or communicator."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalegraph.analyze.trace import messages
from scalegraph.base.measures import percent
from scalegraph.base.units import counted, plain, si, thousands
from scalegraph.figures.columns import known
from scalegraph.figures.figure import Axis, Bars, Column, Figure, Line, Origin, Panel, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums, trace_choices
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.trace_choices import BY
from scalegraph.views.common import exact
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import lasting as trace_lasting
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.trace.communication.matrix import NEEDS, need
from scalegraph.views.view import View

_NOT_HERE = Need("{said} Choose a longer time or more locations.")
_TITLE = "Message statistics"
_MOST = 500  # rows of a table
_KEYS = {"pair": ("sender", "receiver"), "size": ("size",), "tag": ("tag",), "communicator": ("communicator",)}
_AWAITED = {
    "receive": "messages",
    "send": "receivers of messages",
    "collective": "collective operations",
    "lock": "locks",
    "barrier": "barriers",
    "task": "tasks",
}


def _make(data: TraceData, by: object = "pair", duration: object = None, **options: object) -> Figure | Need:
    if none := trace_lasting.nothing(data, duration, "messages", "waits", "collectives"):
        return none
    data, said = trace_choices.lasting(data, duration), trace_lasting.told(data, duration)
    chosen = trace_window.window(data, **options)
    sent = messages.sent_messages(data.trace, chosen.begin, chosen.end, chosen.locations)
    joint = messages.collectives(data.trace, chosen.begin, chosen.end, chosen.locations)
    waits = messages.waits_by_reason(data.trace, chosen.begin, chosen.end, chosen.locations)
    if not data.trace.count("messages") and joint.empty and waits.empty:
        return need(data, "messages")
    panels: list[Panel] = []
    text = "No message was sent" + (f" in {chosen.words}" if data.trace.count("messages") else ": shared memory") + "."
    if len(sent["size"]):
        table = messages.message_table(data.trace, sent, str(by), interval_sums.location_names(data))
        sizes = messages.by_size(data.trace, sent)
        panels += [_histogram(sizes), _times(sizes, trace_common.origin(data)), _messages(table, str(by))]
        latency = sent["latency"][sent["latency"] >= 0] / data.trace.meta.ticks_per_second
        total = int(sent["size"].sum())
        count = len(sent["size"])
        text = f"{counted(count, 'message')}"
        text += f" with {si(total, 'B')}, {si(total / count, 'B')} each" if total else " of sizes that are not recorded"
        if len(latency):
            text += f", take {si(float(latency.mean()), 's')} on average and {si(float(latency.max()), 's')} at most"
        text += "."
    if not joint.empty:
        panels.append(_collectives(joint))
        text += (
            f" Collective operations take {si(float(joint['time_s'].sum()), 's')} of all locations' time,"
            f" most of it {joint['operation'].iloc[0]}."
        )
    if not waits.empty:
        panels.append(_waits(waits))
        first, all_of_it = waits.iloc[0], float(waits["time_s"].sum())
        if all_of_it > 0:
            share = percent(float(first["time_s"]) / all_of_it)
            text += f" Waits take {si(all_of_it, 's')}, {share} of it for {_awaited(first['why'])}."
    if not panels:
        return _NOT_HERE.of(said=text)
    return Figure(
        trace_common.title(data, _TITLE),
        text,
        tuple(panels),
        notes=trace_sums.notes(
            chosen,
            *said,
            "A message counts in the interval in which it was sent. Bandwidth is size over the time from send"
            " to receipt: that of a message, not that of the network.",
        ),
    )


def _awaited(why: object) -> str:
    return _AWAITED.get(str(why), str(why))


def _size(low: float) -> str:
    return "0 B" if low == 0 else f"{si(low, 'B')}" if low < 1024 else _binary(low)


def _binary(size: float) -> str:
    for power, prefix in ((40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki")):
        if size >= 2**power:
            return f"{plain(size / 2**power)} {prefix}B"
    return f"{plain(size)} B"


def _histogram(sizes: pd.DataFrame) -> Plot:
    rows = sizes.to_dict("records")
    heights = tuple(float(row["messages"]) for row in rows)
    tips = tuple(
        f"{_size(row['least'])} to below {_size(row['below'])}: {thousands(row['messages'])} messages,"
        f" {thousands(row['bytes'])} B"
        for row in rows
    )
    return Plot(
        Axis("size from", scale="category", categories=tuple(_size(row["least"]) for row in rows)),
        Axis("messages"),
        bars=Bars(tuple(float(n) for n in range(len(rows))), (("messages", "communication", heights),), (tips,)),
    )


def _times(sizes: pd.DataFrame, origin: Origin) -> Plot:
    rows = [row for row in sizes.to_dict("records") if row["mean_size"] > 0 and row["latency_mean_s"] > 0]
    return Plot(
        Axis("mean size", "B", scale="log2"),
        Axis("time from send to receipt", "s", scale="log10"),
        (
            Line(
                "mean, least to most",
                tuple(float(row["mean_size"]) for row in rows),
                tuple(float(row["latency_mean_s"]) for row in rows),
                "communication",
                origin,
                low=tuple(float(row["latency_least_s"]) or float(row["latency_mean_s"]) for row in rows),
                high=tuple(float(row["latency_most_s"]) for row in rows),
                tips=tuple(
                    f"{_size(row['least'])} to below {_size(row['below'])}: {exact(float(row['latency_mean_s']), 's')}"
                    f" on average\n{exact(float(row['bandwidth']), 'B/s')}"
                    for row in rows
                ),
            ),
        ),
    )


def _messages(table: pd.DataFrame, by: str) -> Table:
    made = [
        Row(
            (
                *_key(row, by),
                int(row["messages"]),
                float(row["bytes"]),
                float(row["mean_size"]),
                float(row["largest"]),
                known(float(row["latency_mean_s"])),
                known(float(row["latency_most_s"])),
                known(float(row["bandwidth"]) / 1e6),
            )
        )
        for row in table.head(_MOST).to_dict("records")
    ]
    return Table(
        (
            *(Column(name) for name in _KEYS[by]),
            Column("messages"),
            Column("size", "B", "communication"),
            Column("mean size", "B"),
            Column("largest", "B"),
            Column("mean time", "s"),
            Column("longest", "s"),
            Column("bandwidth", "MB/s"),
        ),
        tuple(made),
    )


def _key(row: dict[Any, Any], by: str) -> tuple[str | int, ...]:
    if by == "size":
        return (f"{_size(row['least'])} to {_size(row['below'])}",)
    return tuple(str(row[name]) for name in _KEYS[by])


def _collectives(table: pd.DataFrame) -> Table:
    return Table(
        (Column("collective operation"), Column("algorithm"), Column("communicator"), Column("parts"),
         Column("time", "s", "communication"), Column("mean", "s"),
         Column("longest", "s"), Column("sent", "B"), Column("received", "B")),
        tuple(
            Row((str(row["operation"]), str(row["algorithm"]), str(row["communicator"]), int(row["parts"]),
                 float(row["time_s"]), known(float(row["mean_s"])),
                 known(float(row["most_s"])), float(row["sent"]), float(row["received"])))
            for row in table.to_dict("records")
        ),
    )  # fmt: skip


def _waits(table: pd.DataFrame) -> Table:
    return Table(
        (
            Column("waiting for"),
            Column("waits"),
            Column("time", "s", "idle"),
            Column("mean", "s"),
            Column("longest", "s"),
        ),
        tuple(
            Row(
                (
                    _awaited(row["why"]),
                    int(row["waits"]),
                    float(row["time_s"]),
                    known(float(row["mean_s"])),
                    known(float(row["most_s"])),
                )
            )
            for row in table.to_dict("records")
        ),
    )


VIEW = View(
    "messages",
    _TITLE,
    "Sizes, latency and bandwidth of messages by pair, size, tag or communicator; collective operations; waits.",
    _make,
    (*trace_window.COMMON[:3], trace_choices.DURATION, BY),
    needs=(trace_lasting.TOO_SHORT, *NEEDS, _NOT_HERE),
    subject="trace",
)
