"""Machine files: shipped ones by name, others by path, overrides, and all faults at once."""

import re
from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.errors import InputError
from scalegraph.base.resources import resource_dir
from scalegraph.machine.model import MOST_PROCESSORS
from scalegraph.runtime.library import SOURCES

SHIPPED = (
    "a64fx",
    "bus-smp",
    "cerberus",
    "cluster-hdr",
    "cluster-hdr100",
    "cluster-slingshot",
    "cm5",
    "cm5-vector",
    "convex-exemplar",
    "desktop-8",
    "dragonfly",
    "epyc-7451",
    "epyc-7452",
    "epyc-7763",
    "epyc-7h12",
    "epyc-9654",
    "graviton3",
    "ksr1",
    "maspar-mp1",
    "mesh-manycore",
    "ncube2",
    "now-ethernet",
    "now-switched",
    "server-2x32",
    "server-2x32-inorder",
    "server-4s",
    "server-8s",
    "thunderx2",
    "xeon-6126",
    "xeon-6148",
    "xeon-6248",
    "xeon-8160",
    "xeon-8360y",
    "xeon-8470",
    "xeon-8480",
)


def faults(name: str | Path, overrides: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(InputError) as caught:
        machine.load(name, overrides)
    return [str(fault) for fault in caught.value.faults]


@pytest.fixture
def text() -> str:
    return (resource_dir("machines") / "ksr1.toml").read_text(encoding="utf-8")


@pytest.mark.slow
def test_shipped_machines_are_listed_and_load() -> None:
    listed = machine.available()
    assert tuple(item.name for item in listed) == SHIPPED
    for item in listed:
        assert machine.load(item.name) == machine.load(item.path)
        assert machine.load(item.name).max_processors == item.processors_max


@pytest.mark.parametrize("name", SHIPPED)
def test_every_value_of_a_shipped_machine_says_where_it_comes_from(name: str) -> None:
    rows = machine.describe(machine.load(name))
    assert [row.key for row in rows if row.origin == "not stated"] == []
    assert all(row.description for row in rows)
    assert all(row.unit for row in rows if isinstance(row.value, float))


def test_facts_of_the_papers() -> None:
    ksr1 = machine.load("ksr1")
    assert (ksr1.max_processors, ksr1.clock_hz) == (1088, 20e6)
    assert [cache.size_kib for cache in ksr1.cache] == [512, 32 * 1024]
    rows = {row.key: row for row in machine.describe(ksr1)}
    assert (rows["memory.page_miss_cycles"].value, rows["memory.page_miss_cycles"].unit) == (163, "cycles")
    assert rows["cache.1.hit_cycles"].value == 23
    assert rows["cache.1.hit_cycles"].origin.startswith("paper: latency-metric 5.1")
    assert machine.load("cerberus").cache[0].size_kib == 64


def test_an_unknown_machine_names_the_nearest() -> None:
    (said,) = faults("ksr2")
    assert said.startswith(
        "unknown machine 'ksr2'; did you mean 'ksr1'?; expected one of a64fx, bus-smp, cerberus, cluster-hdr, "
    )
    assert said.endswith("or the path of a machine file")
    assert faults("nowhere/x.toml") == ["nowhere/x.toml: no such file"]


def test_a_file_of_the_user_loads_by_path(tmp_path: Path, text: str) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace('name = "ksr1"', 'name = "mine"'), encoding="utf-8")
    assert machine.load(mine).name == "mine"


@pytest.mark.slow
def test_all_faults_are_told_at_once_with_their_lines(tmp_path: Path, text: str) -> None:
    bad = text.replace("hop_cycles = 4 ", "hop_cycle = 4 ", 1).replace("ways = 16", "ways = 16.5")
    bad = bad.replace("clock_mhz = 20.0", "clock_mhz = -20.0").replace("[memory]\npage_bytes = 16384", "[memory]")
    path = tmp_path / "bad.toml"
    path.write_text(bad, encoding="utf-8")
    told = faults(path)
    lines = bad.splitlines()

    def line(start: str) -> int:
        return next(number for number, content in enumerate(lines, 1) if content.startswith(start))

    place = f"{path}:{line('hop_cycle = 4')}:1"
    assert f"{place}: network.hop_cycle: unknown key 'hop_cycle'; did you mean 'hop_cycles'?" in told
    assert any("network.hop_cycles: is missing" in item for item in told)
    assert any(item.startswith(f"{path}:{line('ways = 16.5')}:1: cache.1.ways: ") for item in told)
    assert any(item.startswith(f"{path}:{line('clock_mhz')}:1: processor.clock_mhz: ") for item in told)
    assert any("memory.page_bytes: is missing" in item for item in told)
    assert len(told) == 5


def test_contradictions_are_told_at_once_at_their_keys(tmp_path: Path, text: str) -> None:
    bad = text.replace("count = 1088", "count = 2000").replace("line_bytes = 64 ", "line_bytes = 256 ")
    bad = bad.replace("size_kib = 32768", "size_kib = 32767").replace('"local"', '"subcache"')
    path = tmp_path / "bad.toml"
    path.write_text(bad, encoding="utf-8")
    told = "\n".join(faults(path))
    assert "processor.count: the network has room for 1088 processors, got 2000" in told
    assert "cache.0.line_bytes: expected at most the coherence line (128), got 256" in told
    assert "cache.1.line_bytes: expected at least the line of the level before (256), got 128" in told
    assert "cache.1.size_kib: expected line_bytes x ways x a whole number (128 x 16 x ..), got 33553408 bytes" in told
    assert "cache.1.name: another level has the name 'subcache' already" in told
    assert all(item.startswith(f"{path}:") for item in told.splitlines())


@pytest.mark.parametrize(
    ("name", "overrides", "said"),
    [
        ("ksr1", {"coherence.kind": "full_map"}, "'ring_snoop' and the network 'ring' need each other"),
        ("ksr1", {"memory.placement": "interleave"}, "an attraction memory has no fixed homes"),
        ("ksr1", {"cache.local.shared_by": "2"}, "expected 1 in an attraction memory"),
        ("ksr1", {"nodes.processors": "2"}, "nodes.processors: a machine of several nodes needs an [interconnect]"),
        ("ncube2", {"nodes.processors": "0"}, "expected at least 1 on a machine with an interconnect, got 0"),
        ("ncube2", {"interconnect.dimension": "3"}, "the interconnect has room for 8 nodes of 1, got 8192 processors"),
        ("ncube2", {"nodes.speeds": "[1.0, 0.0]"}, "nodes.speeds.1: "),
        ("ncube2", {"nodes.speeds": "fast"}, "nodes.speeds: "),
        ("ksr1", {"coherence.line_bytes": "100"}, "coherence.line_bytes: expected a power of two, got 100"),
        ("ksr1", {"memory.page_bytes": "64e3"}, "input should be a valid integer"),
        ("server-2x32-inorder", {"cache.l1.shared_by": "2"}, "only the last of several levels may be shared"),
        ("server-2x32-inorder", {"cache.l3.shared_by": "24"}, "expected a divisor of a socket's 32 processors"),
        ("server-2x32-inorder", {"cache.l3.line_bytes": "128"}, "expected the coherence line (64), got 128"),
        (
            "server-2x32-inorder",
            {"memory.page_bytes": "5000"},
            "expected a power of two of at least one coherence line",
        ),
    ],
)
def test_values_that_contradict_each_other_are_refused(name: str, overrides: dict[str, str], said: str) -> None:
    assert said in "\n".join(faults(name, overrides))


def test_overrides_change_values_and_say_so() -> None:
    changed = machine.load("ksr1", {"network.hop_cycles": "5", "cache.local.ways": "8", "processor.clock_mhz": "40"})
    assert changed.network.kind == "ring"
    assert (changed.network.hop_cycles, changed.cache[1].ways, changed.clock_hz) == (5, 8, 40e6)
    origins = {row.key: row.origin for row in machine.describe(changed)}
    assert origins["network.hop_cycles"] == origins["cache.1.ways"] == "override"
    assert machine.load("cerberus", {"synchronisation.barrier": "hardware"}).synchronisation.barrier == "hardware"
    assert machine.load("cerberus", {"coherence.exclusive_state": "true"}).coherence.exclusive_state is True


def test_faulty_overrides_are_told_by_the_key_that_the_user_wrote() -> None:
    told = faults("ksr1", {"network.hop_cycle": "5", "cache.local.ways": "many", "memory": "1", "a..b": "1"})
    assert "network.hop_cycle: unknown key 'hop_cycle'; did you mean 'network.hop_cycles'?" in told
    assert "cache.local.ways: input should be a valid integer; got 'many'" in told
    assert "memory: 'memory' is a section; one of its values was expected, like 'memory.page_bytes'" in told
    assert any(item.startswith("a..b: ") for item in told)
    assert len(told) == 4


@pytest.mark.parametrize("value", ["", "1\nname = 2", "[1]", "{}", "nan", '"', "99999999999999999999999999"])
def test_an_override_that_is_no_value_is_refused(value: str) -> None:
    assert len(faults("ksr1", {"processor.clock_mhz": value})) == 1


def test_origins_are_comments_and_no_table(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text + '\n[origin]\n"processor.count" = "paper"\n', encoding="utf-8")
    assert any("unknown key 'origin'; the comment behind a value says its origin" in item for item in faults(path))


def test_a_hash_in_a_text_is_no_comment(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text.replace('title = "KSR-1', 'title = "# paper: KSR-1'), encoding="utf-8")
    loaded = machine.load(path)
    assert loaded.title.startswith("# paper: KSR-1")
    assert "title" not in loaded.origin


@pytest.mark.slow
def test_each_processor_of_the_largest_machine_can_have_a_rank() -> None:
    text = next(SOURCES.glob("*/sg_state.h")).read_text("utf-8")
    found = re.search(r"#define SG_MAX_THREADS +(\d+)u", text)
    assert found is not None
    assert int(found[1]) >= MOST_PROCESSORS


@pytest.mark.slow
def test_lists_of_machines_say_how_many_processors_a_process_has() -> None:
    found = {item.name: (item.processors_max, item.process_max) for item in machine.available()}
    assert found["cluster-hdr"] == (16384, 64)
    assert found["ksr1"] == (1088, 1088)
