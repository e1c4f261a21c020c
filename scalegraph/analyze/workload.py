"""W of a problem: counted operations, floating-point operations only, or a formula of its parameters.

Comparing with published figures needs the same W: the authors of the isospeed metric count the floating-point
operations of the sequential algorithm (isospeed.txt II.B), usually by a formula such as 2 n^3/3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scalegraph.base import expression
from scalegraph.base.errors import Fault, InputError

if TYPE_CHECKING:
    import pandas as pd

    from scalegraph.analyze.table import Floats

OPERATIONS: Final = "operations"
FLOPS: Final = "flops"
NAMES: Final = ("", OPERATIONS, FLOPS)


def fault(text: str, parameters: frozenset[str]) -> str:
    """Return what is wrong with *text* as a definition of W over numeric *parameters*; empty if nothing.

    Source: ScaleGraph.
    """
    if text in NAMES:
        return ""
    if not parameters:
        return f"'{text}': a formula of W needs parameters, and there are none; {FLOPS} or {OPERATIONS} was expected"
    try:
        expression.parse(text, parameters)
    except ValueError as error:
        return str(error)
    return ""


def words(text: str, unit: str) -> str:
    """Return a description of W; *unit* is that of the column ``work``.

    Source: ScaleGraph.
    """
    if text not in NAMES:
        return f"W = {text}"
    return {
        "op": "W are all operations of the run on one processor",
        "flop": "W are the floating-point operations of the run on one processor",
        "s": "W is the time on one processor, as no operations were counted",
    }.get(unit, f"W is counted in {unit}")


def by_formula(runs: pd.DataFrame, text: str) -> Floats:
    """Return W of every run by a formula of its parameters; NaN where its value is not positive.

    *runs* has parameters as columns ``param.*``.

    Shape: (runs,). Unit: operations, of whatever kind the formula counts. Source: isospeed.txt II.B.

    Raises: InputError: the formula is invalid, or uses a name that is not a numeric parameter of the runs.

    """
    import numpy as np  # imported here because requests that only check formulas run without this library

    from scalegraph.analyze.table import PARAMETER, numbers, parameter_columns

    columns = {name.removeprefix(PARAMETER): numbers(runs, name) for name in parameter_columns(runs)}
    known = {name: values for name, values in columns.items() if np.isfinite(values).any()}
    wrong = fault(text, frozenset(known))
    if wrong:
        raise InputError(Fault(wrong, key="work"))
    formula = expression.parse(text, frozenset(known))
    return np.array([_value(formula, {name: float(known[name][row]) for name in known}) for row in range(len(runs))])


def _value(formula: expression.Expression, values: dict[str, float]) -> float:
    try:
        found = formula(values)
    except ValueError:
        return float("nan")
    return found if found > 0 else float("nan")
