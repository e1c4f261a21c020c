"""The sample that narrows a prediction most: hand-made fits with a known best sample, and a real program."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scalegraph.cli.main import run
from scalegraph.predict.doubts import Doubt
from scalegraph.predict.lower import Growth, SegmentTime, fit_times
from scalegraph.predict.next_sample import NextSample, document, next_samples, sample_sizes, widest
from scalegraph.predict.predicting import Predicted

Size = Mapping[str, int]


def power(name: str, exponent: int) -> Growth:
    return Growth(f"{name} ** {exponent}", lambda values, n: float(values[name] ** exponent))


def fitted(terms: Sequence[Growth], samples: Sequence[Size], times: Sequence[float]) -> SegmentTime:
    return fit_times(terms, [(values, 4) for values in samples], times)


@dataclass
class Fits:
    """A predictor with fits for regions by name, sampled on N = 4; *fixed_s* is the other uncertainty on each side."""

    known: dict[str, SegmentTime]
    fixed_s: float = 0.0
    sampled: list[int] = field(default_factory=lambda: [4])

    def used(self, processors: int) -> list[int]:
        return self.sampled

    def doubts(self, values: Size, processors: int) -> list[list[Doubt]]:
        return [[Doubt(name, fit)] for name, fit in self.known.items()]

    def at(self, values: Size, processors: int) -> Predicted:
        every = [fit.at(values, processors) for fit in self.known.values()]
        time = sum(one.time_s for one in every)
        low = math.hypot(*(one.time_s - one.low_s for one in every)) + self.fixed_s
        high = math.hypot(*(one.high_s - one.time_s for one in every)) + self.fixed_s
        wide = 1.0 if processors in self.sampled else 3.0
        return Predicted(processors, values, time, time - wide * low, time + wide * high)


BOTH = [{"m": size, "n": size} for size in (8, 16, 24)]


def noisy(exponent: int) -> list[float]:
    return [one["m"] ** exponent * (1 + error) for one, error in zip(BOTH, (0.02, -0.02, 0.01), strict=True)]


@pytest.mark.slow
def test_only_the_parameter_that_the_uncertain_region_depends_on_is_worth_a_sample() -> None:
    """Stalls that depend on m are noisy, what depends on n is exact: a run with more n costs more and adds nothing."""
    stalls = fitted([power("m", 3), power("m", 1)], BOTH, noisy(3))
    exact = fitted([power("n", 2)], BOTH, [2.0 * one["n"] ** 2 for one in BOTH])
    fits = Fits({"stalls": stalls, "exact": exact})
    target = {"m": 120, "n": 120}
    found = next_samples(fits, BOTH, target, 4, most=0.5)
    assert found[0].part == "stalls"
    assert found[0].sample["n"] == 24
    assert found[0].sample["m"] == max(entry.sample["m"] for entry in found if entry.sample["n"] == 24)
    narrowed = found[0].now - found[0].then
    assert all(entry.now - entry.then < 0.5 * narrowed for entry in found if entry.sample["m"] == 24)
    assert all(entry.then < entry.now for entry in found)
    # runs that are off as much as the others leave the expected interval
    entry, left = found[0], []
    for error in (0.02, -0.02):
        more = stalls.with_sample((entry.sample, 4), entry.sample["m"] ** 3 * (1 + error))
        after = Fits({"stalls": more, "exact": exact}).at(target, 4)
        left.append(0.5 * (after.high_s - after.low_s) / after.time_s)
    assert sum(left) / 2 == pytest.approx(entry.then, rel=0.34)


def test_a_sample_separates_what_grew_alike_in_all_others() -> None:
    """With m = n in all samples m^2 and n^2 fit equally well; only a run with m different from n tells them apart."""
    alike = fitted([power("m", 2), power("n", 2)], BOTH, [float(one["m"] ** 2) for one in BOTH])
    target = {"m": 80, "n": 24}
    doubt = Doubt("sweep", alike)
    assert sum(doubt.sides(target, 4)) == pytest.approx(80**2 - 24**2, rel=0.01)
    assert sum(doubt.expected(target, 4, {"m": 32, "n": 32})) == pytest.approx(80**2 - 24**2, rel=0.01)
    assert sum(doubt.expected(target, 4, {"m": 32, "n": 24})) == pytest.approx(0.0, abs=1.0)
    found = next_samples(Fits({"sweep": alike}), BOTH, target, 4, most=1.0)
    assert found[0].sample["m"] != found[0].sample["n"]
    assert found[0].then < 0.01 * found[0].now


@pytest.mark.slow
def test_of_two_regions_the_one_with_most_of_the_interval_is_named() -> None:
    large, small = noisy(3), [0.001 * time for time in noisy(3)]
    terms = [power("m", 3), power("m", 1)]
    fits = Fits({"small": fitted(terms, BOTH, small), "large": fitted(terms, BOTH, large)})
    assert next_samples(fits, BOTH, {"m": 96, "n": 96}, 4)[0].part == "large"


@pytest.mark.slow
def test_no_run_longer_than_allowed_is_advised() -> None:
    fits = Fits({"stalls": fitted([power("m", 3), power("m", 1)], BOTH, noisy(3))})
    target = {"m": 120, "n": 120}
    for most in (0.05, 0.3):
        found = next_samples(fits, BOTH, target, 4, most=most)
        assert found
        assert all(entry.cost_s <= most * fits.at(target, 4).time_s for entry in found)
    assert next_samples(fits, BOTH, target, 4, most=0.001) == []


@pytest.mark.slow
def test_what_no_fit_accounts_for_stays() -> None:
    stalls = fitted([power("m", 3), power("m", 1)], BOTH, noisy(3))
    target = {"m": 80, "n": 80}
    without = next_samples(Fits({"stalls": stalls}), BOTH, target, 4)[0]
    fixed = next_samples(Fits({"stalls": stalls}, fixed_s=1e4), BOTH, target, 4)[0]
    time = Fits({"stalls": stalls}).at(target, 4).time_s
    assert fixed.now - without.now == pytest.approx(1e4 / time)
    assert fixed.then - without.then == pytest.approx(1e4 / time)
    exact = fitted([power("m", 3)], BOTH, [float(one["m"] ** 3) for one in BOTH])
    assert next_samples(Fits({"exact": exact}, fixed_s=1e4), BOTH, target, 4) == []


def test_where_no_sample_is_on_that_n_the_largest_sample_is_advised_there() -> None:
    fits = Fits({"stalls": fitted([power("m", 3), power("m", 1)], BOTH, noisy(3))})
    (found,) = next_samples(fits, BOTH, {"m": 80, "n": 80}, 8)
    assert (found.processors, found.sample) == (8, BOTH[-1])
    assert found.then == pytest.approx(found.now / 3)


def test_sizes_lie_between_the_samples_and_the_target_with_its_remainder() -> None:
    samples = [{"n": 16, "steps": 5}, {"n": 32, "steps": 5}]
    found = sample_sizes(samples, {"n": 260, "steps": 5}, 8)
    assert all(one["n"] % 8 == 4 and one["steps"] == 5 for one in found)
    assert found == sorted(found, key=lambda one: one["n"])
    assert 16 < found[0]["n"] < found[-1]["n"] < 260
    assert sample_sizes(samples[:1], samples[0], 8) == []


def test_the_widest_prediction_and_the_document() -> None:
    points = [Predicted(4, {"n": n}, 1.0, 1.0 - part, 1.0 + part) for n, part in ((1, 0.1), (2, 0.3), (3, 0.2))]
    assert widest(points) == points[1]
    assert widest([]) is None
    assert document(None) is None
    entry = NextSample(4, {"n": 9}, {"n": 5}, 0.25, 0.2, 0.05, "loop a:3")
    assert entry.sentence == (
        "next sample: N = 4, n = 5 takes 250 ms and narrows the prediction for N = 4, n = 9 from ±20 % to ±5.0 %, "
        "most of it in loop a:3"
    )
    made = document(entry)
    assert made is not None
    assert made["target"] == {"processors": 4, "parameters": {"n": 9}}
    assert (made["parameters"], made["cost_s"], made["half_width_then"]) == ({"n": 5}, 0.25, 0.05)


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """Return the output of a command."""
    assert run([str(word) for word in words]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.compiler
def test_a_predicted_study_and_the_command_advise_the_same_sample(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    study = tmp_path / "ge.sgstudy"
    words = ["predict", "ge1", "--machine", "ksr1", "-p", "4", "--at", "n=200", "--json", "--samples"]
    made = json.loads(answer(capsys, *words, "n=24,48", "-o", study))["next_sample"]
    size = made["parameters"]["n"]
    assert 24 < size < 200
    assert json.loads(answer(capsys, "advise", study, "--json"))["next_sample"] == made
    assert answer(capsys, "advise", study).startswith(f"next sample: N = 4, n = {size} takes")
    # the suggested run narrows the interval
    (point,) = json.loads(answer(capsys, *words, f"n=24,48,{size}"))["predictions"]
    half = 0.5 * (point["high_s"] - point["low_s"]) / point["time_s"]
    assert made["half_width_then"] < made["half_width"]
    assert half < made["half_width"]
