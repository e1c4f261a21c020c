"""Clusters whose nodes are machines from another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.errors import InputError
from scalegraph.base.resources import resource_dir

CLUSTER = """\
name = "mine"
title = "Mine"
summary = "Nodes by reference."

[nodes]
machine = "server-2x32"  # choice: what there is
count = 4  # system: four of them

[interconnect]
kind = "crossbar"
link_mb_s = 1000.0
hop_ns = 100.0
interface_mb_s = 1000.0
interface_ns = 100.0
ports = 4
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(CLUSTER, encoding="utf-8")
    return path


def faults(path: Path, overrides: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(InputError) as caught:
        machine.load(path, overrides)
    return [str(fault).removeprefix(f"{path}:") for fault in caught.value.faults]


def test_a_node_has_every_value_of_its_machine_and_the_cluster_what_joins_them(cluster: Path) -> None:
    node, found = machine.load("server-2x32"), machine.load(cluster)
    own = {"name", "title", "summary", "processor", "nodes", "interconnect", "origin"}
    assert found.model_dump(exclude=own) == node.model_dump(exclude=own)
    assert found.processor == node.processor.model_copy(update={"count": 4 * node.processor.count})
    assert found.nodes.processors == node.processor.count
    assert found.interconnect is not None
    assert found.interconnect.capacity() == 4
    assert found.origin["processor.clock_mhz"] == node.origin["processor.clock_mhz"]
    assert found.origin["processor.count"] == "system: 4 nodes of machine 'server-2x32'"
    assert found.origin["nodes.processors"] == "choice: a node is machine 'server-2x32'"


def test_a_written_cluster_is_whole(cluster: Path) -> None:
    """The text kept in a study, and printed by `machines show --toml`, needs no other file."""
    found = machine.load(cluster)
    text = found.to_toml()
    assert "machine =" not in text
    assert machine.read(text, "elsewhere.toml") == found
    assert type(found).model_validate(found.model_dump(mode="json")) == found


def test_a_value_of_the_cluster_stands_for_that_of_the_node(cluster: Path) -> None:
    more = (
        '[processor]\nclock_mhz = 2000.0 # vendor: of these\n[[cache]]\nname = "l3"\nsize_kib = 30720 # vendor: less\n'
    )
    cluster.write_text(CLUSTER + more, encoding="utf-8")
    found, node = machine.load(cluster), machine.load("server-2x32")
    assert found.processor.clock_mhz == 2000.0
    assert found.processor.issue_width == node.processor.issue_width
    assert [level.size_kib for level in found.cache] == [*(level.size_kib for level in node.cache[:-1]), 30720]
    last = len(node.cache) - 1
    assert found.origin[f"cache.{last}.size_kib"] == "vendor: less"
    assert found.origin[f"cache.{last}.ways"] == node.origin[f"cache.{last}.ways"]
    assert found.origin["processor.clock_mhz"] == "vendor: of these"


def test_the_nodes_may_be_a_file_beside_the_cluster_and_follow_its_changes(cluster: Path) -> None:
    beside = cluster.parent / "node.toml"
    text = machine.load("server-4s").to_toml()
    beside.write_text(text, encoding="utf-8")
    cluster.write_text(CLUSTER.replace("server-2x32", "node.toml"), encoding="utf-8")
    assert machine.load(cluster).nodes.processors == 128
    clock = machine.load("server-4s").processor.clock_mhz
    beside.write_text(text.replace(f"clock_mhz = {clock}", "clock_mhz = 1234.0"), encoding="utf-8")
    assert machine.load(cluster).processor.clock_mhz == 1234.0


def test_another_machine_and_number_of_nodes_can_be_set_for_one_request(cluster: Path) -> None:
    found = machine.load(cluster, {"nodes.machine": "server-4s", "nodes.count": "3", "memory.page_bytes": "65536"})
    assert (found.nodes.processors, found.max_processors, found.memory.page_bytes) == (128, 384, 65536)
    assert found.origin["nodes.processors"] == "override: a node is machine 'server-4s'"
    assert machine.load("cluster-hdr", {"nodes.machine": "server-8s", "nodes.count": "64"}).max_processors == 64 * 256
    assert faults(cluster, {"nodes.count": "many"}) == [
        "nodes.count: expected a whole number of nodes, at least 1; got 'many'"
    ]
    (said,) = faults(cluster, {"nodes.machine": "server-9s"})
    assert said.startswith("nodes.machine: unknown machine 'server-9s'; did you mean 'server-")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"server-2x32"',
            '"server-2x23"',
            "6:1: nodes.machine: unknown machine 'server-2x23'; did you mean 'server-2x",
        ),
        ('"server-2x32"', '"none.toml"', "6:1: nodes.machine: no such file: "),
        ('"server-2x32"', "5", "6:1: nodes.machine: expected the name of a machine, or the path of its file; got 5"),
        (
            '"server-2x32"',
            '"mine.toml"',
            "6:1: nodes.machine: the machine names itself; expected a machine of one node",
        ),
        ('"server-2x32"', '"ncube2"', "6:1: nodes.machine: machine 'ncube2' has nodes itself; expected a machine of"),
        ('"server-2x32"', '"dragonfly"', "6:1: nodes.machine: machine 'dragonfly' has nodes itself; expected a"),
        ("count = 4", "", "6:1: nodes.count: is missing; expected how many nodes there are"),
        ("count = 4", "count = 0", "7:1: nodes.count: expected a whole number of nodes, at least 1; got 0"),
        ("count = 4", "count = 4.0", "7:1: nodes.count: expected a whole number of nodes, at least 1; got 4.0"),
        ("count = 4", "count = 300", "7:1: nodes.count: expected at most 256 nodes of machine 'server-2x32' with 64"),
        ("count = 4", "count = 5", "7:1: nodes.count: the interconnect has room for 4 nodes of 64, got 320 processors"),
        ("count = 4", "count = 4\nprocessors = 8", "8:1: nodes.processors: follows from nodes.machine and nodes.count"),
        ("\n[inter", "\n[processor]\ncount = 9\n[inter", "10:1: processor.count: follows from nodes.machine and"),
        (
            "\n[inter",
            '\n[network]\nkind = "bus"\n[inter',
            "10:1: network.kind: expected 'numa', the network of machine",
        ),
        (
            "\n[inter",
            '\n[[cache]]\nname = "l9"\n[inter',
            "10:1: cache.0.name: expected the name of a level of machine ",
        ),
        ("\n[inter", "\n[[cache]]\nways = 9\n[inter", "9:3: cache.0: expected the name of a level of machine "),
        ("\n[inter", '\n[[cache]]\nname = "l3"\nway = 9\n[inter', "11:1: cache.2.way: unknown key 'way'; did you mean"),
        ("\n[inter", "\n[memory]\npage_byte = 9\n[inter", "10:1: memory.page_byte: unknown key 'page_byte'; did you"),
        ("\n[inter", "\n[memory]\npage_bytes = 9\n[inter", "10:1: memory.page_bytes: input should be greater than"),
        ("[nodes]", "processor = 9\n\n[nodes]", "5:1: processor: "),
    ],
)
def test_what_a_cluster_cannot_say_gets_one_sentence(cluster: Path, old: str, new: str, said: str) -> None:
    cluster.write_text(CLUSTER.replace(old, new, 1), encoding="utf-8")
    told = faults(cluster)
    assert len(told) == 1, told
    assert said in told[0]


def test_a_number_of_nodes_without_their_machine_says_what_is_missing(cluster: Path) -> None:
    cluster.write_text(CLUSTER.replace("machine = ", "# "), encoding="utf-8")
    assert "7:1: nodes.count: goes with nodes.machine, the machine that each node is, which is missing" in faults(
        cluster
    )


def test_a_circle_of_two_clusters_is_refused(cluster: Path) -> None:
    other = cluster.parent / "other.toml"
    other.write_text(CLUSTER.replace("server-2x32", "mine.toml").replace('"mine"', '"other"'), encoding="utf-8")
    cluster.write_text(CLUSTER.replace("server-2x32", "other.toml"), encoding="utf-8")
    (said,) = faults(cluster)
    assert "machine 'other.toml' has nodes itself" in said


@pytest.mark.slow
def test_a_fault_of_the_node_is_told_of_its_own_file(cluster: Path) -> None:
    beside = cluster.parent / "node.toml"
    text = (resource_dir("machines") / "server-2x32.toml").read_text(encoding="utf-8")
    beside.write_text(text.replace("clock_mhz", "clock_mhzz", 1), encoding="utf-8")
    cluster.write_text(CLUSTER.replace("server-2x32", "node.toml"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        machine.load(cluster)
    assert {fault.file for fault in caught.value.faults} == {str(beside)}
