"""Extends a study's request to several sizes: for a scalability matrix, or as samples for a prediction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from scalegraph.gui.request import text
from scalegraph.gui.request.form import CUSTOM, FIXED, BoundForm, Pairs, RequestForm
from scalegraph.request.model.prediction import sizes_text
from scalegraph.request.model.programs import Program
from scalegraph.request.model.request import Speedups

_LOWEST, _HIGHEST, _STEP = 0.1, 0.9, 0.05  # of a proposed efficiency
_ROUND = (0.1, 0.925)  # known efficiencies in this range are rounded to a step
_USUAL: Final = 0.5
_NUMBER: Final = re.compile(r"[1-9]\d*")
_NAME: Final = "n"
_MOST_TRIES: Final = "6"
_DIVIDED: Final = 16  # smallest size whose quarter is still used as a sample


@dataclass(frozen=True)
class Grown:
    """A request with sizes; *remark*: assumptions and remaining steps; *other*: it belongs into a new study."""

    form: RequestForm
    remark: str
    other: bool = False


def with_sizes(form: RequestForm, program: Program | None, known: Mapping[str, float | None]) -> Grown:
    """Return *form* with a scaling method and bounds in addition to what it asks for.

    *program* is the shipped program's description. *known* has, by kind of bound, the study's value at a middling
    processor count (efficiency, s, bytes per processor); searches that start near it are short.
    """
    held = tuple(_held(kind, value) for kind, value in known.items())
    bounds = (*(bound for bound in form.bounds if bound.kind not in known), *held)
    form = form.but(bounds=bounds)
    what = "The runs search for sizes at which " + " or ".join(f"the {bound.kind} is {bound.value}" for bound in held)
    if form.method != FIXED:
        return Grown(form, f"{what}.")
    method = _method(program)
    if method:
        return Grown(form.but(method=method), f"{what}; method {method} says what grows.")
    name = next((name for name, value in form.parameters if _is_number(value)), "")
    if name:
        return Grown(form.but(method=CUSTOM, grow=((name, "N"),)), f"{what}; the parameter {name} grows.")
    return _of_arguments(form, what)


def with_prediction(form: RequestForm, program: Program | None) -> Grown:
    """Return *form* with sample sizes and larger sizes to predict, which the user may change.

    Existing sizes stay; a single size becomes the largest of three samples. Settings that cannot be combined with a
    prediction are removed.
    """
    form = _as_samples(form)
    if form.predict_at:
        remark = "The runs of this study are samples; change what is predicted below, and press Run."
        return Grown(form.but(predict=True), remark)
    swept = [(name, sizes) for name, value in form.parameters if len(sizes := _sizes(value)) > 1]
    if not swept:
        name = _grows(form, program)
        if not name:
            taken = _parameter_of_arguments(form)
            if not taken.form.parameters or not taken.form.parameters[-1][1]:
                return Grown(taken.form.but(predict=True), taken.remark, other=True)
            grown = with_prediction(taken.form, program)
            return Grown(grown.form, f"{taken.remark} {grown.remark}", other=True)
        swept = [(name, _samples(_sizes(dict(form.parameters)[name])[0]))]
        form = form.but(parameters=_changed(form.parameters, dict(swept)))
    largest = [(name, max(sizes)) for name, sizes in swept]
    at = {name: (2 * size, 4 * size) for name, size in largest}
    form = form.but(predict=True, predict_at=sizes_text(at))
    said = "; ".join(f"{name} = {', '.join(map(str, sizes))}" for name, sizes in swept)
    return Grown(form, f"Runs with {said} are the samples; change them, and what is predicted, below.")


def _as_samples(form: RequestForm) -> RequestForm:
    """Return *form* without settings that cannot be combined with predictions."""
    return form.but(
        bounds=(BoundForm(),),
        what_if=(),
        speedups=Speedups(),
        compare="",
        trace=False,
        repetitions="1",
        regions=True,
    )


def _grows(form: RequestForm, program: Program | None) -> str:
    """Return the parameter that sets the size: one that a method grows, else the first whole number, else ""."""
    whole = [name for name, value in form.parameters if _sizes(value)]
    grown = [name for method in program.method for name in method.grow] if program is not None else []
    return next((name for name in grown if name in whole), next(iter(whole), ""))


def _sizes(value: str) -> tuple[int, ...]:
    """Return *value* as positive whole numbers; none if it contains anything else."""
    try:
        found = text.values(value)
    except ValueError:
        return ()
    every = found if isinstance(found, tuple) else (found,)
    whole = tuple(int(one) for one in every if isinstance(one, int | float) and one == int(one) and one > 0)
    return whole if len(whole) == len(every) else ()


def _samples(size: int) -> tuple[int, ...]:
    """Return three sizes; *size* is the largest unless it is small."""
    return (size // 4, size // 2, size) if size >= _DIVIDED else (size, 2 * size, 4 * size)


def _changed(pairs: Pairs, sizes: Mapping[str, tuple[int, ...]]) -> Pairs:
    return tuple((name, ", ".join(map(str, sizes[name])) if name in sizes else value) for name, value in pairs)


def _of_arguments(form: RequestForm, what: str) -> Grown:
    """Turn the largest number among the arguments into the parameter that grows."""
    taken = _parameter_of_arguments(form)
    grown = taken.form.but(method=CUSTOM, grow=((_NAME, "N"),))
    known = dict(grown.parameters)[_NAME]
    return Grown(grown, f"{what}; {taken.remark[:1].lower()}{taken.remark[1:]}" if known else taken.remark, other=True)


def _parameter_of_arguments(form: RequestForm) -> Grown:
    """Turn the largest number among the arguments into a parameter."""
    words = form.args.split()
    numbers = [word for word in words if _NUMBER.fullmatch(word)]
    if not numbers:
        remark = (
            "None of this program's arguments sets its size. Let it read one: it is now the parameter n. Then"
            " give n its base value below."
        )
        args = f"{form.args} {{{_NAME}}}".strip()
        return Grown(form.but(args=args, parameters=(*form.parameters, (_NAME, ""))), remark, other=True)
    largest = max(numbers, key=int)
    words[words.index(largest)] = f"{{{_NAME}}}"
    taken = form.but(args=" ".join(words), parameters=(*form.parameters, (_NAME, largest)))
    return Grown(taken, f"The argument {largest} is taken as the size: it is now the parameter n.", other=True)


def _held(kind: str, known: float | None) -> BoundForm:
    """Return a bound of *kind* near its *known* value, or with the usual one."""
    bound = replace(BoundForm.of_kind(kind), max_runs=_MOST_TRIES)
    if kind == "efficiency":
        if known is not None and 0 < known < 1 and not _ROUND[0] <= known <= _ROUND[1]:
            return replace(bound, value=f"{known:.1g}" if known < 0.95 else f"{known:.2g}")  # a step may miss it
        value = _USUAL if known is None else round(known / _STEP) * _STEP
        return replace(bound, value=f"{min(max(value, _LOWEST), _HIGHEST):.2g}")
    if known is None or not known > 0:
        return bound
    return replace(bound, value=text.duration_text(float(f"{known:.2g}")) if kind == "time" else text.size_text(known))


def _method(program: Program | None) -> str:
    """Return the scaling method in *program*'s default request, else its first that grows anything."""
    if program is None:
        return ""
    growing = [method.name for method in program.method if method.grow]
    usual = program.request.scaling.method
    return usual if usual in growing else next(iter(growing), "")


def _is_number(value: str) -> bool:
    found = text.number(value)
    return isinstance(found, int | float) and found > 0
