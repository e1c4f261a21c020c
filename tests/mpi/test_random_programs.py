"""The random MPI programs: a seed always gives the same text and one native result, and a wrong result is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.mpi import random_programs
from tests.mpi.native import MISSING, Native, find
from tests.mpi.random_programs import PARTS, UNIT, Units, native_results, program, simulated_result


@pytest.fixture(scope="module")
def native() -> Native:
    """The MPI of this computer."""
    found = find()
    if found is None:
        pytest.skip(MISSING)
    return found


def test_a_seed_is_one_program_and_other_seeds_are_others() -> None:
    texts = [program(seed) for seed in range(200)]
    assert texts == [program(seed) for seed in range(200)]
    assert len({text.partition("\n")[2] for text in texts}) == 200


def test_every_part_is_drawn_and_kinds_can_be_left_out() -> None:
    every = "".join(program(seed) for seed in range(300))
    for kind, parts in PARTS.items():
        only = "".join(program(seed, (kind,)) for seed in range(60))
        for part in parts:
            name = part.__name__.lstrip("_")
            calls = {"in_place": "reduction_in_place", "inside": "split"}.get(name, name)
            assert f" {calls}(" in every, name
            assert f" {calls}(" in only, name
    assert "one_sided(" not in "".join(program(seed, ("messages", "reductions")) for seed in range(60))


@pytest.mark.slow
def test_programs_have_one_result_natively(native: Native, tmp_path: Path) -> None:
    seeds = range(5000, 5000 + UNIT // 2)
    units = Units(tmp_path, unit=len(seeds))
    for ranks in (1, 3):
        for seed, printed in native_results(native, units, seeds, ranks).items():
            assert sorted(line.partition(":")[0] for line in printed.splitlines()) == [
                f"program {seed}, rank {rank}" for rank in range(ranks)
            ]


@pytest.mark.slow
@pytest.mark.parametrize("size", [1024, 131072])  # in total less, and more, than what is copied when ranks change
def test_buffers_in_static_data_have_what_those_in_the_heap_have(size: int, tmp_path: Path, module_path: Path) -> None:
    seeds = range(6000, 6000 + UNIT // 4)
    heap, static = Units(module_path, unit=len(seeds)), Units(tmp_path, static=size, unit=len(seeds))
    for seed in seeds:
        for machine in ("server-2x32-inorder", "now-switched"):
            assert simulated_result(static, seed, 3, machine) == simulated_result(heap, seed, 3, machine)


def test_a_result_that_differs_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.json"
    right = {str(seed): {"2": f"program {seed}, rank 0: 1\n", "4": f"program {seed}, rank 0: 2\n"} for seed in (0, 1)}
    kept.write_text(json.dumps(right))
    command = ["--count", "2", "--expected", str(kept), "--simulate"]
    monkeypatch.setattr(
        random_programs, "simulated_result", lambda units, seed, ranks, on: right[str(seed)][str(ranks)]
    )
    assert random_programs.main(command) == 0
    assert capsys.readouterr().out == "2 programs on 2, 4 ranks: 0 faults\n"
    monkeypatch.setattr(random_programs, "simulated_result", lambda units, seed, ranks, on: right[str(seed)]["2"])
    assert random_programs.main(command) == 1
    assert capsys.readouterr().out.endswith("2 programs on 2, 4 ranks: 2 faults\n")


def test_a_program_without_an_expected_result_is_a_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text('{"7": {"2": "", "4": ""}}')
    assert random_programs.main(["--count", "1", "--ranks", "2", "--expected", str(kept)]) == 1
    assert "its result was not kept" in capsys.readouterr().out


def test_without_an_mpi_the_script_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert random_programs.main(["--count", "1", "--against", str(tmp_path / "mpiexec")]) == 2
    assert "not an mpiexec with mpicc beside it" in capsys.readouterr().out


def test_unknown_parts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        random_programs.main(["--parts", "messages,songs"])
    assert "unknown parts songs" in capsys.readouterr().err
