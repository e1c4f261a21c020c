"""Machines whose core is that of another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.errors import InputError
from scalegraph.base.resources import resource_dir


@pytest.fixture
def chip(tmp_path: Path) -> Path:
    """A machine with the core of a shipped one: a file that says the rest."""
    path = tmp_path / "mine.toml"
    text = (resource_dir("machines") / "xeon-8470.toml").read_text(encoding="utf-8")
    path.write_text(text.replace('name = "xeon-8470"', 'name = "mine"'), encoding="utf-8")
    return path


def faults(path: Path, overrides: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(InputError) as caught:
        machine.load(path, overrides)
    return [str(fault).removeprefix(f"{path}:") for fault in caught.value.faults]


def test_the_core_is_how_a_processor_executes_its_own_caches_and_what_it_predicts(chip: Path) -> None:
    found, other = machine.load(chip), machine.load("xeon-8480")
    own = {"count", "clock_mhz", "turbo_cores", "turbo_clock"}
    assert found.processor.model_dump(exclude=own) == other.processor.model_dump(exclude=own)
    assert found.cache[:2] == other.cache[:2]
    assert [level.size_kib for level in found.cache[2:]] == [26880]
    for section in ("branches", "translation", "prefetch"):
        assert getattr(found, section) == getattr(other, section)
    assert (found.processor.count, other.processor.count) == (104, 112)
    assert found.origin["processor.pipeline.window"] == other.origin["processor.pipeline.window"]
    assert found.origin["cache.2.size_kib"] == "vendor"
    assert "processor.core" not in found.origin


def test_a_written_machine_is_whole(chip: Path) -> None:
    text = machine.load(chip).to_toml()
    assert "\ncore =" not in text
    assert machine.read(text, "elsewhere.toml") == machine.load(chip)


def test_a_value_of_the_file_stands_for_that_of_the_core(chip: Path) -> None:
    level = '[[cache]]\nname = "l2"\nsize_kib = 1024 # vendor: smaller\n'
    more = f"{level}[processor.pipeline]\nwindow = 100 # vendor: of these\n"
    chip.write_text(f"{chip.read_text()}{more}", encoding="utf-8")
    found, other = machine.load(chip), machine.load("xeon-8480")
    assert [level.size_kib for level in found.cache] == [other.cache[0].size_kib, 1024, 26880]
    assert found.cache[1].ways == other.cache[1].ways
    assert found.processor.pipeline.window == 100
    assert found.origin["processor.pipeline.window"] == "vendor: of these"
    assert (found.origin["cache.1.size_kib"], found.origin["cache.2.size_kib"]) == ("vendor: smaller", "vendor")


def test_a_level_that_the_file_has_twice_is_refused_as_in_any_machine(chip: Path) -> None:
    once = '[[cache]]\nname = "l2"\nsize_kib = 1024 # vendor: smaller\n'
    chip.write_text(f"{chip.read_text()}{once}{once}", encoding="utf-8")
    assert any(said.endswith("cache.3.name: another level has the name 'l2' already") for said in faults(chip))


def test_values_of_the_core_can_be_set_for_one_request(chip: Path) -> None:
    found = machine.load(chip, {"cache.l2.size_kib": "512", "processor.issue_width": "4"})
    assert (found.cache[1].size_kib, found.processor.issue_width) == (512, 4)


def test_a_node_may_have_its_core_from_another_file(chip: Path) -> None:
    assert machine.load("cluster-hdr", {"nodes.machine": str(chip), "nodes.count": "2"}).max_processors == 208


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("xeon-8408", "processor.core: unknown machine 'xeon-8408'; did you mean 'xeon-8"),
        ("none.toml", "processor.core: no such file: "),
        ("mine.toml", "processor.core: the machine names itself; expected another machine"),
        (
            "xeon-8470",
            "processor.core: machine 'xeon-8470' takes its own core from another file; name that machine instead",
        ),
        ("cluster-hdr", "processor.core: machine 'cluster-hdr' takes its own core from another file"),
    ],
)
def test_a_reference_that_leads_nowhere_is_refused_at_its_place(chip: Path, new: str, said: str) -> None:
    chip.write_text(chip.read_text().replace('core = "xeon-8480"', f'core = "{new}"'), encoding="utf-8")
    (fault,) = faults(chip)
    line = next(n for n, text in enumerate(chip.read_text().splitlines(), 1) if text.startswith("core ="))
    assert fault.startswith(f"{line}:1: {said}")


def test_faults_of_the_file_have_their_own_place(chip: Path) -> None:
    chip.write_text(chip.read_text().replace("size_kib = 26880", "size_kib = -3"), encoding="utf-8")
    line = next(n for n, text in enumerate(chip.read_text().splitlines(), 1) if text.startswith("size_kib = -3"))
    assert [fault.partition(": ")[0] for fault in faults(chip)] == [f"{line}:1"]


def test_a_cluster_has_its_core_from_its_nodes(chip: Path) -> None:
    cluster = '[nodes]\nmachine = "server-4s"\ncount = 2\n[processor]\ncore = "xeon-8480"\n'
    chip.write_text(f'name = "mine"\ntitle = "Mine"\nsummary = "Two."\n{cluster}', encoding="utf-8")
    assert faults(chip) == ["8:1: processor.core: the machine of the nodes says what their core is; leave it out"]
