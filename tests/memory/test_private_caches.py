"""Replacement, inclusion and the filter of the private levels."""

import pytest

pytestmark = pytest.mark.compiler

BASE = 0x100000


def test_the_least_recently_used_line_leaves(memory) -> None:
    cerberus = memory("cerberus", 2)
    stride = 16 * 1024  # one set, four ways
    for line in range(4):
        cerberus.read(0, BASE + line * stride)
    cerberus.read(0, BASE)  # now line 1 is the oldest
    cerberus.read(0, BASE + 4 * stride)
    assert cerberus.read(0, BASE)["cycles"] == 0
    assert cerberus.read(0, BASE + 2 * stride)["cycles"] == 0
    assert cerberus.read(0, BASE + stride)["cycles"] > 0


def test_the_filter_knows_the_line_used_last_of_each_set(memory) -> None:
    cerberus = memory("cerberus", 2)
    stride = 16 * 1024
    cerberus.read(0, BASE)
    cerberus.read(0, BASE + 128)
    assert cerberus.hits(0, "r", BASE)
    assert cerberus.hits(0, "r", BASE + 128)
    cerberus.read(0, BASE + stride)
    assert not cerberus.hits(0, "r", BASE)
    assert cerberus.read(0, BASE) == {"cycles": 0}
    assert cerberus.hits(0, "r", BASE)
    assert not cerberus.hits(0, "w", BASE)


def test_a_line_pushed_out_of_the_lower_level_leaves_the_upper_too(memory) -> None:
    # Local cache: 4 sets of 16 subpages; subcache: far more sets, so it would keep everything.
    ring = memory("ksr1", 2, {"cache.local.size_kib": "8", "memory.page_bytes": "1024"})
    for line in range(16):
        ring.read(0, BASE + line * 512)
    assert ring.hits(0, "r", BASE)
    ring.read(0, BASE + 16 * 512)
    assert not ring.hits(0, "r", BASE)
    assert not ring.hits(0, "r", BASE + 64)
    assert ring.check() == "ok"


def test_a_hit_in_the_upper_level_does_not_touch_the_order_below(memory) -> None:
    ring = memory("ksr1", 2, {"cache.local.size_kib": "8", "memory.page_bytes": "1024"})
    for line in range(16):
        ring.read(0, BASE + line * 512)
    ring.read(0, BASE)  # hits the subcache; the local cache does not see it
    ring.read(0, BASE + 16 * 512)
    assert not ring.hits(0, "r", BASE)


def test_three_private_levels_stay_inclusive(memory) -> None:
    sizes = {"cache.l1.size_kib": "3", "cache.l2.size_kib": "8", "cache.l3.size_kib": "15", "cache.l3.shared_by": "1"}
    server = memory("server-2x32-inorder", 4, sizes)
    assert server.ask("fuzz 7 4000 600 64").startswith("cycles=")
    assert server.check() == "ok"
