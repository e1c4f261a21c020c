"""Events by cause, variable and class: programs with known counts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from scalegraph.instrument.variables import VariableMap
from scalegraph.runtime.format import CAUSE_COUNTERS, CAUSE_NAMES, CLASS_NAMES, COUNTER_NAMES, KIND_NAMES, OWN_NAMES

pytestmark = pytest.mark.compiler
Runner = Callable[..., Any]

ROUNDS = 10
CLASSES = {"run.collect": "classes"}
DIRECT_MAPPED = {"machine.level.0.size_bytes": "4096", "machine.level.0.ways": "1", **CLASSES}


def by_name(outcome: Any, simulator: Any, name: str) -> dict[str, Any]:
    """Return VARIABLE records by symbol or kind."""
    names = VariableMap(simulator.directory / name)
    found = {}
    for record in outcome.result.variables:
        kind = KIND_NAMES[record["kind"]]
        word = {"global": lambda r: names.name(int(r["address"])), "runtime": lambda r: OWN_NAMES[r["number"]]}
        found[word.get(kind, lambda _, kind=kind: kind)(record)] = record
    return found


def classes(record: Any) -> dict[str, int]:
    return {name: int(n) for name, n in zip(CLASS_NAMES, record["classes"], strict=True) if n}


def cause(outcome: Any, name: str, counter: str) -> int:
    mine = outcome.result.causes[outcome.result.causes["cause"] == CAUSE_NAMES.index(name)]
    return int(mine["counters"][:, CAUSE_COUNTERS.index(counter)].sum())


@pytest.fixture(scope="module")
def shares(simulator: Any) -> Any:
    return simulator.run("shares", 4, on="cerberus", settings=CLASSES)


@pytest.mark.slow
def test_writes_to_different_words_of_a_line_are_false_sharing(shares: Any, simulator: Any) -> None:
    assert shares.status == "ok", shares.stderr
    apart = by_name(shares, simulator, "shares")["apart"]
    assert classes(apart) == {"cold": 4, "false_sharing": 4 * (ROUNDS - 1)}
    assert int(apart["references"]) == 4 * ROUNDS
    assert int(apart["invalidations"]) == 4 * ROUNDS - 1


@pytest.mark.slow
def test_writes_to_one_word_are_true_sharing(shares: Any, simulator: Any) -> None:
    together = by_name(shares, simulator, "shares")["together"]
    assert classes(together) == {"cold": 4, "true_sharing": 4 * (ROUNDS - 1)}


@pytest.mark.slow
def test_a_sharing_miss_is_true_when_the_written_word_is_used_before_the_line_is_lost(
    shares: Any, simulator: Any
) -> None:
    pair = classes(by_name(shares, simulator, "shares")["pair"])
    # The reader misses in every round, and uses the written words in every second one. Words it did not use in the
    # round between still count as new.
    assert pair["cold"] == 2
    assert pair["true_sharing"] + pair["false_sharing"] == ROUNDS - 1
    assert pair["true_sharing"] == ROUNDS // 2 - 1
    assert pair["upgrade"] == ROUNDS - 1


@pytest.mark.slow
def test_a_write_invalidates_as_many_copies_as_there_are_readers(shares: Any, simulator: Any) -> None:
    announced = by_name(shares, simulator, "shares")["announced"]
    assert int(announced["invalidations"]) == 3 * ROUNDS
    assert classes(announced)["upgrade"] == ROUNDS
    widths = shares.result.widths[shares.result.widths["cause"] == CAUSE_NAMES.index("computation")]
    threes = widths[widths["width"] == 3]
    assert int(threes["count"].sum()) == ROUNDS


def test_widths_classes_variables_and_causes_add_up_to_the_totals(shares: Any) -> None:
    result = shares.result
    assert int((result.widths["width"] * result.widths["count"]).sum()) == shares.total("invalidations")
    assert int(result.variables["misses"].sum()) == shares.total("misses")
    assert int(result.variables["classes"].sum()) == shares.total("misses")
    assert int(result.causes["classes"].sum()) == shares.total("misses")
    assert int(result.variables["references"].sum()) == shares.total("reads") + shares.total("writes")
    for number, name in enumerate(CAUSE_COUNTERS):
        assert int(result.causes["counters"][:, number].sum()) == shares.total(name)
    assert np.array_equal(result.sites["classes"].sum(axis=1), result.sites["causes"].sum(axis=1))
    assert int(result.sites["misses"].sum()) == int(result.sites["causes"].sum())


def test_classes_change_nothing_else(shares: Any, simulator: Any) -> None:
    plain = simulator.run("shares", 4, on="cerberus")
    assert np.array_equal(plain.result.costs, shares.result.costs)
    assert np.array_equal(plain.result.widths, shares.result.widths)
    assert not plain.result.variables["references"].any()
    assert not plain.result.causes["classes"].any()


@pytest.mark.slow
def test_lines_with_false_sharing_say_who_writes_which_bytes(shares: Any, simulator: Any) -> None:
    names = VariableMap(simulator.directory / "shares")
    apart = next(line for line in shares.result.shared_lines if names.name(int(line["address"])) == "apart")
    users = shares.result.line_users[shares.result.line_users["line"] == apart["address"]]
    assert [int(user["written"]) for user in sorted(users, key=lambda user: user["processor"])] == [1, 2, 4, 8]
    assert not users["read"].any()
    assert all(int(user["writer"]) for user in users)
    parts = shares.result.line_parts[shares.result.line_parts["line"] == apart["address"]]
    assert [(int(part["bytes"]), int(part["offset"])) for part in parts] == [(128, 0)]


@pytest.mark.slow
def test_elements_are_named_as_the_program_names_them(shares: Any, simulator: Any) -> None:
    names = VariableMap(simulator.directory / "shares")
    address = next(at for at in names._names if names.name(at) == "cells")
    assert [names.element(address, offset) for offset in (0, 8, 12, 16, 28)] == [
        "[0].x",
        "[0].hits[0]",
        "[0].hits[1]",
        "[1].x",
        "[1].hits[1]",
    ]
    assert names.variable(address).file.endswith("shares.c")


def test_heap_blocks_are_known_by_the_place_that_allocates_them(shares: Any, simulator: Any) -> None:
    heap = [r for r in shares.result.variables if KIND_NAMES[r["kind"]] == "heap" and r["bytes"] == 512]
    assert len(heap) == 1
    assert int(heap[0]["blocks"]) == 1
    assert int(heap[0]["misses"]) >= 4


@pytest.mark.slow
def test_streaming_over_more_than_the_cache_holds_is_capacity(run: Runner, simulator: Any) -> None:
    outcome = run("evicts", 1, on="cerberus", settings=DIRECT_MAPPED)
    assert outcome.status == "ok", outcome.stderr
    stream = by_name(outcome, simulator, "evicts")["stream"]
    assert classes(stream) == {"cold": 128, "capacity": 128 * (ROUNDS - 1)}


@pytest.mark.slow
def test_two_lines_of_one_set_are_conflict(run: Runner, simulator: Any) -> None:
    outcome = run("evicts", 1, on="cerberus", settings=DIRECT_MAPPED)
    clash = by_name(outcome, simulator, "evicts")["clash"]
    assert classes(clash) == {"cold": 2, "conflict": 2 * (ROUNDS - 1)}


@pytest.mark.slow
@pytest.mark.parametrize("on", ["cerberus", "ksr1"])
def test_misses_of_barriers_and_locks_are_theirs(run: Runner, simulator: Any, on: str) -> None:
    outcome = run("barriers", 4, on=on)
    found = by_name(outcome, simulator, "barriers")
    own = sum(int(found[name]["misses"]) for name in ("barrier", "lock", "queue") if name in found)
    # cerberus has a barrier built from a lock: its misses count for the barrier
    assert cause(outcome, "barrier", "misses") >= int(found["barrier"]["misses"]) > 10 * 4
    assert 0 < cause(outcome, "lock", "misses") == own - cause(outcome, "barrier", "misses")
    assert cause(outcome, "computation", "misses") <= 2 * 4  # data passed by a fork
    assert cause(outcome, "atomic", "reads") == 0
    assert sum(cause(outcome, name, "misses") for name in CAUSE_NAMES) == outcome.total("misses")


def test_links_and_modules_are_told_of(run: Runner) -> None:
    resources = run("barriers", 4, on="cerberus").result.resources
    kinds = {record["kind"] for record in resources}
    assert kinds == {b"link", b"module"}
    assert (resources["transactions"] > 0).all()


def test_counters_by_cause_are_a_part_of_the_counters() -> None:
    assert CAUSE_COUNTERS[0] == "reads"
    assert set(CAUSE_COUNTERS) < set(COUNTER_NAMES)
