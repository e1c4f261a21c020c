"""Arithmetic formulas in user files: ``960 * num_balls``, ``N * log2(2 * N)``; nothing else is evaluated.

The text is parsed by Python's parser, every node of the tree is checked against a short list, and the tree is evaluated
by this module; names, attributes and calls outside that list are unreachable.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from scalegraph.base.errors import near
from scalegraph.base.units import assigned

_LONGEST = 400  # characters; a growth rule is short
_DEEPEST = 40

BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
FUNCTIONS: dict[str, tuple[int, Callable[..., float]]] = {
    "sqrt": (1, math.sqrt),
    "cbrt": (1, lambda x: math.copysign(abs(x) ** (1 / 3), x)),
    "log2": (1, math.log2),
    "log": (1, math.log),
    "ceil": (1, lambda x: float(math.ceil(x))),
    "floor": (1, lambda x: float(math.floor(x))),
    "min": (2, min),
    "max": (2, max),
}


@dataclass(frozen=True)
class Expression:
    """A validated formula. *names* are the variables it uses."""

    text: str
    names: frozenset[str]
    _tree: ast.expr

    def __call__(self, values: Mapping[str, float]) -> float:
        """Evaluate with *values* for the variables.

        Raises `ValueError` with a sentence if the result is not a finite number.
        """
        try:
            result = float(_value(self._tree, values))
        except ZeroDivisionError:
            raise ValueError(f"'{self.text}' divides by zero at {_said(values, self.names)}") from None
        except (ValueError, OverflowError):
            raise ValueError(f"'{self.text}' has no value at {_said(values, self.names)}") from None
        if not math.isfinite(result):
            raise ValueError(f"'{self.text}' has no finite value at {_said(values, self.names)}")
        return result


@lru_cache(maxsize=512)
def parse(text: str, variables: frozenset[str]) -> Expression:
    """Return the formula *text* over *variables*; raise `ValueError` saying what is not allowed."""
    if len(text) > _LONGEST:
        raise ValueError(f"a formula of at most {_LONGEST} characters was expected")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"'{text}' is not a formula; something like '{_example(variables)}' was expected") from None
    names: set[str] = set()
    _check(tree, text, variables, names, 0)
    return Expression(text, frozenset(names), tree)


def _example(variables: frozenset[str]) -> str:
    name = "N" if "N" in variables else min(variables, default="8")
    return f"2 * {name}"


def _check(node: ast.AST, text: str, variables: frozenset[str], names: set[str], depth: int) -> None:
    if depth > _DEEPEST:
        raise ValueError(f"'{text}' is nested too deeply")
    match node:
        case ast.Constant(value=bool()):
            raise ValueError(f"'{text}' may contain only numbers, + - * / ** and functions")
        case ast.Constant(value=int() | float()):
            children: list[ast.AST] = []
        case ast.Name(id=name):
            if name not in variables:
                known = f"; it may use {', '.join(sorted(variables))}" if variables else ""
                raise ValueError(f"'{text}' uses '{name}', which is not known here{near(name, variables) or known}")
            names.add(name)
            children = []
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            children = [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            children = [operand]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name not in FUNCTIONS:
                raise ValueError(f"'{text}' calls '{name}'; the available functions are {', '.join(sorted(FUNCTIONS))}")
            if len(args) != FUNCTIONS[name][0]:
                raise ValueError(f"'{text}': {name} takes {FUNCTIONS[name][0]} value(s), got {len(args)}")
            children = list(args)
        case _:
            raise ValueError(f"'{text}' may contain only numbers, + - * / ** and functions")
    for child in children:
        _check(child, text, variables, names, depth + 1)


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return float(values[name])
        case ast.BinOp(left=left, op=op, right=right):
            return BINARY[type(op)](_value(left, values), _value(right, values))
        case ast.UnaryOp(op=op, operand=operand):
            inner = _value(operand, values)
            return -inner if isinstance(op, ast.USub) else inner
        case ast.Call(func=ast.Name(id=name), args=args):
            return FUNCTIONS[name][1](*(_value(arg, values) for arg in args))
    raise AssertionError(f"unchecked node {node!r}")


def _said(values: Mapping[str, float], names: frozenset[str]) -> str:
    return assigned((name, values[name]) for name in sorted(names)) or "no variables"
