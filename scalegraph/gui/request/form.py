"""The request panel's content as typed; immutable, so undo only keeps the previous one.

A form may hold anything that can be typed. ``read`` turns it into a `Request`, or into errors that name the field by
its key path in the request file (``processors``, ``bound.0.value``, ``parameters.num_balls``). The form has an
attribute for each declared value of a request, see `typed`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from scalegraph.base import toml
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.run import SIMULATED
from scalegraph.base.units import as_read
from scalegraph.gui.request import text
from scalegraph.gui.request.typed import BY_KEY, DECLARED, Typed, read_number, value_of
from scalegraph.request.model.axes import AXES, MACHINE, named_by
from scalegraph.request.model.origin import HERE
from scalegraph.request.model.parts import BOUNDS, BoundWords
from scalegraph.request.model.programs import Program
from scalegraph.request.model.request import SEARCHED, Bound, Request, Speedups, WhatIf
from scalegraph.request.model.values import request_value

Pairs = tuple[tuple[str, str], ...]

CUSTOM: Final = "*"  # the growth is written out, not a method of the program
FIXED: Final = ""
BOUND_KINDS: Final = tuple(BOUNDS)


def bound_words(kind: str) -> BoundWords:
    """Return the declaration of a kind of bound, nothing if the kind does not exist."""
    return next((words for name, words in BOUNDS.items() if name == kind), BoundWords(kind, ""))


@dataclass(frozen=True)
class BoundForm:
    """One bound, as typed."""

    kind: str = "problem_size"
    value: str = ""
    tolerance: str = request_value("bound.tolerance").default_text()
    max_runs: str = request_value("bound.max_runs").default_text()

    @staticmethod
    def of_kind(kind: str) -> BoundForm:
        """Return a bound of *kind* with an initial value."""
        return BoundForm(kind=kind, value=bound_words(kind).start)


class _Form:
    @property
    def checks(self) -> bool:
        """Whether runs check the culprits; only the simulator can."""
        return bool(self.verify) and self.target == SIMULATED  # type: ignore[attr-defined]

    @property
    def chosen(self) -> bool:
        """Whether a program is chosen."""
        return bool(self.program or self.sources or self.built)  # type: ignore[attr-defined]

    def but(self, **changes: Any) -> RequestForm:
        """Return the form with *changes*."""
        return replace(self, **changes)  # type: ignore[type-var, return-value]


# Attributes of a form besides the declared values of a request, with their values in a new form.
_BESIDES: Final[dict[str, Any]] = {
    "built": False,  # the user's own build makes the program
    "bounds": (BoundForm(),),
    "trace": False,  # whether runs are traced, and others predicted
    "predict": False,
    "what_if": (),  # from the What if panel or a file; passed on unchanged
    "speedups": Speedups(),
    "origin": HERE,  # where the request was loaded from
}

if TYPE_CHECKING:

    class RequestForm(_Form):
        """Everything in the panel, as typed."""

        def __init__(self, **typed: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...
else:
    _typed = {one.attribute: one.usual for one in DECLARED} | _BESIDES
    RequestForm = make_dataclass(
        "RequestForm",
        [(name, Any, field(default_factory=lambda value=value: value)) for name, value in _typed.items()],
        bases=(_Form,),
        frozen=True,
    )


@dataclass
class _Reader:
    """Collects values, and errors for those that cannot be read."""

    faults: list[Fault] = field(default_factory=list)

    def take(self, key: str, read: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return read(*arguments)
        except ValueError as error:
            self.faults.append(Fault(str(error), key=key))
            return None

    def number(self, key: str, typed: str) -> Any:
        """Return the number typed for the request's value *key*."""
        return self.take(key, read_number, request_value(key), typed)


def read(form: RequestForm) -> tuple[Request | None, list[Fault]]:
    """Return the request that *form* describes, and all errors in it.

    A value that cannot be read keeps its default, so that the rest can be checked as well; a request with errors must
    not be run. ``None`` if no request can be made.
    """
    if not form.chosen:
        return None, [Fault("choose a program", key="program")]
    reader = _Reader()
    data = _data(form, reader)
    try:
        request = toml.validate(Request, data, "")
    except InputError as error:
        known = {fault.key for fault in reader.faults}
        return None, reader.faults + [fault for fault in error.faults if fault.key not in known]
    return request.with_origin(form.origin), reader.faults


def _data(form: RequestForm, reader: _Reader) -> dict[str, Any]:
    data: dict[str, Any] = {}
    unread = _unread(form)
    for one in DECLARED:
        if one.key in unread or f"{one.key.partition('.')[0]}." in unread:
            continue
        typed = getattr(form, one.attribute)
        is_table = isinstance(one.said.default, dict)
        value = _pairs(typed, one, reader) if is_table else reader.take(one.key, one.read, typed)
        if value is not None:
            *groups, name = one.key.split(".")
            here = data
            for group in groups:
                here = here.setdefault(group, {})
            here[name] = value
    if form.built and not data["program"]["executable"]:
        reader.faults.append(Fault("name the program that the build makes", key="program.executable"))
        data["program"]["executable"] = "program"  # a placeholder, so that the rest can be checked
    data["bound"] = [_bound(bound, index, reader) for index, bound in enumerate(form.bounds)]
    data["verify"] = form.checks
    _first_of_several(data)
    return data | _what_if(form, data.get("processors", ()))


def _unread(form: RequestForm) -> tuple[str, ...]:
    """Return the keys of fields whose contents do not count now, and ``trace.`` for all of a part."""
    unread = ["program.sources"] if form.built or form.program else []
    unread += [] if form.built else ["program.executable", "program.build"]
    unread += ["program.args"] if form.program else []
    unread += ["scaling.method"] if form.method == CUSTOM else ["scaling.grow"]
    unread += [f"{part}." for part in ("trace", "predict") if not getattr(form, part)]
    return tuple(unread) + (() if form.space_budget.strip() else ("space.minimise",))


def _first_of_several(data: dict[str, Any]) -> None:
    """Remove from *data* (a request) the single values that [space] lists, so that the first of each list counts."""
    for axis, values in data["space"].items():
        if axis == MACHINE and values:
            data["machine"] |= {"name": "", "path": "", named_by(values[0]): values[0]}
        elif axis in AXES and values:
            group, _, name = AXES[axis].key.rpartition(".")
            (data[group] if group else data).pop(name, None)


def _what_if(form: RequestForm, counts: tuple[int, ...]) -> dict[str, Any]:
    """Return the parts that the panel does not show, without processor counts that no longer exist."""

    def kept(part: WhatIf | Speedups) -> Any:
        return part.model_copy(update={"processors": tuple(n for n in part.processors if n in counts)})

    return {"what_if": tuple(map(kept, form.what_if)), "speedups": kept(form.speedups)}


def _bound(bound: BoundForm, index: int, reader: _Reader) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": bound.kind}
    readers: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
        "memory": (text.size, ()),
        "time": (text.duration, ()),
        "efficiency": (text.real, (bound_words("efficiency").value,)),
        "speed": (text.real, (f"{bound_words('speed').value}, like {bound_words('speed').start}",)),
    }
    if bound.kind in readers:
        take, more = readers[bound.kind]
        value = reader.take(f"bound.{index}.value", take, bound.value, *more)
        # A value that cannot be read is already an error; the model must not add "needs a value" to it.
        made["value"] = 0.5 if value is None else float(value)
    if bound.kind in SEARCHED:
        share = reader.number(f"bound.{index}.tolerance", bound.tolerance)
        tries = reader.number(f"bound.{index}.max_runs", bound.max_runs)
        made |= {key: v for key, v in (("tolerance", share), ("max_runs", tries)) if v is not None}
    return made


def _pairs(pairs: Pairs, said: Typed, reader: _Reader) -> dict[str, Any]:
    made: dict[str, Any] = {}
    key = said.key
    for name, typed in pairs:
        word = name.strip()
        if not word:
            if typed.strip():
                reader.faults.append(Fault(f"'{typed.strip()}' needs a name beside it", key=key))
            continue
        if word in made:
            reader.faults.append(Fault(f"'{word}' appears twice", key=f"{key}.{word}"))
        value = reader.take(f"{key}.{word}", said.read, typed)
        if value is not None:
            made[word] = value
        elif key == "parameters":
            made[word] = 1  # a placeholder, so that only this field is reported
    return made


def of_request(request: Request, program: Program | None = None) -> RequestForm:
    """Return the form that reads back as *request*; *program* supplies parameters that the request omits."""
    typed: dict[str, Any] = {}
    for one in DECLARED:
        value = value_of(request, one.key)
        if isinstance(value, dict) and isinstance(one.said.default, dict):
            typed[one.attribute] = tuple((str(name), one.show(item)) for name, item in value.items())
        elif value is not None:
            typed[one.attribute] = one.show(value)
    named = {**program.parameters(), **request.parameters} if program is not None else request.parameters
    show = BY_KEY["parameters"].show
    if request.program.args is None and program is not None:
        typed["args"] = text.words_text(program.args)
    if request.scaling.grow:
        typed["method"] = CUSTOM
    return RequestForm(
        **typed | {"parameters": tuple((name, show(value)) for name, value in named.items())},
        built=bool(request.program.executable),
        bounds=tuple(map(_bound_form, request.bound)),
        trace=request.trace is not None,
        predict=request.predict is not None,
        what_if=request.what_if,
        speedups=request.speedups,
        origin=request.origin,
    )


def _bound_form(bound: Bound) -> BoundForm:
    writers: dict[str, Callable[[float], str]] = {
        "memory": text.size_text,
        "time": text.duration_text,
        "efficiency": as_read,
        "speed": as_read,
    }
    value = "" if bound.value is None else writers[bound.kind](bound.value)
    return BoundForm(bound.kind, value, as_read(bound.tolerance), str(bound.max_runs))


def for_program(name: str, program: Program, before: RequestForm | None = None) -> RequestForm:
    """Return the default request of a shipped program; settings of the host are kept from *before*."""
    body = program.request.model_dump()
    body["parameters"] = program.parameters() | body["parameters"]
    form = of_request(Request.model_validate(body | {"program": {"name": name}, "verify": True}), program)
    return form if before is None else _with_host(form, before)


def for_sources(sources: tuple[str, ...], before: RequestForm | None = None) -> RequestForm:
    """Return the initial request for the user's own sources."""
    form = RequestForm(sources=sources)
    return form if before is None else _with_host(form, before)


def for_build(executable: str, before: RequestForm | None = None) -> RequestForm:
    """Return the initial request for a program made by the user's own build."""
    directory = os.path.dirname(executable)  # noqa: PTH120 - "" stays ""
    form = RequestForm(built=True, executable=executable, directory=directory)
    return form if before is None else _with_host(form, before)


def _with_host(form: RequestForm, before: RequestForm) -> RequestForm:
    limits = [one.attribute for one in DECLARED if one.key.startswith("limits.")]
    return form.but(**{name: getattr(before, name) for name in limits})
