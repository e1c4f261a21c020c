"""Random accesses of all processors: the invariants hold after every thousand."""

import itertools

import pytest

from tests.memory.driving import SMALL

pytestmark = [pytest.mark.compiler, pytest.mark.slow]

LAST_PRIVATE = {
    "ksr1": "local",
    "cerberus": "cache",
    "server-2x32-inorder": "l2",
    "server-8s": "l2",
    "bus-smp": "secondary",
    "mesh-manycore": "l2",
    "convex-exemplar": "cache",
    "ncube2": "memory",
    "a64fx": "l1",
    "xeon-8360y": "l2",
}
# Machines with one cache level, into which nothing can be prefetched.
FLAT = ("a64fx", "cerberus", "convex-exemplar", "ncube2")
COHERENT = ("remote_reads", "remote_writes", "upgrades", "invalidations")
LIMITED = ("limited_broadcast", "limited_no_broadcast")


def counts(answer: str) -> dict[str, int]:
    return {name: int(value) for name, value in (pair.split("=") for pair in answer.split())}


def most(name: str, processors: int) -> int:
    return min(processors, {"bus-smp": 36, "a64fx": 48}.get(name, processors))


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(("processors", "lines", "spread"), [(1, 300, 64), (7, 60, 64), (48, 400, 64), (64, 200, 192)])
def test_invariants_hold_in_small_caches(memory, name, processors, lines, spread) -> None:
    answer = memory(name, most(name, processors), SMALL[name]).ask(f"fuzz {processors} 12000 {lines} {spread}")
    assert answer.startswith("cycles="), answer
    seen = counts(answer)
    if processors == 64:
        remote = name != "ncube2"  # ncube2's nodes share no memory
        assert all((seen.get(counter, 0) > 0) == (remote or "remote" not in counter) for counter in COHERENT)
        assert seen["stall_contention"] > 0


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(("processors", "lines", "spread"), [(7, 60, 64), (64, 200, 192), (64, 40, 4096)])
def test_invariants_hold_when_others_change_caches_before_an_access_has_its_turn(
    memory, name, processors, lines, spread
) -> None:
    answer = memory(name, most(name, processors), SMALL[name]).ask(f"delayed 3 12000 {lines} {spread}")
    assert answer.startswith("cycles="), answer


@pytest.mark.parametrize("name", SMALL)
def test_invariants_hold_in_full_size(memory, name) -> None:
    answer = memory(name, 8).ask("fuzz 11 3000 5000 64")
    assert answer.startswith("cycles="), answer


@pytest.mark.parametrize("name", SMALL)
def test_the_same_accesses_cost_the_same(memory, name) -> None:
    first, second = (memory(name, 16, SMALL[name]).ask("fuzz 5 5000 100 64") for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("name", "exclusive", "owned"),
    [case for case in itertools.product(SMALL, ("true", "false"), ("true", "false")) if case[::2] != ("ksr1", "true")],
)
def test_invariants_hold_under_msi_mesi_and_moesi(memory, name, exclusive, owned) -> None:
    protocol = {"coherence.exclusive_state": exclusive, "coherence.owned_state": owned}
    answer = memory(name, most(name, 40), SMALL[name] | protocol).ask("fuzz 3 12000 150 64")
    assert answer.startswith("cycles="), answer


@pytest.mark.parametrize("name", ["cerberus", "mesh-manycore"])
@pytest.mark.parametrize("owned", ["true", "false"])
@pytest.mark.parametrize(("kind", "pointers"), [*itertools.product(LIMITED, (1, 2, 5))])
def test_a_limited_directory_keeps_within_its_pointers(memory, name, kind, pointers, owned) -> None:
    limited = {"coherence.kind": kind, "coherence.pointers": str(pointers), "coherence.owned_state": owned}
    answer = memory(name, 24, SMALL[name] | limited).ask("fuzz 9 8000 60 128")
    assert answer.startswith("cycles="), answer


@pytest.mark.parametrize(("name", "policy"), [*itertools.product(SMALL, ("tree_plru", "random", "fifo"))])
def test_invariants_hold_under_every_replacement_policy(memory, name, policy) -> None:
    levels = {f"cache.{LAST_PRIVATE[name]}.replacement": policy, "cache.0.replacement": policy}
    answer = memory(name, 12, SMALL[name] | levels).ask("fuzz 21 8000 300 64")
    assert answer.startswith("cycles="), answer
    assert answer == memory(name, 12, SMALL[name] | levels).ask("fuzz 21 8000 300 64")


@pytest.mark.parametrize("kind", ["next_line", "stride"])
@pytest.mark.parametrize("name", [name for name in SMALL if name not in FLAT])
def test_invariants_hold_with_prefetchers(memory, name, kind) -> None:
    prefetch = {
        "memory.write_allocate": "always",
        "prefetch.kind": kind,
        "prefetch.degree": "3",
        "prefetch.distance": "2",
    }
    answer = memory(name, 12, SMALL[name] | prefetch).ask("fuzz 17 8000 300 64")
    assert answer.startswith("cycles="), answer
    if kind == "next_line":
        assert counts(answer)["prefetches"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "processors"), [("ksr1", 1024), ("cerberus", 1024), ("mesh-manycore", 256), ("server-8s", 256)]
)
def test_a_thousand_processors_with_large_caches_use_memory_only_where_they_touch(memory, name, processors) -> None:
    system = memory(name, processors)
    for processor in range(0, processors, 3):
        system.write(processor, 0x100000 + processor * 65536, 0)
    assert 0 < counts(system.ask("resident"))["mib"] < 300


@pytest.mark.parametrize("seed", [1, 2, 3, 12345])
def test_a_resource_is_given_out_as_early_as_possible_and_never_twice(memory, seed) -> None:
    assert memory("ksr1", 1).ask(f"calendar {seed} 10000") == "ok"


@pytest.mark.parametrize("seed", [1, 2, 3, 12345])
def test_a_full_calendar_forgets_its_oldest_half_and_keeps_the_rest(memory, seed) -> None:
    assert memory("ksr1", 1).ask(f"intervals {seed} 10000") == "ok"
