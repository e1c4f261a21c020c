"""Measured runs predict larger ones: medians of repetitions, call paths, noise in the interval."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.cli.main import main
from scalegraph.control.calibration import Host
from scalegraph.control.calibration.host import CacheLevel
from scalegraph.predict.measured import MeasuredPredictor, measured_samples
from scalegraph.request.run.measured_warnings import Data, noise_notes, unknown_data
from scalegraph.request.run.sampling import declared
from scalegraph.store import Study
from scalegraph.store.manifest import Manifest

SIZES = (100, 200, 300, 400, 500)


def truth(n: int) -> float:
    """A constant 2 ms plus a cubic term."""
    return 2e-3 + 2e-9 * n**3


def runs(noise: Callable[[int], float], repetitions: int = 5) -> list[RunRecord]:
    return [
        RunRecord(
            source="measured",
            program="p",
            machine="host",
            point=RunPoint(processors=2, parameters={"n": n}, repetition=r),
            time_s=truth(n) * (1 + noise(r)),
        )
        for n in SIZES
        for r in range(repetitions)
    ]


def predictor(found: list[RunRecord]) -> MeasuredPredictor:
    made = measured_samples(found)
    return MeasuredPredictor(made.runs, made.regions, {}, [{"n": 1000}], repeated=made.repeated, noise=made.noise)


def test_a_cube_beside_a_start_is_found_and_every_repetition_is_charged() -> None:
    made = predictor(runs(lambda _: 0.0))
    assert made.at({"n": 1000}, 2).time_s == pytest.approx(truth(1000), rel=1e-3)
    assert len(made.needed({"n": 1000}, 2)) == 25


def test_medians_leave_a_disturbed_repetition_out_and_noise_widens_the_interval() -> None:
    calm, noisy = predictor(runs(lambda _: 0.0)), predictor(runs(lambda r: (0.0, 0.04, -0.04, 0.02, -0.02)[r]))
    disturbed = predictor(runs(lambda r: 1.0 if r == 3 else 0.0))
    found = {name: one.at({"n": 1000}, 2) for name, one in (("calm", calm), ("noisy", noisy), ("hit", disturbed))}
    assert found["hit"].time_s == pytest.approx(found["calm"].time_s)
    width = {name: one.high_s - one.low_s for name, one in found.items()}
    assert width["calm"] < width["noisy"] < width["hit"]
    assert found["noisy"].low_s < truth(1000) < found["noisy"].high_s


@pytest.mark.slow
def test_imported_call_paths_are_segments_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = (*SIZES, 1000)
    regions: dict[str, Callable[[int], float]] = {
        "main": lambda n: 0.0,
        "main->sweep": lambda n: 1e-6 * n**2,
        "main->solve": lambda n: 2e-9 * n**3,
    }
    lines = ["PARAMETER p", "PARAMETER n", "POINTS " + " ".join(f"( 2 {n} )" for n in sizes), ""]
    for name, time in regions.items():
        values = {n: time(n) if name != "main" else sum(own(n) for own in regions.values()) for n in sizes}
        lines += [f"REGION {name}", "METRIC time", *(f"DATA {values[n]:.9f}" for n in sizes), ""]
    (tmp_path / "set.txt").write_text("\n".join(lines), encoding="utf-8")
    study = tmp_path / "set.sgstudy"
    said = ["--processors", "p", "--time", "time", "--unit", "s", "--values", "inclusive", "--elapsed"]
    run("import", str(tmp_path / "set.txt"), "-o", str(study), *said)
    capsys.readouterr()
    run("predict", str(study), "--at", "n=1000", "--json")
    (found,) = json.loads(capsys.readouterr().out)["predictions"]
    assert found["error"] < 0.01
    parts = {one["name"]: one["time_s"] for one in found["regions"]}
    assert parts["main->solve"] == pytest.approx(2.0, rel=0.02)
    assert parts["main->sweep"] == pytest.approx(1.0, rel=0.02)
    assert all(one["busy_s"] is None for one in found["regions"])
    run("predict", str(study), "--at", "n=2000", "-o", str(study))
    with Study.open(study) as kept:
        (row,) = (one for one in kept.runs() if one.source == "predicted")
    assert row.time_s == pytest.approx(20.0, rel=0.05)


def test_samples_that_are_known_less_well_than_wanted_are_named() -> None:
    noisy = runs(lambda r: (0.0, 0.04, -0.04, 0.02, -0.02)[r])
    assert noise_notes(noisy, 0.0) == []
    (said,) = noise_notes(noisy, 2.0)
    assert said.startswith("N = 2: 5 of 5 samples are known less well than 2.0\N{NO-BREAK SPACE}%; the worst is n = ")
    assert "± 4.0\N{NO-BREAK SPACE}%" in said
    (said,) = noise_notes(runs(lambda _: 0.0, repetitions=1), 0.0)
    assert said.startswith("N = 2: 5 samples of 5 were measured once")


MIB = 1 << 20
CACHES = (CacheLevel(2, MIB, 64, 16, 1), CacheLevel(3, 32 * MIB, 64, 16, 2))


def computer(*, is_virtual: bool) -> Host:
    return Host("processor", (0, 1), 1, -1, CACHES, is_virtual, 4096, 1 << 30)


@pytest.mark.parametrize(
    ("n", "processors", "is_virtual", "said"),
    [
        (400, 1, False, "leave L2 (1.05 MB)"),  # 1.3 MB: fits in the caches of two processors
        (400, 2, False, ""),
        (1700, 2, False, "leave L2 (2.10 MB)"),  # 23 MB
        (1700, 2, True, "need more than half of L3 (33.6 MB), which other programs use, too"),
        (2100, 2, False, "leave L3 (33.6 MB)"),
    ],
)
def test_data_that_leave_a_cache_between_samples_and_prediction_are_named(
    n: int, processors: int, is_virtual: bool, said: str
) -> None:
    data = Data(declared("8 * n ** 2 * parts", {"parts": 1}), computer(is_virtual=is_virtual))
    found = data.warning([{"n": 100}, {"n": 300}], {"n": n}, processors)
    assert (said in found) if said else not found
    assert not said or found.startswith(f"N = {processors}, n = {n}: the data grow from 720 kB to ")


def test_no_cache_is_left_by_data_that_were_outside_of_it_in_the_samples_already() -> None:
    data = Data(declared("8 * n ** 2", {}), computer(is_virtual=False))
    assert not data.warning([{"n": 1000}], {"n": 2000}, 2)
    (said,) = unknown_data(Data(declared("", {}), computer(is_virtual=False)), runs(lambda _: 0.0))
    assert said.endswith("the program file has no memory formula")
    (said,) = unknown_data(Data(declared("8 * n ** 2", {}), None), runs(lambda _: 0.0))
    assert "caches of the computer that measured them are not known here" in said


def test_measured_runs_without_parameters_are_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Study.create(tmp_path / "some.sgstudy", Manifest.new(title="p", program="p", machine="host")) as study:
        for r in range(3):
            point = RunPoint(processors=2, repetition=r, target="host")
            study.add_run(RunRecord(source="measured", program="p", machine="host", point=point, time_s=1.0))
    with pytest.raises(SystemExit) as ended:
        main(["predict", str(tmp_path / "some.sgstudy"), "--at", "n=1000"])
    assert ended.value.code
    assert "the measured runs do not record their sizes" in capsys.readouterr().err


def run(*words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*words])
    assert not ended.value.code
