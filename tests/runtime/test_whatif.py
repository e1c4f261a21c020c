"""Ideal machines and virtual speedups leave out exactly what they claim, and the accounting identity holds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph.instrument.variables import VariableMap
from scalegraph.runtime.format import CATEGORY_GROUPS, CATEGORY_NAMES, COUNTER_NAMES

pytestmark = pytest.mark.compiler
Runner = Callable[..., Any]
MACHINES = ("ksr1", "cerberus", "server-2x32-inorder")
SMALL = {  # caches of 16 lines a level
    "machine.level.0.size_bytes": "1024",
    "machine.level.0.ways": "2",
    "machine.level.1.size_bytes": "2048",
    "machine.level.1.ways": "2",
}
BUSY = [name for name in CATEGORY_NAMES if CATEGORY_GROUPS[name] == "busy"]
STALLS = [name for name in CATEGORY_NAMES if CATEGORY_GROUPS[name] == "memory_stall"]


@pytest.fixture
def scaled(run: Runner, tmp_path: Path) -> Callable[..., Any]:
    """Return a function to run with virtual speedups: (kind, parts, multiplier, divisor, [(low, high), ..]) each."""

    def made(items: list[tuple[str, int, int, int, list[tuple[int, int]]]], processors: int = 4, **more: Any) -> Any:
        lines = []
        for kind, parts, multiplier, divisor, ranges in items:
            lines.append(f"item {kind} {parts} {multiplier} {divisor}\n")
            lines += [f"range {low} {high}\n" for low, high in ranges]
        path = tmp_path / "scale"
        path.write_text("".join(lines))
        return run("whatif", processors, settings={"run.scale_path": str(path)}, **more)

    return made


def everything(outcome: Any) -> tuple[bytes, bytes]:
    return outcome.result.costs.tobytes(), outcome.result.sites.tobytes()


@pytest.mark.parametrize("on", ["ksr1", "cerberus"])
def test_without_contention_nobody_waits_and_every_access_takes_its_own_time(run: Runner, on: str) -> None:
    actual = run("whatif", 8, on=on)
    free = run("whatif", 8, on=on, settings={"run.ideal": "contention"})
    assert actual.total("stall_contention") > 0
    assert free.total("stall_contention") == 0
    assert free.total("remote_reads") > 0
    assert free.time < actual.time
    assert free.stdout == actual.stdout


@pytest.mark.parametrize("on", MACHINES)
def test_alone_on_the_machine_there_is_no_contention_to_take_away(run: Runner, on: str) -> None:
    actual = run("whatif", 1, on=on)
    assert actual.total("stall_contention") == 0
    assert everything(run("whatif", 1, on=on, settings={"run.ideal": "contention"})) == everything(actual)


@pytest.mark.parametrize("on", MACHINES)
def test_with_an_ideal_network_nothing_is_remote(run: Runner, on: str) -> None:
    outcome = run("whatif", 8, on=on, settings={"run.ideal": "network"})
    for name in ("stall_remote_read", "stall_remote_write", "stall_contention", "remote_reads", "remote_writes"):
        assert outcome.total(name) == 0
    assert outcome.total("misses") > 0


def test_with_infinite_caches_a_line_misses_once(run: Runner) -> None:
    actual = run("whatif", 1, on="server-2x32-inorder", settings=SMALL)
    ideal = run("whatif", 1, on="server-2x32-inorder", settings={**SMALL, "run.ideal": "cache"})
    assert actual.of_region(2, "misses") == 2 * 1024  # two walks over 1,024 lines through 32
    assert ideal.of_region(2, "misses") == ideal.of_region(2, "l1_misses") == 1024


def test_with_infinite_caches_lines_still_go_to_whoever_writes_them(run: Runner) -> None:
    outcome = run("whatif", 4, on="server-2x32-inorder", settings={**SMALL, "run.ideal": "cache"})
    assert outcome.of_region(3, "invalidations") > 100


@pytest.mark.parametrize("on", MACHINES)
def test_free_synchronisation_takes_no_time_but_waiting_stays(run: Runner, on: str) -> None:
    actual = run("whatif", 4, on=on)
    free = run("whatif", 4, on=on, settings={"run.ideal": "sync"})
    primitives = [name for name in CATEGORY_NAMES if CATEGORY_GROUPS[name] == "primitive"]
    assert [free.total(name) for name in primitives] == [0] * len(primitives)
    assert free.total("idle_barrier") > 0
    assert free.total("idle_lock") > 0
    assert free.time < actual.time
    assert free.stdout == actual.stdout
    assert [free.total(name) for name in ("locks", "barriers")] == [
        actual.total(name) for name in ("locks", "barriers")
    ]
    assert free.total("ops") == pytest.approx(actual.total("ops"), rel=1e-3)  # atomic updates are retried


def test_a_factor_of_one_changes_nothing(run: Runner, scaled: Callable[..., Any]) -> None:
    all_code = [(0, 2**40)]
    kinds = ("code", "region", "within", "lock", "held", "data", "heap")
    items = [(kind, 3, 1, 1, all_code) for kind in kinds]
    actual, same = run("whatif", 4).result, scaled(items).result
    serial = COUNTER_NAMES.index("serial_ops")
    assert actual.costs["counters"][:, serial].any()
    assert not same.costs["counters"][:, serial].any()  # runs with virtual speedups do not count it
    for name in ("processor", "region", "categories"):
        assert (actual.costs[name] == same.costs[name]).all()
    others = [index for index in range(len(COUNTER_NAMES)) if index != serial]
    assert (actual.costs["counters"][:, others] == same.costs["counters"][:, others]).all()
    assert actual.sites.tobytes() == same.sites.tobytes()


@pytest.mark.parametrize(("multiplier", "divisor"), [(1, 2), (1, 3), (2, 1), (5, 7), (0, 1)])
def test_a_region_of_pure_computation_costs_exactly_its_share(
    run: Runner, scaled: Callable[..., Any], multiplier: int, divisor: int
) -> None:
    actual, faster = run("whatif", 1), scaled([("region", 1, multiplier, divisor, [(1, 2)])], 1)
    expected = [actual.of_region(1, name) * multiplier // divisor for name in BUSY]
    if multiplier == 0:  # a spinning thread must see time pass: a cycle in 1,024 blocks
        assert faster.of_region(1, "busy_int") <= 4
    else:
        assert [faster.of_region(1, name) for name in BUSY] == expected
        assert actual.time - faster.time == sum(actual.of_region(1, name) for name in BUSY) - sum(expected)
    for region in (0, 2, 3):
        assert [faster.of_region(region, name) for name in BUSY] == [actual.of_region(region, name) for name in BUSY]
    assert faster.total("ops") == actual.total("ops")


def test_busy_cycles_of_addresses_add_up_to_the_leaves(scaled: Callable[..., Any]) -> None:
    outcome = scaled([("region", 1, 1, 3, [(1, 2)]), ("held", 1, 1, 2, [(0, 2**40)])])
    assert int(outcome.result.sites["cycles"][:, 0].sum()) == sum(outcome.total(name) for name in BUSY)


@pytest.mark.slow
def test_stalls_of_a_variable_are_divided(run: Runner, simulator: Any, scaled: Callable[..., Any]) -> None:
    symbol = VariableMap(simulator.build("whatif")).named("walked")
    actual = run("whatif", 1)
    faster = scaled([("data", 2, 1, 2, symbol)], 1)
    none = scaled([("data", 2, 0, 1, symbol)], 1)
    for name in STALLS:
        assert faster.of_region(2, name) == actual.of_region(2, name) // 2
        assert none.of_region(2, name) == 0
    assert actual.of_region(2, "stall_page") > 0
    assert none.total("misses") == actual.total("misses")


def test_stalls_of_what_an_allocation_made_are_divided(run: Runner, scaled: Callable[..., Any]) -> None:
    actual, none = run("whatif", 1), scaled([("heap", 2, 0, 1, [(0, 2**40)])], 1)
    assert sum(actual.of_region(4, name) for name in STALLS) > 0
    assert sum(none.of_region(4, name) for name in STALLS) == 0
    assert none.of_region(2, "stall_page") == actual.of_region(2, "stall_page")


def test_memory_alone_or_computation_alone_can_be_faster(run: Runner, scaled: Callable[..., Any]) -> None:
    actual, memory = run("whatif", 1), scaled([("region", 2, 0, 1, [(2, 3)])], 1)
    assert sum(memory.of_region(2, name) for name in STALLS) == 0
    assert [memory.of_region(2, name) for name in BUSY] == [actual.of_region(2, name) for name in BUSY]


@pytest.mark.slow
def test_a_faster_lock_or_what_it_guards_shortens_the_waiting(
    run: Runner, simulator: Any, scaled: Callable[..., Any]
) -> None:
    place = VariableMap(simulator.build("whatif")).named("lock_word")
    actual, lock, held = run("whatif", 4), scaled([("lock", 3, 0, 1, place)]), scaled([("held", 3, 0, 1, place)])
    assert lock.total("prim_lock") == 0
    assert held.total("prim_lock") > 0
    for faster in (lock, held):
        assert faster.time < actual.time
        assert faster.total("idle_lock") < actual.total("idle_lock")
        assert faster.stdout == actual.stdout


def test_all_inside_a_region_is_faster_than_the_region_itself(scaled: Callable[..., Any]) -> None:
    own, within = (scaled([(kind, 3, 1, 2, [(3, 4)])], 1) for kind in ("region", "within"))
    assert within.time < own.time
    assert within.of_region(1, "busy_fp") < own.of_region(1, "busy_fp")


@pytest.mark.slow
def test_code_of_no_cost_that_spins_still_sees_the_others_work(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "scale"
    path.write_text(f"item code 3 0 1\nrange 0 {2**40}\n")
    assert run("spin", 2, settings={"run.scale_path": str(path)}).status == "ok"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item code 3 1\n", "expected an item's kind"),
        ("item cod 3 1 1\n", "expected a kind of item"),
        ("item code 4 1 1\n", "expected an item's kind"),
        ("item code 3 1 0\n", "expected an item's kind"),
        ("range 1 2\n", "before the first item"),
        ("item code 3 1 1\nrange 2 2\n", "low and high"),
        ("nonsense\n", "expected an item or a range"),
        ("item code 3 1 1\n" * 65, "at most 64"),
    ],
)
def test_a_damaged_scale_file_is_refused_with_its_line(run: Runner, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "scale"
    path.write_text(text)
    outcome = run("whatif", 1, settings={"run.scale_path": str(path)})
    assert outcome.status == "internal"
    assert f"scale:{text.count(chr(10))}: " in outcome.result.meta["message"]
    assert said in outcome.result.meta["message"]


def test_leaves_of_every_processor_add_up_with_everything_at_once(scaled: Callable[..., Any]) -> None:
    items = [(kind, 3, 3, 7, [(0, 2**40)]) for kind in ("code", "region", "within", "lock", "held", "data")]
    outcome = scaled(items, 7)
    assert outcome.processor_sums() == [outcome.time] * 7
    assert np.all(outcome.result.sites["misses"] <= outcome.result.sites["references"])


def test_the_lock_of_a_stream_is_not_the_one_of_atomic_sections(run: Runner, tmp_path: Path) -> None:
    scale = tmp_path / "scale"
    scale.write_text("item held 3 0 1\nrange 2 3\n")  # SG_LOCK_ATOMIC
    assert run("stream_lock", 1, settings={"run.scale_path": str(scale)}).time == run("stream_lock", 1).time
