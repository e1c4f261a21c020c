"""Checks of values without pydantic: plain values that follow the declared rules are accepted, nothing is refused.

What is not accepted here is left to pydantic: other types than those declared, values out of range, unions that more
than one member would take, and rules that are not known here. `tests/base/test_models.py` compares both.
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Union, get_args, get_origin

from scalegraph.base.models.declaring import FieldCheck, FieldInfo, ModelCheck, Rule, parted

if TYPE_CHECKING:
    from scalegraph.base.models.model import BaseModel

_ENDS: Final = ("ge", "gt", "le", "lt")
_LENGTHS: Final = ("min_length", "max_length")
_KNOWN: Final = frozenset({*_ENDS, *_LENGTHS, "pattern", "strict", "allow_inf_nan", "discriminator"})
_EXACT_FLOATS: Final = 2**53  # whole numbers up to here are floats without rounding


class Unsure(Exception):  # noqa: N818 - no error: pydantic decides
    """A value that is not accepted here."""


class Check(NamedTuple):
    """*one* returns what a value becomes, or raises `Unsure`; *many* does for a sequence, and returns a tuple.

    *holds*: whether it takes values with parts, of which `Unsure` may be raised late.
    """

    one: Callable[[Any], Any]
    many: Callable[[Sequence[Any]], tuple[Any, ...]]
    holds: bool = False


def _each(one: Callable[[Any], Any], *, holds: bool = False) -> Check:
    return Check(one, lambda values: tuple(map(one, values)), holds)


def _never(_value: Any) -> Any:
    raise Unsure


_NEVER: Final = Check(_never, _never)


class _Rules:
    """The rules of one value: those of its field, over those of its model."""

    def __init__(self, found: Iterable[Any], config: Mapping[str, Any]) -> None:
        self.given = {name: value for rule in found if type(rule) is Rule for name, value in vars(rule).items()}
        self.known = self.given.keys() <= _KNOWN
        self.config = config

    @property
    def strict(self) -> bool:
        return bool(self.given.get("strict", self.config.get("strict", False)))

    @property
    def finite(self) -> bool:
        return not self.given.get("allow_inf_nan", self.config.get("allow_inf_nan", True))

    def only(self, *names: str) -> bool:
        """Whether there is no rule but those of these *names*, and how strictly types are taken."""
        return self.known and set(self.given) <= {*names, "strict"}

    def inside(self, length: int) -> bool:
        return bool(self.given.get("min_length", 0) <= length <= self.given.get("max_length", length))


def _number(kind: type[int | float], rules: _Rules) -> Check:
    """Return the check of whole numbers, or of floats, among which whole numbers are converted."""
    if not rules.only(*_ENDS, "allow_inf_nan"):
        return _NEVER
    ge, gt, le, lt = (rules.given.get(name) for name in _ENDS)

    def right(least: Any, most: Any) -> bool:
        return (
            (ge is None or least >= ge)
            and (gt is None or least > gt)
            and (le is None or most <= le)
            and (lt is None or most < lt)
        )

    def one(value: Any) -> Any:
        if kind is float and type(value) is int and abs(value) < _EXACT_FLOATS:
            value = float(value)
        if type(value) is not kind or not right(value, value) or (rules.finite and not math.isfinite(value)):
            raise Unsure
        return value

    def many(values: Sequence[Any]) -> tuple[Any, ...]:
        if kind is not int or set(map(type, values)) != {int}:
            return tuple(map(one, values))
        if not right(min(values), max(values)):
            raise Unsure
        return tuple(values)

    return Check(one, many)


def _text(rules: _Rules) -> Check:
    if not rules.only(*_LENGTHS, "pattern"):
        return _NEVER
    pattern = rules.given.get("pattern")
    found = None if pattern is None else re.compile(pattern)
    measured = any(name in rules.given for name in _LENGTHS)

    def one(value: Any) -> Any:
        if type(value) is not str or (measured and not rules.inside(len(value))):
            raise Unsure
        if not value.isascii() and value != value.encode("utf-8", "replace").decode():
            raise Unsure  # half of a pair of surrogates
        if found is not None and (not value.isascii() or "\n" in value or not found.search(value)):
            raise Unsure
        return value

    return _each(one)


def _plain(kind: type) -> Check:
    def one(value: Any) -> Any:
        if type(value) is not kind:
            raise Unsure
        return value

    return _each(one)


def _choice(words: tuple[Any, ...]) -> Check:
    if not all(isinstance(word, str) for word in words):
        return _NEVER
    known = frozenset(words)

    def one(value: Any) -> Any:
        if type(value) is not str or value not in known:
            raise Unsure
        return value

    return _each(one)


def _tuple(parts: tuple[Any, ...], rules: _Rules) -> Check:
    if not rules.only(*_LENGTHS):
        return _NEVER
    inner = [check(part, (), rules.config) for part in parts if part is not ...]
    endless = len(parts) == 2 and parts[1] is ...
    if not endless and rules.given.keys() - {"strict"}:
        return _NEVER

    def one(value: Any) -> Any:
        if type(value) is not tuple and (rules.strict or type(value) is not list):
            raise Unsure
        if endless:
            if not rules.inside(len(value)):
                raise Unsure
            return inner[0].many(value) if value else ()
        if len(value) != len(inner):
            raise Unsure
        return tuple(part.one(item) for part, item in zip(inner, value, strict=True))

    return _each(one, holds=True)


def _list(parts: tuple[Any, ...], rules: _Rules) -> Check:
    if not rules.only():
        return _NEVER
    inner = check(parts[0], (), rules.config)

    def one(value: Any) -> Any:
        if type(value) is not list:
            raise Unsure
        return list(inner.many(value)) if value else []

    return _each(one, holds=True)


def _dict(parts: tuple[Any, ...], rules: _Rules) -> Check:
    if not rules.only(*_LENGTHS):
        return _NEVER
    key, item = (check(part, (), rules.config) for part in parts)

    def one(value: Any) -> Any:
        if type(value) is not dict or not rules.inside(len(value)):
            raise Unsure
        if not value:
            return {}
        return dict(zip(key.many(tuple(value)), item.many(tuple(value.values())), strict=True))

    return _each(one, holds=True)


def _union(parts: tuple[Any, ...], rules: _Rules) -> Check:
    """Return the check of several types: a value that exactly one of them takes, without any conversion."""
    if (kind := rules.given.get("discriminator")) is not None:
        return _kinds(parts, kind) if rules.only("discriminator") else _NEVER
    if not rules.only():
        return _NEVER
    members = [check(part, (), rules.config) for part in parts if part is not type(None)]
    empty = type(None) in parts
    several = sum(member.holds for member in members) > 1
    only = members[0].one if len(members) == 1 else None

    def one(value: Any) -> Any:
        if value is None and empty:
            return None
        if only is not None:
            return only(value)
        found = []
        for member in members:
            if member.holds and several:
                raise Unsure
            try:
                made = member.one(value)
            except Unsure:
                continue
            if member.holds or type(made) is type(value):
                found.append(made)
        if len(found) != 1:
            raise Unsure
        return found[0]

    return _each(one, holds=any(member.holds for member in members))


def _kinds(models: tuple[type[BaseModel], ...], field: str) -> Check:
    """Return the check of models that differ by the word in their *field*."""
    by_word = {word: model for model in models for word in get_args(model.model_fields[field].annotation)}
    inner = {model: _model(model) for model in models}

    def one(value: Any) -> Any:
        if type(value) in inner:
            return value
        word = value.get(field) if type(value) is dict else None
        if type(word) is not str or word not in by_word:
            raise Unsure
        return inner[by_word[word]].one(value)

    return _each(one, holds=True)


def _model(model: type[BaseModel]) -> Check:
    def one(value: Any) -> Any:
        if type(value) is model:
            return value
        made = model.__new__(model)
        if type(value) is not dict or not fill(made, value):
            raise Unsure
        return made

    return _each(one, holds=True)


def _anything(value: Any) -> Any:
    return value


_MADE_OF: Final[dict[Any, Callable[[tuple[Any, ...], _Rules], Check]]] = {
    tuple: _tuple,
    list: _list,
    dict: _dict,
    Union: _union,
    types.UnionType: _union,
}


def check(annotation: Any, found: Iterable[Any], config: Mapping[str, Any]) -> Check:
    """Return the check of values of type *annotation* with the rules *found*, in a model with *config*."""
    annotation, more = parted(annotation)
    rules = _Rules([*more, *found], config)
    if annotation is int or annotation is float:
        return _number(annotation, rules)
    if annotation is str:
        return _text(rules)
    if (origin := get_origin(annotation)) in _MADE_OF:
        return _MADE_OF[origin](get_args(annotation), rules)
    if not rules.only():
        return _NEVER
    if annotation is bool:
        return _plain(bool)
    if annotation is Any:
        return _each(_anything)
    if origin is Literal:
        return _choice(get_args(annotation))
    if hasattr(annotation, "__own_fields__"):
        return _model(annotation)
    return _plain(annotation) if getattr(annotation, "taken_as_it_is", False) else _NEVER


class _Field(NamedTuple):
    name: str
    keys: tuple[str, ...]
    check: Check
    info: FieldInfo
    fixed: bool  # the default can be shared
    before: tuple[Callable[[Any], Any], ...]
    after: tuple[Callable[[Any], Any], ...]


class _Plan(NamedTuple):
    fields: tuple[_Field, ...]
    checks: tuple[Callable[[Any], Any], ...]
    plain: bool  # nothing of it is unknown here


def _plan(model: type[BaseModel]) -> _Plan:
    config, checks = model.model_config, model.model_checks
    fields = []
    for name, info in model.model_fields.items():
        mine = [
            (one.mode, getattr(model, key))
            for key, one in checks.items()
            if isinstance(one, FieldCheck) and name in one.fields
        ]
        before = tuple(function for mode, function in reversed(mine) if mode == "before")
        after = tuple(function for mode, function in mine if mode == "after")
        fixed = info.default_factory is None and not isinstance(info.default, dict | list | set)
        keys = (name,) if info.validation_alias is None else tuple(info.validation_alias)
        checked = check(info.annotation, info.metadata, config)
        fields.append(_Field(name, keys, checked, info, fixed, before, after))
    whole = tuple(one.function for one in checks.values() if isinstance(one, ModelCheck))
    return _Plan(tuple(fields), whole, config.get("extra", "ignore") in ("forbid", "ignore"))


def put(
    made: BaseModel,
    values: dict[str, Any],
    given: set[str],
    extra: dict[str, Any] | None = None,
    private: dict[str, Any] | None = None,
) -> None:
    """Give *made* its values."""
    write = object.__setattr__
    write(made, "__dict__", values)
    write(made, "__pydantic_fields_set__", given)
    write(made, "__pydantic_extra__", extra)
    write(made, "__pydantic_private__", private)


def fill(made: BaseModel, data: Mapping[str, Any]) -> bool:
    """Give *made*, a new model, the values of *data*; return whether they are right for sure."""
    model = type(made)
    plan: _Plan | None = model.__dict__.get("__plan__")
    if plan is None:
        plan = _plan(model)
        type.__setattr__(model, "__plan__", plan)
    try:
        values, given = _values(plan, data)
        if not plan.plain or (len(given) != len(data) and model.model_config.get("extra") == "forbid"):
            return False
        put(made, values, given)
        return all(function(made) is made for function in plan.checks)
    except (Unsure, ValueError, AssertionError):  # pydantic words what its checks raise
        return False


def _values(plan: _Plan, data: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    values, given = {}, set()
    for name, keys, checked, info, fixed, before, after in plan.fields:
        key = next((key for key in keys if key in data), None)
        if key is None:
            if info.is_required():
                raise Unsure
            values[name] = info.default if fixed else info.get_default(call_default_factory=True)
            continue
        value = data[key]
        for function in before:
            value = function(value)
        value = checked.one(value)
        for function in after:
            value = function(value)
        values[name] = value
        given.add(name)
    return values, given
