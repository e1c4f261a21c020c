"""The machine model: conversion to text and back, and the runtime's configuration."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from scalegraph import machine
from scalegraph.base.errors import InputError
from scalegraph.machine import Machine

SHIPPED = tuple(summary.name for summary in machine.available())  # test_files.py lists these
one_line = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=60)


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """A shipped machine with different numbers and texts."""
    data: dict[str, Any] = machine.load(draw(st.sampled_from(SHIPPED))).model_dump()
    data["title"], data["summary"] = draw(one_line), draw(st.text(st.characters(blacklist_categories=("Cs",))))
    data["processor"]["clock_mhz"] = draw(st.floats(0.001, 1e6))
    data["processor"]["issue_width"] = draw(st.integers(1, 64))
    data["processor"]["operation_cycles"]["fp_div"] = draw(st.floats(0, 1e5))
    data["memory"]["page_bytes"] = 2 ** draw(st.integers(10, 30))
    data["coherence"]["exclusive_state"] = draw(st.booleans())
    data["synchronisation"]["lock"] = draw(st.sampled_from(["test_and_set", "ticket", "queue"]))
    for level in data["cache"]:
        level["hit_cycles"] = draw(st.integers(0, 100_000))
    said = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1, max_size=30).filter(
        str.isprintable
    )
    for key in draw(st.lists(st.sampled_from(sorted(data["origin"])), max_size=3)):
        data["origin"][key] = "estimate: " + draw(said)
    return Machine.model_validate(data)


@pytest.mark.slow
@given(machines())
@settings(deadline=None, max_examples=60)
def test_a_machine_survives_being_written_and_read(item: Machine) -> None:
    text = item.to_toml()
    assert machine.read(text, "x.toml") == item
    assert machine.read(text, "x.toml").to_toml() == text


def test_a_machine_does_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        machine.load("ksr1").name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_runtime_gets_plain_text(name: str) -> None:
    config = machine.load(name).runtime_config()
    assert all(key.startswith("machine.") and " " not in key for key in config)
    assert all(value and "\n" not in value for value in config.values())


def test_physical_quantities_become_cycles() -> None:
    config = machine.load("server-2x32-inorder", {"processor.clock_mhz": "2000"}).runtime_config()
    assert config["machine.network.memory_cycles"] == "170"  # 85 ns
    assert config["machine.network.link_cycles"] == "80"  # 40 ns
    assert config["machine.network.channel_line_millicycles"] == "3333"  # 64 bytes at 38.4 GB/s are 1.667 ns
    assert config["machine.network.link_line_millicycles"] == "1667"  # 80 bytes at 96 GB/s
    assert config["machine.op.int_alu"] == "250"


def test_a_short_delay_of_balancing_is_no_delay_that_means_never() -> None:
    config = machine.load("server-2x32", {"balancing.scan_delay_ms": "1e-9"}).runtime_config()
    assert config["machine.balancing_delay_cycles"] == "1"


def test_a_hint_fault_of_more_cycles_than_the_simulator_takes_is_refused() -> None:
    with pytest.raises(InputError, match=r"balancing.fault_us: expected at most 1e\+09 cycles, got 1e\+10"):
        machine.load("server-2x32", {"processor.clock_mhz": "1e6", "balancing.fault_us": "10000"})


def test_a_machine_made_in_python_is_checked_as_well() -> None:
    data = machine.load("ksr1").model_dump()
    data["processor"]["count"] = 4000
    with pytest.raises(ValidationError, match="the network has room for 1088 processors"):
        Machine.model_validate(data)
    data["processor"]["count"] = 10
    data["origin"]["network.speed"] = "estimate"
    with pytest.raises(ValidationError, match="no value with this key"):
        Machine.model_validate(data)


def test_processor_is_in_order_with_one_miss_at_a_time_unless_it_says_otherwise() -> None:
    config = machine.load("ksr1").runtime_config()
    assert (config["machine.out_of_order"], config["machine.memory_parallelism"]) == ("0", "1000")
    changes = {"processor.out_of_order": "true", "processor.memory_parallelism": "7.5"}
    changed = machine.load("server-2x32-inorder", changes).runtime_config()
    assert (changed["machine.out_of_order"], changed["machine.memory_parallelism"]) == ("1", "7500")


def test_a_machine_of_several_nodes_says_more() -> None:
    cube = machine.load(
        "ncube2", {"nodes.speeds": "[1.0, 0.5]", "interconnect.dimension": "4", "processor.count": "16"}
    )
    config = cube.runtime_config()
    assert (config["machine.node_processors"], config["machine.nodes.speeds"]) == ("1", "1000,500")
    assert (config["machine.interconnect.kind"], config["machine.interconnect.dimension"]) == ("hypercube", "4")
    assert config["machine.interconnect.link_byte_microcycles"] == "10000000"  # 0.5 us at 20 MHz are 10 cycles
    again = machine.read(cube.to_toml(), "x.toml")
    assert again.model_dump(exclude={"origin"}) == cube.model_dump(exclude={"origin"})
    assert (cube.node_processors, machine.load("ksr1").node_processors) == (1, 1088)


def test_what_older_machines_leave_out_is_not_given_to_the_runtime() -> None:
    """So that studies older than messages can be continued: the runtime has the same defaults."""
    config = machine.load("ksr1").runtime_config()
    assert not any("message" in key or "node" in key.replace("placement_node", "") for key in config)
    assert "machine.message_send_cycles" in machine.load("ksr1", {"messages.send_cycles": "77"}).runtime_config()


def test_fields_that_were_added_later_keep_the_identity_of_older_runs() -> None:
    added = {"synchronisation.alone_cycles": "machine.alone_cycles", "prefetch.under_way": "machine.prefetch.under_way"}
    plain = machine.load("server-2x32-inorder").runtime_config()
    for field, key in added.items():
        assert key not in plain
        changed = machine.load("server-2x32-inorder", {field: "7"}).runtime_config()
        assert changed == plain | {key: "7"}


def test_processes_have_the_processors_of_a_node_each() -> None:
    cube, server = machine.load("ncube2"), machine.load("server-2x32-inorder")
    assert (cube.refusal(1), cube.refusal(64, processes=64), server.refusal(64)) == ("", "", "")
    assert "a node of machine 'ncube2' has 1 processor" in cube.refusal(64, processes=32)
    assert cube.refusal(9000, processes=9000) == "machine 'ncube2' has 1 to 8192 processors"
