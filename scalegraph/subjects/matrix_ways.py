"""Ways to psi at constant speed other than runs and models: a line of times over log2 N, Theorems 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scalegraph.analyze import overhead, speed_prediction, theorems
from scalegraph.analyze.matrix import Matrix
from scalegraph.analyze.overhead import Overhead, SequentialTime
from scalegraph.base import expression
from scalegraph.base.errors import Fault, InputError
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData

AT_SPEED: Final = ("log2", "theorem1", "theorem2")
_MESSAGES: Final = ("alpha", "beta")
_VARIABLES: Final = frozenset({"N", "W", *_MESSAGES})
_LONGEST_S: Final = 1e9

OVERHEAD: Final = Option(
    "overhead",
    "Overhead t_o",
    "text",
    unit="s",
    description="for the theorems: a formula of N, W (operations), alpha and beta, as in"
    " alpha + log2(N) * (alpha + 8 * beta); by default as measured",
)
ALPHA: Final = Option(
    "alpha",
    "alpha",
    "float",
    unit="s",
    description="start of a message, for the formula of the overhead",
    minimum=0,
    maximum=_LONGEST_S,
)
BETA: Final = Option(
    "beta",
    "beta",
    "float",
    unit="s/B",
    description="time of a byte, for the formula of the overhead",
    minimum=0,
    maximum=_LONGEST_S,
)
UP_TO: Final = Option(
    "up_to", "Fit up to N", "int", description="of the line over log2 N: counts above are predicted", minimum=1
)
OPTIONS: Final = (OVERHEAD, ALPHA, BETA, UP_TO)
_NAMES: Final = {"theorem1": "Theorem 1", "theorem2": "Theorem 2"}


def at_speed(data: StudyData, made: Matrix, way: str, given: Mapping[str, Any]) -> Matrix:
    """Return *made* as predicted by *way*, with the options *given* of `OPTIONS`.

    Raises `InputError` for an invalid formula of the overhead, or one whose alpha or beta is missing.
    """
    if way == "log2":
        return speed_prediction.over_log2(made, given.get("up_to"))
    one = overhead.sequential_time(data.one_program)
    return theorems.predicted(made, one, _overhead(data, one, way, given), _NAMES[way])


def _overhead(data: StudyData, one: SequentialTime | None, way: str, given: Mapping[str, Any]) -> Overhead | str:
    text = str(given.get("overhead") or "")
    known = {name: float(given[name]) for name in _MESSAGES if given.get(name) is not None}
    if text:
        return _formula(text, known, way)
    if known:
        raise InputError(
            Fault(
                f"is given, but no formula that uses it: overhead = {next(iter(known))} * log2(N), say",
                key=next(iter(known)),
            )
        )
    if one is None:
        return ""
    try:
        return overhead.measured(data.one_program, one, of_work=way == "theorem2")
    except ValueError as error:
        return str(error)


def _formula(text: str, known: Mapping[str, float], way: str) -> Overhead:
    try:
        formula = expression.parse(text, _VARIABLES)
    except ValueError as error:
        raise InputError(Fault(str(error), key="overhead")) from None
    missing = [name for name in _MESSAGES if name in formula.names and name not in known]
    if missing:
        raise InputError(Fault(f"'{text}' needs a value of {' and '.join(missing)}", key="overhead"))
    if way == "theorem1" and "W" in formula.names:
        raise InputError(
            Fault(
                f"'{text}' depends on W; Theorem 1 takes an overhead of N alone: theorem2 was expected", key="overhead"
            )
        )
    return overhead.by_formula(formula, text, {name: value for name, value in known.items() if name in formula.names})
