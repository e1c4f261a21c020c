"""Measured runs predict larger ones: medians of repetitions, call paths, noise in the interval."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.cli.main import main
from scalegraph.predict.measured import MeasuredPredictor, measured_samples
from scalegraph.store import Study

SIZES = (100, 200, 300, 400, 500)


def truth(n: int) -> float:
    """A start of 2 ms and a cube."""
    return 2e-3 + 2e-9 * n**3


def runs(noise: Callable[[int], float], repetitions: int = 5) -> list[RunRecord]:
    return [
        RunRecord(
            source="measured", program="p", machine="host",
            point=RunPoint(processors=2, parameters={"n": n}, repetition=r), time_s=truth(n) * (1 + noise(r)),
        )
        for n in SIZES
        for r in range(repetitions)
    ]  # fmt: skip


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


def run(*words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*words])
    assert not ended.value.code
