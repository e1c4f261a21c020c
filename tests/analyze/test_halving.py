"""Successive halving finds the best point of a space, and reports what it left out."""

import importlib.util
import itertools
import math
import sys
from pathlib import Path

import pytest

from scalegraph.analyze.choosing import halving
from scalegraph.analyze.choosing.halving import Place

_SPEC = importlib.util.spec_from_file_location("choosing", Path(__file__).parents[2] / "benchmarks/search/choosing.py")
assert _SPEC is not None
assert _SPEC.loader is not None
choosing = importlib.util.module_from_spec(_SPEC)
sys.modules["choosing"] = choosing
_SPEC.loader.exec_module(choosing)


def test_the_first_places_are_spread_over_every_word_and_count() -> None:
    places = [Place((a, b), n) for a, b, n in itertools.product("xy", "uvw", (2, 8, 32))]
    chosen = [places[at] for at in halving.first(places, 6)]
    assert {one.words[0] for one in chosen} == {"x", "y"}
    assert {one.words[1] for one in chosen} == {"u", "v", "w"}
    assert len({one.processors for one in chosen}) >= 2
    assert len(halving.first(places, 99)) == len(places)


def test_the_model_passes_through_what_is_known_and_is_less_sure_elsewhere() -> None:
    places = [Place((a,), n) for a in "xy" for n in (2, 4, 8, 16)]
    known = {0: 8.0, 1: 4.2, 3: 1.3, 4: 4.1}
    model = halving.fit(places, known)
    for at, time in known.items():
        assert math.exp(model.mean[at]) == pytest.approx(time, rel=0.02)
    assert max(model.deviation[at] for at in known) < min(model.deviation[at] for at in (5, 6, 7))


def test_rounds_keep_the_bound_and_never_name_a_place_twice() -> None:
    places = [Place((a,), n) for a in "xyz" for n in (2, 4, 8, 16)]
    known = {at: 10.0 / places[at].processors for at in halving.first(places, 4)}
    chosen = halving.following(places, known, [at for at in range(12) if at not in known][:2], 5, 3)
    assert len(chosen) == 3
    assert not {*chosen} & {*known}
    assert halving.following(places, known, [], 0, 3) == []


@pytest.mark.parametrize("seed", [3, 8])
def test_a_fifth_of_the_runs_finds_a_point_within_5_percent(seed: int) -> None:
    ratio, runs = choosing.searched(choosing.space(seed), choosing.RUNS)
    assert (runs, ratio <= 1.05) == (40, True)


def test_what_was_left_out_has_a_chance() -> None:
    places = [Place((a,), n) for a in "xy" for n in (2, 4, 8)]
    found = halving.left_out(places, {0: 4.0, 1: 2.0, 3: 8.0})
    assert (found.count, found.likeliest) == (3, None)
    assert math.isnan(found.risk)  # three runs are too few to judge the model's error
    found = halving.left_out(places, {0: 4.0, 1: 2.0, 3: 8.0, 4: 4.0})
    assert (found.count, found.likeliest) == (2, 2)
    assert found.risk >= found.chance > 0.5
    assert halving.left_out(places, dict.fromkeys(range(6), 1.0)).count == 0


@pytest.mark.slow
def test_the_risk_is_not_below_what_comes_true() -> None:
    """Twelve runs of 200 points sometimes leave out better ones; forty hardly ever."""
    risks, true = {12: [], 40: []}, {12: 0, 40: 0}
    for runs, seed in itertools.product((12, 40), range(1, 5)):
        times = choosing.space(seed)
        places, known = choosing.runs_of(times, runs)
        risks[runs].append(halving.left_out(places, known).risk)
        best = min(known.values())
        true[runs] += any(times[place] < 0.95 * best for at, place in enumerate(places) if at not in known)
    for runs, found in risks.items():
        assert sum(found) >= true[runs]
    assert sum(risks[40]) < 0.5 < sum(risks[12])


def test_a_model_that_errs_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the model is ten times as certain as its errors allow, its uncertainty is scaled up by ten."""
    places = [Place((a,), n) for a in "xyz" for n in (2, 4, 8, 16, 32)]
    known = {at: (1 + at % 3) * 10.0 / place.processors for at, place in enumerate(places)}
    fair = halving.surprise(places, known)
    whole = halving.fit

    def sure(some: list[Place], others: dict[int, float]) -> halving.Model:
        model = whole(some, others)
        return halving.Model(model.mean, model.deviation / 10)

    monkeypatch.setattr(halving, "fit", sure)
    assert halving.surprise(places, known) == pytest.approx(10 * fair, rel=0.3)
