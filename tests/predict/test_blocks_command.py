"""``scalegraph predict --blocks``: data-parallel programs on the paper's machine, at small sizes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph.cli.main import main
from scalegraph.store import Study

pytestmark = pytest.mark.slow


def run(*words: str) -> int:
    try:
        main([*words])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.mark.compiler
def test_gauss_elimination_is_predicted_by_its_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "ge.sgstudy"
    words = ["predict", "ge-dp", "--blocks", "ge-dp", "--machine", "cm5", "-p", "4", "--samples", "n=16,40"]
    assert run(*words, "--at", "n=32,96", "--verify", "-o", str(study), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["samples"]) == 2
    inside, beyond = document["predictions"]
    assert inside["error"] < 0.02
    assert beyond["error"] < 0.05
    samples = sum(one["time_s"] for one in document["samples"])
    ratio = beyond["actual_s"] / (samples + beyond["estimate_s"])
    assert beyond["prediction_ratio"] == pytest.approx(ratio)
    parts = sum(one["time_s"] for one in beyond["regions"]) + beyond["events_s"]
    assert parts == pytest.approx(beyond["time_s"])
    with Study.open(study) as kept:
        assert sorted(one.point.parameters["n"] for one in kept.runs()) == [16, 32, 40, 96]


@pytest.mark.compiler
def test_what_every_process_does_for_all_others_is_no_element(capsys: pytest.CaptureFixture[str]) -> None:
    """On 32 processors, finding everyone's columns is most of the work in the first rows of a small matrix."""
    words = ["predict", "ge-dp", "--blocks", "ge-dp", "--machine", "cm5", "-p", "1,32", "--samples", "n=16,40"]
    assert run(*words, "--at", "n=200", "--at-processors", "32", "--verify", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["predictions"]
    assert found["error"] < 0.02  # 4 % if everything is proportional to the elements
    assert found["low_s"] <= found["actual_s"] <= found["high_s"]


@pytest.mark.compiler
def test_scattering_is_predicted_by_the_sizes_of_its_data(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", "em", "--blocks", "em", "--machine", "cm5", "-p", "1,2,4,8,16,32"]
    words += ["--samples", "i=5;j=5;m=20;n=20", "--at", "i=10;j=10;m=64;n=64", "--at-processors", "24"]
    assert run(*words, "--verify", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["predictions"]
    assert found["error"] < 0.15
    assert found["regions"][0]["name"] == "data of size m * n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x.sgstudy", "--blocks", "em"], "needs a program"),
        (["em", "--blocks", "em", "--graph", "g.toml", "--samples", "m=1"], "has no thread graph"),
        (
            ["em", "--blocks", "emm", "--samples", "m=1", "-p", "2"],
            "one of the shipped programs with blocks: em, ge-dp",
        ),
        (["em", "--blocks", "ge-dp", "--samples", "m=1", "-p", "2"], "the parameters n were expected"),
    ],
)
def test_what_does_not_fit_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("predict", *words, "--at", "m=2") == 2
    assert said in " ".join(capsys.readouterr().err.split())
