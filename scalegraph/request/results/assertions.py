"""Assertions about a study, such as ``E(64) > 0.7``, for continuous integration.

The text is parsed by Python's own parser; only the following is allowed. A statement compares formulas of

    E(N) S(N) T(N) L(N)     efficiency, speedup, T_para and average latency (s) on N processors
    value("column", N)      any column of `scalegraph analyze --what scaling`
    psi(N, N2)              isospeed scalability, scale(N, N2) scalability by average latency at the study's efficiency
    pop("factor", N)        a POP efficiency: load_balance, serialisation, transfer, computation, ..

Problem parameters are keywords: ``E(64, n=1e6)``; the default is the fixed size that ran on most processor counts.
``scale(2, 8, E=0.5)`` holds another efficiency.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd

from scalegraph.analyze import estimates, pop
from scalegraph.analyze.series import main_series
from scalegraph.analyze.table import PARAMETER, numbers
from scalegraph.base import expression
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.units import assigned, significant
from scalegraph.subjects import matrices
from scalegraph.subjects.pop_efficiencies import efficiencies
from scalegraph.subjects.study import StudyData

_LONGEST = 400
_COMPARE: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_COLUMNS = {"E": "efficiency", "S": "speedup", "T": "time_s", "L": "latency_s"}
_FUNCTIONS = (*_COLUMNS, "value", "psi", "scale", "pop", "min", "max")


@dataclass(frozen=True)
class Outcome:
    """The result of one statement. *passed* is ``None`` if it is undecided; *said* gives the value or the reason."""

    statement: str
    passed: bool | None
    said: str

    @property
    def word(self) -> str:
        """``passed``, ``failed`` or ``undecided``."""
        return {True: "passed", False: "failed", None: "undecided"}[self.passed]


class _Undecided(Exception):  # noqa: N818 - not a fault of the statement
    """Something that the statement needs is unknown."""


def check(data: StudyData, statements: Sequence[str]) -> list[Outcome]:
    """Return the outcome of each of *statements* on the study.

    Raises:
        InputError: every invalid statement, with what was expected.

    """
    trees = parse(statements)
    return [_decide(data, text, tree) for text, tree in zip(statements, trees, strict=True)]


def parse(statements: Sequence[str]) -> list[ast.expr]:
    """Return the syntax trees of *statements*, checked; nothing is computed. Raises `InputError` with every fault."""
    trees: list[ast.expr] = []
    faults: list[Fault] = []
    for text in statements:
        try:
            trees.append(_parsed(text))
        except ValueError as error:
            faults.append(Fault(f"'{text}': {error}", key="--assert"))
    if faults:
        raise InputError(faults)
    return trees


def _parsed(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise ValueError(f"a statement of at most {_LONGEST} characters was expected")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("is not a statement; something like 'E(64) > 0.7' was expected") from None
    _check_statement(tree)
    return tree


def _check_statement(node: ast.expr) -> None:
    match node:
        case ast.BoolOp(values=values):
            for value in values:
                _check_statement(value)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            _check_statement(inner)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARE for op in ops):
            for formula in (left, *others):
                _check_formula(formula)
        case _:
            raise ValueError("compares nothing; something like 'E(64) > 0.7' was expected")


def _check_formula(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in expression.BINARY:
            _check_formula(left)
            _check_formula(right)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
            _check_formula(inner)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            _check_call(name, args, keywords)
        case _:
            raise ValueError(f"may hold numbers, + - * / ** and {', '.join(_FUNCTIONS)} only")


def _check_call(name: str, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> None:
    if name not in _FUNCTIONS:
        raise ValueError(f"no quantity '{name}'{near(name, _FUNCTIONS) or '; known: ' + ', '.join(_FUNCTIONS)}")
    if name in ("min", "max"):
        if len(args) < 2 or keywords:
            raise ValueError(f"{name} compares two or more formulas")
        for formula in args:
            _check_formula(formula)
        return
    named = name in ("value", "pop")
    wanted = 2 if name in ("value", "psi", "scale", "pop") else 1
    if len(args) != wanted:
        example = {"value": 'value("misses", 8)', "pop": 'pop("load_balance", 8)'}.get(name, f"{name}(2, 8)")
        raise ValueError(f"{name} takes {wanted} values, as in {example if wanted == 2 else f'{name}(64)'}")
    for position, argument in enumerate(args):
        text = named and position == 0
        good = isinstance(argument, ast.Constant) and isinstance(argument.value, str if text else int)
        if not good or isinstance(getattr(argument, "value", None), bool):
            raise ValueError(f"{name}: {'a name in quotes' if text else 'a number of processors'} was expected")
    for keyword in keywords:
        if keyword.arg is None or not isinstance(keyword.value, ast.Constant):
            raise ValueError(f"{name}: parameters were expected as name=value")


def _decide(data: StudyData, text: str, tree: ast.expr) -> Outcome:
    found = _Found()
    try:
        passed = _holds(tree, data, found)
        doubtful = any(
            _holds(tree, data, _Found(moved={name: end})) != passed for name, ends in found.ends.items() for end in ends
        )
    except _Undecided as reason:
        return Outcome(text, None, str(reason))
    except (ZeroDivisionError, OverflowError):
        return Outcome(text, None, "has no finite value")
    doubt = "; within the interval of the estimate, so exact runs may decide otherwise" if doubtful else ""
    return Outcome(text, passed, ", ".join(map(found.words, found.values)) + doubt)


@dataclass
class _Found:
    """The quantities of a statement by their text: *values*, *ends* of the 95 % intervals of estimates.

    *moved*: values to use instead.
    """

    values: dict[str, float] = field(default_factory=dict)
    ends: dict[str, tuple[float, float]] = field(default_factory=dict)
    moved: dict[str, float] = field(default_factory=dict)

    def words(self, name: str) -> str:
        """Return a quantity and its interval."""
        said = f"{name} = {significant(self.values[name], 4)}"
        if name not in self.ends:
            return said
        low, high = self.ends[name]
        return f"{said} ({significant(low, 4)} to {significant(high, 4)}, 95 %)"


def _holds(node: ast.expr, data: StudyData, found: _Found) -> bool:
    match node:
        case ast.BoolOp(op=op, values=parts):
            held = [_holds(part, data, found) for part in parts]  # evaluates all parts, so that each reports its values
            return all(held) if isinstance(op, ast.And) else any(held)
        case ast.UnaryOp(operand=inner):
            return not _holds(inner, data, found)
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [_number(formula, data, found) for formula in (left, *others)]
            pairs = zip(values, values[1:], ops, strict=False)
            return all(_COMPARE[type(sign)](low, high) for low, high, sign in pairs)
    raise AssertionError(f"unchecked node {node!r}")


def _number(node: ast.expr, data: StudyData, found: _Found) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.BinOp(left=left, op=op, right=right):
            return expression.BINARY[type(op)](_number(left, data, found), _number(right, data, found))
        case ast.UnaryOp(op=op, operand=inner):
            value = _number(inner, data, found)
            return -value if isinstance(op, ast.USub) else value
        case ast.Call(func=ast.Name(id=name), args=args) if name in ("min", "max"):
            values = [_number(formula, data, found) for formula in args]
            return min(values) if name == "min" else max(values)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            given = [argument.value for argument in args if isinstance(argument, ast.Constant)]
            named = {word.arg or "": word.value.value for word in keywords if isinstance(word.value, ast.Constant)}
            text = ast.unparse(node)
            if text in found.moved:
                return found.moved[text]
            value, ends = _quantity(data, name, given, named)
            found.values[text] = value
            if ends is not None:
                found.ends[text] = ends
            return value
    raise AssertionError(f"unchecked node {node!r}")


def _quantity(
    data: StudyData, name: str, given: Sequence[object], named: Mapping[str, object]
) -> tuple[float, tuple[float, float] | None]:
    """Return the value of a quantity and its 95 % interval, None if it is exact or its interval is not known."""
    if name in ("psi", "scale"):
        return _cell(data, name, int(str(given[0])), int(str(given[1])), named), None
    if name == "pop":
        factor, count = str(given[0]), int(str(given[1]))
        if factor not in pop.NAMES:
            raise _Undecided(f"no POP efficiency '{factor}'{near(factor, pop.NAMES)}")
        row = _row(data, count, named)
        table = efficiencies(data, data.scaling.loc[data.scaling["problem"] == row["problem"]])
        found = table.loc[table["processors"] == count, factor]
        return _finite(float(found.iloc[0]), f"{factor} (POP)", count), None
    column = _COLUMNS.get(name) or str(given[0])
    row = _row(data, int(str(given[-1])), named)
    if column not in data.scaling.columns:
        raise _Undecided(f"the study has no column '{column}'{near(column, map(str, data.scaling.columns))}")
    here = data.scaling.loc[[row.name]]
    value = float(numbers(here, column)[0])
    if name == "L" and math.isnan(value):
        column, value = "latency_method1_s", float(row["latency_method1_s"])
    reach = float(estimates.half_width(here, column)[0])
    ends = (value - reach, value + reach) if reach > 0 else None
    return _finite(value, column, int(row["processors"])), ends


def _finite(value: float, what: str, count: int) -> float:
    if not math.isfinite(value):
        raise _Undecided(f"{what} on {count} processors is not known")
    return value


def _row(data: StudyData, count: int, parameters: Mapping[str, object]) -> pd.Series:
    """Return the row of `metrics.scaling` on *count* processors: these parameters, or the main fixed size."""
    rows = data.scaling
    for name, value in parameters.items():
        column = f"{PARAMETER}{name}"
        if column not in rows.columns:
            known = [str(text).removeprefix(PARAMETER) for text in rows.columns if str(text).startswith(PARAMETER)]
            raise _Undecided(f"the study has no parameter '{name}'{near(name, known)}")
        rows = rows[
            np.isclose(numbers(rows, column), value) if isinstance(value, int | float) else rows[column] == value
        ]
    if not parameters and (main := main_series(data.scaling)) is not None:
        rows = rows[rows["problem"] == main.rows["problem"].iloc[0]]
    there = sorted({int(n) for n in rows["processors"]}) if len(rows) else []
    rows = rows[rows["processors"] == count] if len(rows) else rows
    if rows.empty:
        run = f"; run were {', '.join(map(str, there))}" if there else ""
        size = f" with {assigned(parameters.items())}" if parameters else ""
        raise _Undecided(f"no run on {count} processors{size} ended well{run}")
    return rows.iloc[0]


def _cell(data: StudyData, name: str, low: int, high: int, named: Mapping[str, object]) -> float:
    unknown = set(named) - {"E"}
    if unknown:
        raise _Undecided(f"{name} takes E=.. only, got {', '.join(sorted(unknown))}")
    target = float(str(named["E"])) if "E" in named else None
    metric, bound = ("isospeed", "speed") if name == "psi" else ("latency", "efficiency")
    made = matrices.matrix(data, bound, metric=metric, target=target)  # type: ignore[arg-type]
    value = made.value(low, high) if made is not None else None
    if value is None:
        reason = (
            made.reasons.get((low, high), "these counts are not in the matrix") if made is not None else "no matrix"
        )
        raise _Undecided(f"{name}({low}, {high}) is not known: {reason}")
    return value


def junit(outcomes: Sequence[Outcome], suite: str) -> str:
    """Return *outcomes* as a JUnit XML document for continuous integration; undecided counts as an error."""
    failed = sum(outcome.passed is False for outcome in outcomes)
    undecided = sum(outcome.passed is None for outcome in outcomes)
    counts = {"tests": len(outcomes), "failures": failed, "errors": undecided}
    root = ET.Element("testsuites", {name: str(value) for name, value in counts.items()})
    group = ET.SubElement(root, "testsuite", {"name": suite, **{name: str(value) for name, value in counts.items()}})
    for outcome in outcomes:
        case = ET.SubElement(group, "testcase", {"classname": suite, "name": outcome.statement})
        if outcome.passed is not True:
            kind = "failure" if outcome.passed is False else "error"
            ET.SubElement(case, kind, {"message": outcome.said}).text = f"{outcome.statement}: {outcome.said}"
        else:
            ET.SubElement(case, "system-out").text = outcome.said
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
