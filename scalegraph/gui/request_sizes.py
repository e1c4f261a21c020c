"""From the request of a study of one size to one that asks for a scalability matrix: what grows, what is held."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from scalegraph.gui import request_text as text
from scalegraph.gui.request_form import CUSTOM, FIXED, BoundForm, RequestForm
from scalegraph.request.programs import Program

_LOWEST, _HIGHEST, _STEP = 0.1, 0.9, 0.05  # of an efficiency that is proposed
_USUAL: Final = 0.5
_NUMBER: Final = re.compile(r"[1-9]\d*")
_NAME: Final = "n"
_MOST_TRIES: Final = "6"


@dataclass(frozen=True)
class Grown:
    """A request with sizes; *remark* says what was assumed and what is left to do, *other* that it is another study."""

    form: RequestForm
    remark: str
    other: bool = False


def with_sizes(form: RequestForm, program: Program | None, efficiency: float | None = None) -> Grown:
    """Return *form* with a scaling method and an efficiency to hold beside what it asks for.

    *program* is the shipped program's description, *efficiency* one that the study has on a middling number of
    processors: near it the searches have a short way.
    """
    held = _held(efficiency)
    bounds = (*(bound for bound in form.bounds if bound.kind != "efficiency"), held)
    form = replace(form, bounds=bounds)
    what = f"Sizes are searched at which the efficiency is {held.value}"
    if form.method != FIXED:
        return Grown(form, f"{what}.")
    method = _method(program)
    if method:
        return Grown(replace(form, method=method), f"{what}; method {method} says what grows.")
    name = next((name for name, value in form.parameters if _is_number(value)), "")
    if name:
        return Grown(replace(form, method=CUSTOM, grow=((name, "N"),)), f"{what}; the parameter {name} grows.")
    return _of_arguments(form, what)


def _of_arguments(form: RequestForm, what: str) -> Grown:
    """Make the largest number among the arguments the parameter that grows."""
    words = form.args.split()
    numbers = [word for word in words if _NUMBER.fullmatch(word)]
    if not numbers:
        remark = (
            "This program gets no argument that sets its size. Let it read one, which is now the parameter n, and"
            " give n its base value below."
        )
        args = f"{form.args} {{{_NAME}}}".strip()
        parameters = (*form.parameters, (_NAME, ""))
        return Grown(
            replace(form, args=args, parameters=parameters, method=CUSTOM, grow=((_NAME, "N"),)), remark, other=True
        )
    largest = max(numbers, key=int)
    words[words.index(largest)] = f"{{{_NAME}}}"
    grown = replace(
        form,
        args=" ".join(words),
        parameters=(*form.parameters, (_NAME, largest)),
        method=CUSTOM,
        grow=((_NAME, "N"),),
    )
    return Grown(grown, f"{what}; the argument {largest} is taken for the size: it is now the parameter n.", other=True)


def _held(efficiency: float | None) -> BoundForm:
    value = _USUAL if efficiency is None else round(efficiency / _STEP) * _STEP
    value = min(max(value, _LOWEST), _HIGHEST)
    return replace(BoundForm.of_kind("efficiency"), value=f"{value:.2g}", max_runs=_MOST_TRIES)


def _method(program: Program | None) -> str:
    """Return the method of *program* that its default request takes, else the first that lets anything grow."""
    if program is None:
        return ""
    growing = [method.name for method in program.method if method.grow]
    usual = program.request.scaling.method
    return usual if usual in growing else next(iter(growing), "")


def _is_number(value: str) -> bool:
    found = text.number(value)
    return isinstance(found, int | float) and found > 0
