"""Random accesses of all processors: the invariants hold after every thousand."""

import pytest

pytestmark = pytest.mark.compiler

SMALL = {
    "ksr1": {"cache.subcache.size_kib": "1", "cache.local.size_kib": "8", "memory.page_bytes": "1024"},
    "cerberus": {"cache.cache.size_kib": "2", "coherence.exclusive_state": "true"},
    "server-2x32": {"cache.l1.size_kib": "3", "cache.l2.size_kib": "4", "cache.l3.size_kib": "60"},
}
COHERENT = ("remote_reads", "remote_writes", "upgrades", "invalidations")


def counts(answer: str) -> dict[str, int]:
    return {name: int(value) for name, value in (pair.split("=") for pair in answer.split())}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(("processors", "lines", "spread"), [(1, 300, 64), (7, 60, 64), (48, 400, 64), (64, 200, 192)])
def test_invariants_hold_in_small_caches(memory, name, processors, lines, spread) -> None:
    answer = memory(name, processors, SMALL[name]).ask(f"fuzz {processors} 12000 {lines} {spread}")
    assert answer.startswith("cycles="), answer
    seen = counts(answer)
    if processors == 64:
        assert all(seen.get(counter, 0) > 0 for counter in COHERENT)
        assert seen["stall_contention"] > 0


@pytest.mark.parametrize("name", SMALL)
def test_invariants_hold_in_full_size(memory, name) -> None:
    answer = memory(name, 8).ask("fuzz 11 3000 5000 64")
    assert answer.startswith("cycles="), answer


@pytest.mark.parametrize("name", SMALL)
def test_the_same_accesses_cost_the_same(memory, name) -> None:
    first, second = (memory(name, 16, SMALL[name]).ask("fuzz 5 5000 100 64") for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("name", "processors"), [("ksr1", 1024), ("cerberus", 1024)])
def test_a_thousand_processors_with_large_caches_use_memory_only_where_they_touch(memory, name, processors) -> None:
    system = memory(name, processors)
    for processor in range(0, processors, 3):
        system.write(processor, 0x100000 + processor * 65536, 0)
    assert 0 < counts(system.ask("resident"))["mib"] < 300


@pytest.mark.parametrize("seed", [1, 2, 3, 12345])
def test_a_resource_is_given_out_as_early_as_possible_and_never_twice(memory, seed) -> None:
    assert memory("ksr1", 1).ask(f"calendar {seed} 10000") == "ok"
