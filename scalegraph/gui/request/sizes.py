"""From the request of a study of one size to one that requests a scalability matrix: what grows, what is held."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from scalegraph.gui.request import text
from scalegraph.gui.request.form import CUSTOM, FIXED, BoundForm, RequestForm
from scalegraph.request.model.programs import Program

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


def with_sizes(form: RequestForm, program: Program | None, known: Mapping[str, float | None]) -> Grown:
    """Return *form* with a scaling method and bounds to hold beside what it requests.

    *program* is the shipped program's description. *known* says by the kind of each bound what the study has on a
    middling number of processors (efficiency, s, bytes of a processor): near it the searches have a short way.
    """
    held = tuple(_held(kind, value) for kind, value in known.items())
    bounds = (*(bound for bound in form.bounds if bound.kind not in known), *held)
    form = replace(form, bounds=bounds)
    what = "Sizes are searched at which " + " or ".join(f"the {bound.kind} is {bound.value}" for bound in held)
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


def _held(kind: str, known: float | None) -> BoundForm:
    """Return the bound of *kind* with a value near the *known* one, or the usual value."""
    bound = replace(BoundForm.of_kind(kind), max_runs=_MOST_TRIES)
    if kind == "efficiency":
        value = _USUAL if known is None else round(known / _STEP) * _STEP
        return replace(bound, value=f"{min(max(value, _LOWEST), _HIGHEST):.2g}")
    if known is None or not known > 0:
        return bound
    return replace(bound, value=text.duration_text(float(f"{known:.2g}")) if kind == "time" else text.size_text(known))


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
