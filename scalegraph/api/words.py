"""Messages of the command line reworded for keyword arguments, and keyword arguments converted for `request`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from scalegraph.base import toml
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.measurements.mapping import Question, Unanswered
from scalegraph.measurements.table import TableChoices
from scalegraph.request.model.request import Request, TraceChoice
from scalegraph.subjects import matrices
from scalegraph.subjects.option import OptionValue

_TARGETS = (matrices.EFFICIENCY, matrices.TIME, matrices.MEMORY, matrices.SPEED)
_KEYWORDS = {"extent": "values"}  # parameters whose names differ from the field they answer


@contextmanager
def keywords(*, in_memory: bool = False) -> Iterator[None]:
    """Name keyword arguments instead of command line options in messages; *in_memory*: those of `frame`."""
    try:
        yield
    except Unanswered as error:
        asked = [
            replace(question, switch=_keyword(question, in_memory=in_memory), said=_answer(question))
            for question in error.questions
        ]
        raise Unanswered(asked, error.faults[0].file if error.faults else "") from None
    except InputError as error:
        faults = [replace(one, key=plain(one.key), message=plain(one.message)) for one in error.faults]
        raise InputError(faults) from None


def _keyword(question: Question, *, in_memory: bool) -> str:
    """Return the Python argument that answers *question*."""
    key, _, column = question.key.partition(".")
    known = " or ".join(repr(choice) for choice in question.choices[:2]) or ".."
    if key == "columns":
        title, role = (column, known) if column else ((question.choices or ("NAME",))[0], "'metric'")
        answer = f"{{{title!r}: {role}}}"
        return f"columns={answer}" if in_memory else f"table={{'columns': {answer}}}"
    if key in TableChoices.model_fields and not in_memory:
        return f"table={{{key!r}: {known}}}"
    return f"{_KEYWORDS.get(key, key)}={known}"


def _answer(question: Question) -> str:
    """Return the keyword that takes the guess of *question*, empty where it is one of several about the table."""
    key = question.key.partition(".")[0]
    known = question.guess and key != "columns" and key not in TableChoices.model_fields
    return f"{_KEYWORDS.get(key, key)}={question.guess!r}" if known else ""


def plain(text: str) -> str:
    """Return a sentence without the dashes of options."""
    return re.sub(r"--(?=[a-z])", "", text)


@contextmanager
def requests() -> Iterator[None]:
    """Turn invalid request arguments into faults of their own."""
    try:
        yield
    except ValidationError as error:
        raise InputError(_faults(error, Request)) from None


def choices(table: Mapping[str, Any] | TableChoices | None) -> TableChoices | None:
    """Return the choices for a table; raise `InputError` with every invalid key and value."""
    if table is None or isinstance(table, TableChoices):
        return table
    try:
        return TableChoices(**table)
    except ValidationError as error:
        raise InputError([replace(one, key=f"table: {one.key}") for one in _faults(error, TableChoices)]) from None


def _faults(error: ValidationError, model: type[BaseModel]) -> list[Fault]:
    """Return the faults of values that are not in a file."""
    return [replace(one, line=None, column=None) for one in toml.faults_of(error, model, "", {})]


def target_of(held: str, given: Mapping[str, OptionValue]) -> float | None:
    """Return the target value of *held*; raise `InputError` if another one is given or it is out of range."""
    if held not in given:
        raise InputError(Fault(f"'{held}'{near(held, given)}; known: {', '.join(given)}", key="bound"))
    faults = [
        Fault(f"is given, but the bound is {held}: bound='{name}'", key=name)
        for name, value in given.items()
        if value is not None and name != held
    ]
    if faults:
        raise InputError(faults)
    value = next(option for option in _TARGETS if option.name == held).parse(given[held])
    return None if value is None else float(value)


def trace(asked: bool | Mapping[str, Any], processors: Sequence[int]) -> TraceChoice | None:
    """Return what `simulate` traces, by default the runs on *processors*; None for nothing."""
    if isinstance(asked, Mapping):
        return toml.validate(TraceChoice, {"processors": tuple(processors), **asked}, "traced")
    return TraceChoice(processors=tuple(processors)) if asked else None
