"""Which line is evicted from a full set, checked against the simplest models of the policies."""

import random

import pytest

pytestmark = pytest.mark.compiler

BASE = 0x100000
STRIDE = 16 * 1024  # one set of the 4-way cache of 64 KiB


class Fifo:
    def __init__(self, ways: int) -> None:
        self.ways, self.lines = ways, list[int]()

    def access(self, line: int) -> bool:
        if line in self.lines:
            return True
        self.lines = [*self.lines, line][-self.ways :]
        return False


class Lru(Fifo):
    def access(self, line: int) -> bool:
        hit = super().access(line)
        self.lines.remove(line)
        self.lines.append(line)
        return hit


class TreePlru:
    """Bits in a heap: 0 points to the lower half. Each use turns the bits on its path away."""

    def __init__(self, ways: int) -> None:
        self.ways, self.bits, self.lines = ways, [0] * ways, [None] * ways

    def use(self, way: int) -> None:
        node, low, size = 1, 0, self.ways
        while size > 1:
            size //= 2
            upper = way >= low + size
            self.bits[node] = 0 if upper else 1
            node, low = 2 * node + upper, low + size * upper

    def victim(self) -> int:
        node, low, size = 1, 0, self.ways
        while size > 1:
            size //= 2
            upper = self.bits[node]
            node, low = 2 * node + upper, low + size * upper
        return low

    def access(self, line: int) -> bool:
        hit = line in self.lines
        way = self.lines.index(line) if hit else self.lines.index(None) if None in self.lines else self.victim()
        self.lines[way] = line
        self.use(way)
        return hit


MODELS = {"lru": Lru, "fifo": Fifo, "tree_plru": TreePlru}


@pytest.mark.parametrize("ways", [2, 4, 8])
@pytest.mark.parametrize("policy", MODELS)
def test_hits_are_those_of_the_model(memory, policy, ways) -> None:
    changed = {"cache.cache.replacement": policy, "cache.cache.ways": str(ways), "cache.cache.size_kib": str(16 * ways)}
    cerberus = memory("cerberus", 1, changed)
    model, choose = MODELS[policy](ways), random.Random(ways)
    for step in range(600):
        line = choose.randrange(ways + 2)
        expected = model.access(line)
        assert ("misses" not in cerberus.read(0, BASE + line * STRIDE, 1000 * step)) == expected, step
    assert cerberus.check() == "ok"


def test_random_replacement_is_the_same_in_every_run_and_spares_no_way(memory) -> None:
    def misses() -> list[bool]:
        cerberus = memory("cerberus", 1, {"cache.cache.replacement": "random"})
        order = [line for _ in range(100) for line in range(5)]
        return ["misses" in cerberus.read(0, BASE + line * STRIDE, 0) for line in order]

    first = misses()
    assert first == misses()
    # Five lines in turn in four ways: the least recently used would miss every time.
    assert 0.2 < sum(first[100:]) / 400 < 0.8


def test_an_invalidated_line_leaves_its_place(memory) -> None:
    cerberus = memory("cerberus", 2, {"cache.cache.replacement": "fifo"})
    for line in range(4):
        cerberus.read(0, BASE + line * STRIDE, 1000 * line)
    cerberus.write(1, BASE + STRIDE, 10_000)  # takes line 1 away
    cerberus.read(0, BASE + 4 * STRIDE, 20_000)  # fits
    assert "misses" not in cerberus.read(0, BASE, 30_000)
    cerberus.read(0, BASE + 5 * STRIDE, 40_000)  # line 0 has been there longest
    assert "misses" in cerberus.read(0, BASE, 50_000)
    assert cerberus.check() == "ok"
