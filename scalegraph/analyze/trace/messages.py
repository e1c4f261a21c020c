"""Messages by sender and receiver: how much, how long; and waits by waiter and holder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.operations import described
from scalegraph.traces.kinds import NO_TIME, Array, Columns, Wait
from scalegraph.traces.model import Trace


@dataclass(frozen=True)
class Matrix:
    """Sums by pair of ends, shape (from, to); *members* are the locations of each row and column.

    *count* is the number of items, *size* their bytes (0 for waits), *time* their ticks; *known* counts those with a
    known time.
    """

    names: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    count: Array
    size: Array
    time: Array
    known: Array


def sent_messages(trace: Trace, begin: int, end: int, locations: Sequence[int] | None = None) -> Columns:
    """Return the messages sent in [*begin*, *end*) from or to one of *locations*, with ``latency`` in ticks.

    A message without a recorded send counts when it was received. The latency from send to receive is -1 if either is
    unknown.

    Shape: (messages,) of each column. Unit: ticks and bytes. Source: ScaleGraph.
    """
    columns = trace.columns("messages", begin=begin, end=end)
    moment = np.where(columns["sent"] == NO_TIME, columns["received"], columns["sent"])
    keep = (moment >= begin) & ((moment < end) | ((moment == end) & (end == trace.meta.end)))
    if locations is not None:
        keep &= np.isin(columns["sender"], list(locations)) | np.isin(columns["receiver"], list(locations))
    made = {name: values[keep] for name, values in columns.items()}
    both = (made["sent"] != NO_TIME) & (made["received"] != NO_TIME)
    made["latency"] = np.where(both, made["received"] - np.where(both, made["sent"], 0), -1)
    return made


def location_names(trace: Trace) -> list[str]:
    """Return the names of all locations.

    Shape: (locations,). Source: ScaleGraph.
    """
    return [location.name or f"location {n}" for n, location in enumerate(trace.definitions.locations)]


def groups(
    trace: Trace, locations: Sequence[int], most: int, names: Sequence[str] | None = None
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return at most *most* names with the locations of each: single locations, groups, or neighbours merged.

    *names* are better names for all locations, if there are any.

    Shape: two tuples (groups,). Unit: none (numbers of locations). Source: ScaleGraph.
    """
    known, definitions = list(locations), trace.definitions
    if len(known) <= most:
        called = location_names(trace) if names is None else names
        return tuple(called[n] for n in known), tuple((n,) for n in known)
    by_group: dict[int, list[int]] = {}
    for number in known:
        by_group.setdefault(definitions.locations[number].group, []).append(number)
    if 1 < len(by_group) <= most:
        names = tuple(
            definitions.groups[group].name if 0 <= group < len(definitions.groups) else "no group" for group in by_group
        )
        return names, tuple(tuple(members) for members in by_group.values())
    size = -(-len(known) // most)
    blocks = [known[at : at + size] for at in range(0, len(known), size)]
    return tuple(f"{block[0]}–{block[-1]}" if len(block) > 1 else str(block[0]) for block in blocks), tuple(
        tuple(block) for block in blocks
    )


def message_matrix(
    trace: Trace, messages: Columns, locations: Sequence[int], most: int = 64, names: Sequence[str] | None = None
) -> Matrix:
    """Return *messages* (from `sent_messages`) by sender (rows) and receiver (columns) among *locations*.

    Shape: (senders, receivers). Unit: ticks, bytes, counts. Source: ScaleGraph.
    """
    latency = messages["latency"]
    made = groups(trace, locations, most, names)
    return _matrix(
        trace, made, messages["sender"], messages["receiver"], messages["size"], np.maximum(latency, 0), latency >= 0
    )


def wait_matrix(
    trace: Trace,
    begin: int,
    end: int,
    locations: Sequence[int],
    why: Collection[int] | None = None,
    most: int = 64,
    names: Sequence[str] | None = None,
) -> Matrix:
    """Return waits by waiter (rows) and holder (columns): time in [*begin*, *end*), and waits that began in it.

    Only waits with a known holder; *why* (`Wait`) selects some.

    Shape: (waiters, holders). Unit: ticks and counts. Source: ScaleGraph.
    """
    columns = trace.columns("waits", begin=begin, end=end)
    keep = columns["holder"] >= 0
    if why is not None:
        keep &= np.isin(columns["why"], list(why))
    first, last = columns["begin"][keep], columns["end"][keep]
    inside = np.maximum(np.minimum(last, end) - np.maximum(first, begin), 0)
    started = (first >= begin) & ((first < end) | ((first == end) & (end == trace.meta.end)))
    made = groups(trace, locations, most, names)
    return _matrix(
        trace,
        made,
        columns["location"][keep],
        columns["holder"][keep],
        np.zeros(len(first), np.int64),
        inside,
        started,
        started,
    )


def _matrix(
    trace: Trace,
    made: tuple[tuple[str, ...], tuple[tuple[int, ...], ...]],
    one: Array,
    other: Array,
    size: Array,
    time: Array,
    known: Array,
    counted: Array | None = None,
) -> Matrix:
    names, members = made
    place = np.full(len(trace.definitions.locations) + 1, -1, np.int64)
    for number, some in enumerate(members):
        place[list(some)] = number
    row, column = place[_inside(one, trace)], place[_inside(other, trace)]
    keep = (row >= 0) & (column >= 0)
    cell, cells = (row * len(names) + column)[keep], len(names) ** 2
    ones = np.ones(len(one), bool) if counted is None else counted

    def total(values: Array) -> Array:
        sums: Array = np.bincount(cell, values[keep], cells).astype(np.int64).reshape(len(names), len(names))
        return sums

    return Matrix(names, members, total(ones), total(size), total(time), total(known))


def _inside(numbers: Array, trace: Trace) -> Array:
    """Return *numbers* of locations, with unknown ones replaced by one past the last."""
    count = len(trace.definitions.locations)
    return np.where((numbers >= 0) & (numbers < count), numbers, count)


def _summary(messages: Columns, key: Array, second: int) -> pd.DataFrame:
    """Return a row for each value of *key*: messages, bytes, sizes, and latency where known."""
    timed = messages["latency"] >= 0
    table = pd.DataFrame(
        {
            "key": key,
            "size": messages["size"],
            "latency": np.where(timed, messages["latency"] / second, np.nan),
            "timed_size": np.where(timed, messages["size"], 0),
        }
    )
    made = table.groupby("key", sort=False).agg(
        messages=("size", "size"),
        bytes=("size", "sum"),
        mean_size=("size", "mean"),
        largest=("size", "max"),
        latency_mean_s=("latency", "mean"),
        latency_least_s=("latency", "min"),
        latency_most_s=("latency", "max"),
        latency_sum=("latency", "sum"),
        timed_size=("timed_size", "sum"),
    )
    with np.errstate(all="ignore"):
        made["bandwidth"] = np.where(made["latency_sum"] > 0, made["timed_size"] / made["latency_sum"], np.nan)
    made = made.drop(columns=["latency_sum", "timed_size"])
    return made.sort_values(["bytes", "messages"], ascending=False, kind="stable").reset_index()


def by_pair(trace: Trace, messages: Columns, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a row for each sender and receiver, most bytes first; times in seconds, ``bandwidth`` in B/s.

    Bandwidth is bytes over the sum of latencies: that of the messages, not of the network.

    Shape: one row for each pair. Unit: s, bytes, B/s. Source: ScaleGraph.
    """
    count = len(trace.definitions.locations) + 1
    key = _inside(messages["sender"], trace).astype(np.int64) * count + _inside(messages["receiver"], trace)
    table = _summary(messages, key, trace.meta.ticks_per_second)
    called = [*(location_names(trace) if names is None else names), "unknown"]
    pair = table.pop("key").to_numpy(np.int64)
    table.insert(0, "receiver", [called[n] for n in pair % count])
    table.insert(0, "sender", [called[n] for n in pair // count])
    return table


def by_tag(trace: Trace, messages: Columns) -> pd.DataFrame:
    """Return the columns of `by_pair` for each tag.

    Shape: one row for each tag. Unit: s, bytes, B/s. Source: ScaleGraph.
    """
    return _summary(messages, messages["tag"], trace.meta.ticks_per_second).rename(columns={"key": "tag"})


def by_communicator(trace: Trace, messages: Columns) -> pd.DataFrame:
    """Return the columns of `by_pair` for each communicator, by name.

    Shape: one row for each communicator. Unit: s, bytes, B/s. Source: ScaleGraph.
    """
    table = _summary(messages, messages["communicator"], trace.meta.ticks_per_second)
    known = trace.definitions.communicators
    names = [known[n].name if 0 <= n < len(known) else "none" for n in table.pop("key").to_numpy(np.int64).tolist()]
    table.insert(0, "communicator", names)
    return table


def by_size(trace: Trace, messages: Columns) -> pd.DataFrame:
    """Return the columns of `by_pair` for each power-of-two range of sizes: ``least`` and ``below`` in bytes.

    Shape: one row for each range of sizes. Unit: s, bytes, B/s. Source: ScaleGraph.
    """
    size = messages["size"].astype(np.int64)
    power = np.where(size > 0, np.frexp(np.maximum(size, 1).astype(np.float64))[1], 0)
    table = _summary(messages, power, trace.meta.ticks_per_second).sort_values("key", ignore_index=True)
    powers = table.pop("key").to_numpy(np.int64)
    table.insert(0, "below", np.where(powers > 0, 2.0**powers, 1.0))
    table.insert(0, "least", np.where(powers > 0, 2.0 ** (powers - 1.0), 0.0))
    return table


BY: dict[str, Callable[[Trace, Columns], pd.DataFrame]] = {
    "pair": by_pair,
    "size": by_size,
    "tag": by_tag,
    "communicator": by_communicator,
}


def message_table(trace: Trace, messages: Columns, by: str, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return *messages* grouped *by* one of `BY`; *names* are better names for locations than the trace's own.

    Shape: one row for each entry of *by*. Unit: s, bytes, B/s. Source: ScaleGraph.
    """
    return by_pair(trace, messages, names) if by == "pair" else BY[by](trace, messages)


def collectives(trace: Trace, begin: int, end: int, locations: Sequence[int] | None = None) -> pd.DataFrame:
    """Return a row for each operation, algorithm and communicator in the interval, most time first.

    Counts parts (visits of members) that began in it. Columns: ``operation``, ``algorithm``, ``communicator``,
    ``parts``, ``time_s`` spent by members in the interval, ``mean_s`` and ``most_s`` of a whole part, ``sent`` and
    ``received`` in bytes.

    Shape: one row for each operation, algorithm and communicator. Unit: s and bytes. Source: ScaleGraph.
    """
    columns = trace.columns("collectives", begin=begin, end=end)
    keep = np.ones(len(columns["begin"]), bool) if locations is None else np.isin(columns["location"], list(locations))
    rows = {name: values[keep] for name, values in columns.items()}
    second = trace.meta.ticks_per_second
    started = (rows["begin"] >= begin) & ((rows["begin"] < end) | ((rows["begin"] == end) & (end == trace.meta.end)))
    whole = (rows["end"] - rows["begin"]) / second
    words = described(trace, rows)
    table = pd.DataFrame(
        {
            "operation": words.name,
            "algorithm": words.algorithm,
            "communicator": rows["communicator"],
            "parts": started.astype(np.int64),
            "time_s": np.maximum(np.minimum(rows["end"], end) - np.maximum(rows["begin"], begin), 0) / second,
            "mean_s": np.where(started, whole, np.nan),
            "sent": np.where(started, np.maximum(rows["sent"], 0), 0),
            "received": np.where(started, np.maximum(rows["received"], 0), 0),
        }
    )
    made = (
        table.groupby(["operation", "algorithm", "communicator"], sort=False)
        .agg(
            parts=("parts", "sum"),
            time_s=("time_s", "sum"),
            mean_s=("mean_s", "mean"),
            most_s=("mean_s", "max"),
            sent=("sent", "sum"),
            received=("received", "sum"),
        )
        .reset_index()
    )
    # an operation that ends where the interval begins is not in it
    made = made[(made["parts"] > 0) | (made["time_s"] > 0)]
    known = trace.definitions.communicators
    made["communicator"] = [known[n].name if 0 <= n < len(known) else "none" for n in made["communicator"]]
    return made.sort_values("time_s", ascending=False, kind="stable", ignore_index=True)


def waits_by_reason(trace: Trace, begin: int, end: int, locations: Sequence[int] | None = None) -> pd.DataFrame:
    """Return a row for each reason of waiting, most time first.

    Columns: ``why``, ``waits``, ``time_s``, ``mean_s`` and ``most_s`` of a whole wait. ``waits`` counts those that
    began in the interval, ``time_s`` the time of all waits inside it.

    Shape: one row for each reason. Unit: s. Source: ScaleGraph.
    """
    columns = trace.columns("waits", ("begin", "end", "location", "why"), begin=begin, end=end)
    keep = np.ones(len(columns["begin"]), bool) if locations is None else np.isin(columns["location"], list(locations))
    first, last, why = columns["begin"][keep], columns["end"][keep], columns["why"][keep]
    second = trace.meta.ticks_per_second
    started = (first >= begin) & ((first < end) | ((first == end) & (end == trace.meta.end)))
    table = pd.DataFrame(
        {
            "why": why,
            "waits": started.astype(np.int64),
            "time_s": np.maximum(np.minimum(last, end) - np.maximum(first, begin), 0) / second,
            "length": np.where(started, (last - first) / second, np.nan),
        }
    )
    made = (
        table.groupby("why", sort=False)
        .agg(waits=("waits", "sum"), time_s=("time_s", "sum"), mean_s=("length", "mean"), most_s=("length", "max"))
        .reset_index()
    )
    made = made[(made["waits"] > 0) | (made["time_s"] > 0)]  # a wait that ends where the interval begins is not in it
    names = {int(one): one.name.lower() for one in Wait}
    made["why"] = [names.get(int(number), f"reason {number}") for number in made["why"]]
    return made.sort_values("time_s", ascending=False, kind="stable", ignore_index=True)
