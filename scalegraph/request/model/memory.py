"""The memory for a program's data, by the formula in its program file."""

from __future__ import annotations

from collections.abc import Mapping

from scalegraph.base import expression
from scalegraph.base.run import Value


def memory_bytes(formula: str, parameters: Mapping[str, Value]) -> float | None:
    """Return the bytes of a run; None, not an error, for a formula from a file that cannot be evaluated."""
    numbers = {name: float(value) for name, value in parameters.items() if not isinstance(value, str)}
    try:
        return expression.parse(formula, frozenset(numbers))(numbers)
    except ValueError:
        return None
