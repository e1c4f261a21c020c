"""Machine files with values changed at random give a working machine or error sentences, never a crash."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scalegraph import machine
from scalegraph.base.errors import InputError
from scalegraph.base.resources import resource_dir
from tests.memory.driving import SMALL, text_of

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

NAMES = sorted(SMALL)
WORDS = [
    *("ring_snoop", "full_map", "limited_broadcast", "limited_no_broadcast", "linked_list", "snoop"),
    *("ring", "multistage", "numa", "bus", "mesh", "hypernode", "full", "hypercube"),
    *("first_touch", "interleave", "block", "node", "lru", "tree_plru", "random", "fifo"),
    *("none", "next_line", "stride", "true", "false", "central", "tree", "hardware"),
]


def refused(error: InputError) -> bool:
    """Return whether an error message consists of sentences, each on one line."""
    return bool(error.faults) and all(str(fault).strip() and "\n" not in str(fault) for fault in error.faults)


def values(name: str) -> dict[str, Any]:
    return {row.key: row.value for row in machine.describe(machine.load(name)) if row.key not in ("title", "summary")}


@st.composite
def changed(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A shipped machine with some of its values replaced, mostly by near ones and mostly of the right type."""
    name = draw(st.sampled_from(NAMES))
    known = values(name)
    overrides = dict(SMALL[name]) if draw(st.booleans()) else {}
    for key in draw(st.lists(st.sampled_from(sorted(known)), min_size=1, max_size=5)):
        old = known[key]
        if isinstance(old, bool):
            new: Any = draw(st.booleans())
        elif isinstance(old, int):
            near = st.sampled_from([old * 2, old // 2, old + 1, old - 1, old * 3, 1, 2, 4, 0, 64])
            new = draw(near | st.integers(-1, 2**33))
        elif isinstance(old, float):
            new = draw(st.sampled_from([old * 2, old / 3, 0.0, 1e-3, 1e5]) | st.floats(allow_nan=True))
        else:
            new = draw(st.sampled_from(WORDS))
        overrides[key] = str(new).lower() if isinstance(new, bool) else str(new)
    return name, overrides


@given(changed(), st.integers(1, 40))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_machine_works_or_is_refused_in_sentences(
    driver: Path, item: tuple[str, dict[str, str]], processors: int
) -> None:
    try:
        made = machine.load(*item)
    except InputError as error:
        if refused(error):
            return
        raise
    with TemporaryDirectory() as scratch:
        config = Path(scratch) / "run.cfg"
        config.write_text(text_of(made.runtime_config(), min(processors, made.max_processors)))
        command = "fuzz 5 1000 70 64\nstatistics\n"
        done = subprocess.run([str(driver), str(config)], input=command, capture_output=True, text=True, check=False)
    said = done.stdout.splitlines()
    if done.returncode == 2:  # the only reason left is the host's
        assert len(said) == 1
        assert "the host has no memory" in said[0]
        return
    assert done.returncode == 0, (item, done.stdout[-500:], done.stderr[-2000:])
    assert said[0] == "ready"
    assert said[1].startswith("cycles=")


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=60, deadline=None)
def test_a_damaged_file_is_refused_in_sentences_or_still_a_machine(name: str, data: st.DataObject) -> None:
    text = (resource_dir("machines") / f"{name}.toml").read_text(encoding="utf-8")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = min(len(text), at + data.draw(st.integers(0, 30)))
        text = text[:at] + data.draw(st.text(max_size=6)) + text[end:]
    try:
        made = machine.read(text, "mine.toml")
    except InputError as error:
        if refused(error):
            return
        raise
    assert machine.read(made.to_toml(), "again.toml").runtime_config() == made.runtime_config()
