"""Pydantic's own class of each model, built when it is first needed: it decides what `quick` does not accept."""

from __future__ import annotations

import os
import types
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, Union, get_args, get_origin

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would search all installed packages for them

import pydantic
from pydantic_core import SchemaSerializer, SchemaValidator, ValidationError

from scalegraph.base.models import declaring
from scalegraph.base.models.model import BaseModel

_NOT_COPIED: Final = frozenset(
    {"__annotations__", "__classcell__", "__dict__", "__weakref__", "__slots__", "__own_body__", "model_config"}
)
_NOT_WALKED: Final = frozenset({"default", "metadata", "serialization", "config"})


@cache
def twin(model: type[BaseModel]) -> Any:
    """Return pydantic's class with the declarations of *model*."""
    bases = tuple(_base(base) for base in model.__bases__)
    body = {key: _value(one) for key, one in model.__own_body__.items() if key not in _NOT_COPIED}
    body = {key: one for key, one in body.items() if not isinstance(one, declaring.PrivateAttr)}
    own = vars(model)["__own_fields__"]
    types_of = vars(model).get("__annotations__", {})
    body["__annotations__"] = {
        name: converted(declaring.evaluated(said, model)) if name in own else ClassVar[Any]
        for name, said in types_of.items()
        if name in own or declaring.is_class_variable(said)
    }
    body["model_config"] = model.model_config
    make: Any = type(pydantic.BaseModel)
    return make(model.__name__, bases, body)


def _base(base: type) -> Any:
    if base is BaseModel:
        return pydantic.BaseModel
    return twin(base) if issubclass(base, BaseModel) else base


def _value(one: Any) -> Any:
    if isinstance(one, declaring.FieldInfo):
        return _field(one)
    if isinstance(one, declaring.FieldCheck):
        return pydantic.field_validator(*one.fields, mode=one.mode)(one.function)
    return pydantic.model_validator(mode="after")(one.function) if isinstance(one, declaring.ModelCheck) else one


def _field(info: declaring.FieldInfo) -> Any:
    given = dict(info.given)
    if info.default is not declaring.UNSET:
        given["default"] = info.default
    if info.default_factory is not None:
        given["default_factory"] = info.default_factory
    if isinstance(alias := given.get("validation_alias"), declaring.AliasChoices):
        given["validation_alias"] = pydantic.AliasChoices(*alias)
    return pydantic.Field(**given)


def converted(annotation: Any) -> Any:
    """Return an annotation with pydantic's fields in place of ours."""
    origin = get_origin(annotation)
    if origin is None or origin is Literal:
        return annotation
    if origin is Annotated:
        inner, *notes = get_args(annotation)
        fields = (_field(note) if isinstance(note, declaring.FieldInfo) else note for note in notes)
        return Annotated[(converted(inner), *fields)]
    parts = tuple(map(converted, get_args(annotation)))
    return Union[parts] if origin in (Union, types.UnionType) else origin[parts]  # noqa: UP007 - of a tuple


@cache
def schema(model: type[BaseModel]) -> Any:
    """Return pydantic's schema, whose instances are of *model* itself."""
    made = twin(model)
    made.model_rebuild(force=True)
    return _walked(made.__pydantic_core_schema__, made, model)


def _walked(part: Any, made: Any, model: type[BaseModel], *, names: bool = False) -> Any:
    """Return a copy of *part* of a schema with *model* in place of *made*; *names*: its keys are those of fields."""
    if isinstance(part, list):
        return [_walked(item, made, model) for item in part]
    if isinstance(part, tuple):
        return tuple(_walked(item, made, model) for item in part)
    if not isinstance(part, dict):
        return model if part is made else part
    return {
        key: item if key in _NOT_WALKED and not names else _walked(item, made, model, names=key == "fields")
        for key, item in part.items()
    }


@cache
def validator(model: type[BaseModel]) -> SchemaValidator:
    """Return what checks values."""
    return SchemaValidator(schema(model), {"title": model.__name__})


@cache
def serializer(model: type[BaseModel]) -> SchemaSerializer:
    """Return what writes values."""
    return SchemaSerializer(schema(model), {"title": model.__name__})


def frozen(model: type[BaseModel], name: str, value: Any) -> ValidationError:
    """Return the refusal of a new value for a field of an instance that does not change."""
    return ValidationError.from_exception_data(
        model.__name__, [{"type": "frozen_instance", "loc": (name,), "input": value}]
    )
