"""Sizes along a line: rounding, limits, and from parameters back to the knob."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.base.expression import parse
from scalegraph.request.model.family import Family
from scalegraph.request.model.programs import Parameter

N = frozenset({"N"})
BALLS = Family(
    {"balls": 5000, "steps": 1000, "mode": "fast"},
    {"balls": parse("N", N), "steps": parse("N", N)},
    {"balls": Parameter(name="balls", title="balls", default=5000, minimum=2, maximum=10**6)},
    parse("balls * steps", frozenset({"balls", "steps"})),
    parse("960 * balls", frozenset({"balls", "steps"})),
)


def test_both_parameters_grow_in_their_ratio_and_the_rest_stays() -> None:
    assert BALLS.at(8) == {"balls": 40000, "steps": 8000, "mode": "fast"}
    assert BALLS.at(1) == dict(BALLS.base)


def test_values_stay_within_their_limits() -> None:
    assert BALLS.at(1e-30)["balls"] == 2
    assert BALLS.at(1e30)["balls"] == 10**6
    assert BALLS.at(BALLS.lowest) == {"balls": 5, "steps": 1, "mode": "fast"}
    assert math.isclose(BALLS.highest, 200)


@pytest.mark.parametrize("processors", [1, 4, 32])
def test_the_memory_bound_gives_the_papers_formula(processors: int) -> None:
    bound = 960 * 300  # num_balls = N B/C, scale-graph.txt eq. 14
    assert BALLS.at(BALLS.knob_for_memory(bound * processors))["balls"] == 300 * processors


@pytest.mark.slow
@settings(deadline=None)
@given(st.floats(1e-3, 190))
def test_parameters_lead_back_to_their_knob(knob: float) -> None:
    size = BALLS.at(knob)
    back = BALLS.knob_of(size)
    assert back is not None
    assert BALLS.at(back) == size


def test_parameters_off_the_line_have_no_knob() -> None:
    assert BALLS.knob_of({"balls": 5000, "steps": 999, "mode": "fast"}) is None
    assert BALLS.knob_of({"balls": 5000, "steps": 1000, "mode": "slow"}) is None
    assert BALLS.knob_of({"balls": 5000}) is None


@pytest.mark.slow
@settings(deadline=None)
@given(st.floats(1e-2, 1e4))
def test_work_leads_back_to_its_knob(factor: float) -> None:
    work = BALLS.work(1) * factor
    assert math.isclose(BALLS.work(BALLS.knob_for_work(work)), work, rel_tol=1e-6)


def test_growth_with_steps_and_logarithms_is_followed() -> None:
    family = Family({"n": 10}, {"n": parse("N * log2(2 * N)", N)})
    assert family.at(4) == {"n": 120}
    assert family.at(family.lowest)["n"] >= 1
