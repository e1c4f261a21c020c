"""Messages, collectives and waits: matrices and tables against hand counts; matrices add up to the totals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.trace import messages
from scalegraph.traces.kinds import NO_TIME, Operation, Wait
from scalegraph.traces.model import Definitions, Group, Location, Trace
from tests.traces.made import build, definitions, traces


def talk() -> Trace:
    """0 sends 100 B and 300 B to 1, 1 sends 1024 B to 0 and one of unknown arrival to 2; 100 ticks per second."""
    return build(
        {
            "messages": [
                (10, 12, 15, 20, 0, 1, 100, 7, 0),
                (50, 52, 55, 80, 0, 1, 300, 8, 0),
                (30, 31, 35, 50, 1, 0, 1024, 7, 0),
                (90, 91, NO_TIME, NO_TIME, 1, 2, 64, 9, -1),
            ],
            "collectives": [(0, 10, 0, Operation.BARRIER, 0, -1, 0, 0), (4, 10, 1, Operation.BARRIER, 0, -1, 0, 0)],
            "waits": [
                (20, 40, 0, 1, Wait.LOCK, 3, 0, 38),
                (60, 70, 2, 1, Wait.LOCK, 3, 0, 70),
                (70, 75, 2, -1, Wait.JOIN, 0, 0, 75),
            ],
        },
        definitions(3),
        ticks_per_second=100,
        end=100,
    )


def test_matrix_counts_bytes_messages_and_time_of_each_pair() -> None:
    trace = talk()
    made = messages.message_matrix(trace, messages.sent_messages(trace, 0, 100), range(3))
    assert made.size.tolist() == [[0, 400, 0], [1024, 0, 64], [0, 0, 0]]
    assert made.count.tolist() == [[0, 2, 0], [1, 0, 1], [0, 0, 0]]
    assert made.time.tolist() == [[0, 40, 0], [20, 0, 0], [0, 0, 0]]
    assert made.known.tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 0]]  # the time of the last is unknown


def test_message_belongs_to_the_interval_in_which_it_was_sent() -> None:
    trace = talk()
    assert messages.sent_messages(trace, 10, 50)["size"].tolist() == [100, 1024]
    assert messages.sent_messages(trace, 50, 100)["size"].tolist() == [300, 64]
    assert messages.sent_messages(trace, 0, 100, [2])["size"].tolist() == [64]


def test_message_of_unknown_sender_counts_where_it_was_received() -> None:
    trace = build({"messages": [(NO_TIME, NO_TIME, 3, 5, -1, 1, 8, 0, 0)]}, end=10)
    assert messages.sent_messages(trace, 5, 10)["latency"].tolist() == [-1]
    assert len(messages.sent_messages(trace, 0, 5)["size"]) == 0
    assert messages.by_pair(trace, messages.sent_messages(trace, 0, 10))["sender"].tolist() == ["unknown"]


def test_tables_have_sizes_latency_and_bandwidth() -> None:
    trace = talk()
    sent = messages.sent_messages(trace, 0, 100)
    pairs = messages.by_pair(trace, sent).set_index(["sender", "receiver"])
    first = pairs.loc[("thread 0", "thread 1")]
    assert first[["messages", "bytes", "mean_size", "largest"]].tolist() == [2, 400, 200, 300]
    assert first[["latency_mean_s", "latency_least_s", "latency_most_s"]].tolist() == [0.2, 0.1, 0.3]
    assert first["bandwidth"] == pytest.approx(400 / 0.4)
    assert np.isnan(pairs.loc[("thread 1", "thread 2"), "bandwidth"])
    assert messages.by_tag(trace, sent).set_index("tag")["bytes"].to_dict() == {7: 1124, 8: 300, 9: 64}
    assert messages.by_communicator(trace, sent)["communicator"].tolist() == ["world", "none"]
    sizes = messages.by_size(trace, sent)
    assert list(zip(sizes["least"], sizes["below"], sizes["messages"], strict=True)) == [
        (64, 128, 2),
        (256, 512, 1),
        (1024, 2048, 1),
    ]


def test_waits_are_cut_by_the_interval_and_counted_where_they_begin() -> None:
    trace = talk()
    made = messages.wait_matrix(trace, 30, 100, range(3))
    assert made.time.tolist() == [[0, 10, 0], [0, 0, 0], [0, 10, 0]]
    assert made.count.tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert messages.wait_matrix(trace, 0, 100, range(3), [Wait.BARRIER]).time.sum() == 0
    table = messages.waits_by_reason(trace, 0, 100).set_index("why")
    assert table.loc["lock"].tolist() == pytest.approx([2, 0.3, 0.15, 0.2])
    assert table.loc["join", "waits"] == 1
    assert messages.waits_by_reason(trace, 75, 90).empty  # the last one ended there


def test_collectives_by_operation() -> None:
    table = messages.collectives(talk(), 5, 100)
    assert table[["operation", "communicator", "parts"]].to_numpy().tolist() == [["barrier", "world", 0]]
    assert table["time_s"].tolist() == [0.1]
    assert messages.collectives(talk(), 0, 100)["mean_s"].tolist() == [0.08]
    assert messages.collectives(talk(), 10, 100).empty


def test_many_locations_are_taken_together_by_group_or_with_their_neighbours() -> None:
    places = [Location(f"t{n}", "thread", n // 50) for n in range(100)]
    trace = build(
        {"messages": [(0, 0, 0, 1, 0, 99, 5, 0, -1)]}, Definitions([Group("node A"), Group("node B")], places)
    )
    made = messages.message_matrix(trace, messages.sent_messages(trace, 0, 1), range(100))
    assert made.names == ("node A", "node B")
    assert made.size.tolist() == [[0, 5], [0, 0]]
    assert messages.groups(trace, range(50), 20)[0][:2] == ("0–2", "3–5")


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(traces(), st.data())
def test_matrices_add_up_over_meeting_intervals_and_to_the_totals(trace: Trace, data: st.DataObject) -> None:
    meta, everyone = trace.meta, range(len(trace.definitions.locations))
    middle = data.draw(st.integers(meta.begin, meta.end))
    most = data.draw(st.integers(1, 4))

    def both(begin: int, end: int) -> np.ndarray:
        sent = messages.message_matrix(trace, messages.sent_messages(trace, begin, end), everyone, most)
        waited = messages.wait_matrix(trace, begin, end, everyone, most=most)
        return np.array([sent.count, sent.size, sent.time, waited.time, waited.count])

    whole = both(meta.begin, meta.end)
    if meta.begin < middle < meta.end:
        np.testing.assert_array_equal(both(meta.begin, middle) + both(middle, meta.end), whole)
    columns = trace.columns("messages")
    assert whole[0].sum() == len(columns["size"])
    assert whole[1].sum() == columns["size"].sum()
    assert whole[2].sum() == (columns["received"] - columns["sent"]).sum()
    waits = trace.columns("waits")
    assert whole[4].sum() == (waits["holder"] >= 0).sum()
