"""No change of the code changes a cycle of a shipped program; see `tests.papers.golden_cycles`."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.runtime.compiler import find_compiler
from tests.papers import golden_cycles as golden
from tests.papers.small_inputs import SMALL

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


@pytest.fixture(scope="module")
def before() -> golden.Golden:
    """The recorded cycles; other compilers generate other code, which takes different cycles."""
    compiler, kept = golden.kept()
    if compiler != find_compiler("c").identity:
        pytest.skip(f"the cycles were kept with {compiler}, this is {find_compiler('c').identity}")
    return kept


@pytest.mark.parametrize("program", sorted(SMALL))
def test_cycles_references_and_misses_are_the_kept_ones(
    program: str, before: golden.Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If cycles were meant to change, run ``python -m tests.papers.golden_cycles --write``."""
    # neither the directory nor the user's environment must matter
    place = tmp_path / ("long" * (1 + len(program)))
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOME", str(place))
    built = golden.build(program)
    for machine in (golden.MAIN_MACHINE, golden.other_machine(program)):
        assert dict(golden.measured(built, program, machine)) == before[program][machine], machine


def test_the_kept_cycles_are_those_of_all_programs_machines_and_networks() -> None:
    _, kept = golden.kept()
    assert set(kept) == set(SMALL)
    for by_machine in kept.values():
        assert sorted(by_machine) == golden.names()
        for machine, by_count in by_machine.items():
            assert list(by_count) == [str(count) for count in golden.counts(machines.load(machine))]
    assert {golden.other_machine(program) for program in SMALL} == set(golden.names()) - {golden.MAIN_MACHINE}
