"""Calls of the mathematics library on a machine with a pipeline: their operations and dependences."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from scalegraph import machine
from scalegraph.instrument import pipeline
from scalegraph.instrument.mathlib import MATH_COSTS, MATH_IN_TURN, MOVES
from scalegraph.instrument.pipeline import Step
from scalegraph.instrument.steps import _ARGUMENT, _INTO, _mathematics, slots_of
from scalegraph.runtime.format import OP_CLASS_NAMES

PROCESSOR = machine.load("server-2x32").processor
FLOATING = ("fp_add", "fp_mul", "fp_fma", "fp_div", "fp_sqrt", "fp_other")
NAMES = ("exp", "log", "pow", "hypot", "sin", "atan2", "cbrtf", "tanh", "erf")


def count(name: str, kind: str) -> int:
    return int(MATH_COSTS[name][OP_CLASS_NAMES.index(kind)])


@pytest.mark.parametrize("name", NAMES)
def test_all_operations_of_a_call_are_executed_once(name: str) -> None:
    found = [kind for step in _mathematics(name) for kind in step.work]
    assert {kind: found.count(kind) for kind in OP_CLASS_NAMES} == {kind: count(name, kind) for kind in OP_CLASS_NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_call_that_waits_for_the_one_before_takes_its_latency(name: str) -> None:
    whole = sum(count(name, kind) * float(getattr(PROCESSOR.pipeline, kind)) for kind in FLOATING)
    (cycles,) = pipeline.times([[_ARGUMENT, *_mathematics(name)]], PROCESSOR)
    longest = max(float(getattr(PROCESSOR.pipeline, kind)) for kind in FLOATING if count(name, kind))
    assert cycles == pytest.approx(MATH_IN_TURN[name][0] * whole, abs=longest)


def test_calls_that_do_not_wait_overlap_as_far_as_the_window_reaches() -> None:
    new_argument = Step(1.0, (), (), ("v0",))
    (together,) = pipeline.times([[new_argument, _ARGUMENT, *_mathematics("exp")]], PROCESSOR)
    (in_turn,) = pipeline.times([[_ARGUMENT, *_mathematics("exp")]], PROCESSOR)
    slots = float(MATH_COSTS["exp"][:-1].sum()) / PROCESSOR.issue_width
    assert slots <= together < in_turn / 2


def test_operations_beside_the_chain_wait_for_it_as_far_as_it_has_come() -> None:
    # pow's operations begin in the order of its code, as the data flow of glibc's code shows
    new_argument = Step(1.0, (), (), ("v0",))
    waiting = [step for step in _mathematics("pow") if any(kind.startswith("fp_") for kind in step.work)]
    assert all(step.reads == ("chain",) for step in waiting)
    pipe = PROCESSOR.pipeline.model_copy(update={"fp_scheduler": 30, "window": 2000, "scheduler": 2000})
    small = PROCESSOR.model_copy(update={"pipeline": pipe})
    large = PROCESSOR.model_copy(update={"pipeline": pipe.model_copy(update={"fp_scheduler": 2000})})
    taken = [pipeline.times([[new_argument, _ARGUMENT, *_mathematics("pow")]], one)[0] for one in (small, large)]
    assert taken[0] > 1.2 * taken[1]


def test_the_slots_of_a_call_are_those_of_its_line() -> None:
    plain, called = Step(1.0, (), (), ()), [_ARGUMENT, Step(1.0, (), (), ()), _INTO, *_mathematics("exp")]
    instructions = [SimpleNamespace(callee=name) for name in ("", "exp", "")]
    found = slots_of(instructions, [plain, *called, plain])  # type: ignore[arg-type]
    assert found == [1.0, pytest.approx(2 + MOVES["exp"] + float(MATH_COSTS["exp"][:-1].sum()), abs=1), 1.0]
