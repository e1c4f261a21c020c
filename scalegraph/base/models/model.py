"""The base of all models, in place of pydantic's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scalegraph.base.models import dumping, quick
from scalegraph.base.models.declaring import (
    UNSET,
    FieldCheck,
    FieldInfo,
    ModelCheck,
    PrivateAttr,
    evaluated,
    is_class_variable,
)


class _Declared(type):
    """The type of models: takes fields and checks out of the body of a class."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], **more: Any) -> Any:
        own = [key for key, said in body.get("__annotations__", {}).items() if not is_class_variable(said)]
        own = [key for key in own if key != "model_config" and not isinstance(body.get(key), PrivateAttr)]
        config = {key: value for base in reversed(bases) for key, value in getattr(base, "model_config", {}).items()}
        declared = {
            **body,
            "model_config": {**config, **body.get("model_config", {})},
            "__own_body__": body,
            "__own_fields__": {key: body.get(key, UNSET) for key in own},
            "__own_checks__": {key: one for key, one in body.items() if isinstance(one, FieldCheck | ModelCheck)},
        }
        for key in own:
            declared.pop(key, None)
        for key, one in declared["__own_checks__"].items():
            declared[key] = one.function
        return super().__new__(mcs, name, bases, declared, **more)

    @property
    def model_fields(cls) -> dict[str, FieldInfo]:
        """The fields by name, those of the base first."""
        kept: dict[str, FieldInfo] | None = cls.__dict__.get("__kept_fields__")
        if kept is None:
            kept = {}
            for base in reversed(cls.__mro__):
                for name, default in base.__dict__.get("__own_fields__", {}).items():
                    info = default if isinstance(default, FieldInfo) else FieldInfo(default, None, {})
                    kept[name] = info.of(evaluated(base.__annotations__[name], base))
            cls.__kept_fields__ = kept
        return kept

    @property
    def model_checks(cls) -> dict[str, FieldCheck | ModelCheck]:
        """The functions that check values, by name, those of the base first."""
        return {key: one for base in reversed(cls.__mro__) for key, one in vars(base).get("__own_checks__", {}).items()}


class _Serializer:
    """Pydantic's serializer of a class, where pydantic expects it."""

    def __get__(self, _instance: object, owner: type[BaseModel]) -> Any:
        return _full().serializer(owner)


class BaseModel(metaclass=_Declared):
    """Values by name, checked when it is made. As pydantic's class of the same name; see `scalegraph.base.models`."""

    __slots__ = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
    __own_body__: ClassVar[dict[str, Any]]
    if TYPE_CHECKING:
        __pydantic_fields_set__: set[str]
    __pydantic_serializer__: ClassVar = _Serializer()
    model_config: ClassVar[dict[str, Any]] = {}

    def __init__(self, /, **data: Any) -> None:
        if not quick.fill(self, data):
            _full().validator(type(self)).validate_python(data, self_instance=self)

    @classmethod
    def model_validate(cls, data: Any) -> Self:
        """Return *data* as a model; raise pydantic's ``ValidationError``."""
        made = cls.__new__(cls)
        if type(data) is dict and quick.fill(made, data):
            return made
        found: Self = _full().validator(cls).validate_python(data)
        return found

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """Return the model that JSON *text* holds; raise pydantic's ``ValidationError``."""
        made = cls.__new__(cls)
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if type(data) is dict and quick.fill(made, data):
            return made
        found: Self = _full().validator(cls).validate_json(text)
        return found

    @classmethod
    def model_construct(cls, **values: Any) -> Self:
        """Return a model of *values* that are known to be right."""
        made = cls.__new__(cls)
        fields = cls.model_fields
        whole = {
            name: values[name] if name in values else info.get_default(call_default_factory=True)
            for name, info in fields.items()
            if name in values or not info.is_required()
        }
        quick.put(made, whole, {name for name in values if name in fields})
        return made

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Return the JSON schema of what is accepted."""
        found: dict[str, Any] = _full().twin(cls).model_json_schema()
        return found

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        """Return the schema for models of pydantic that have this one inside."""
        return _full().schema(cls)

    def model_dump(self, **wanted: Any) -> dict[str, Any]:
        """Return the values by name; options as of pydantic's function."""
        found = dumping.dumped(self, wanted)
        if found is None:
            found = _full().serializer(type(self)).to_python(self, **wanted)
        return found

    def model_dump_json(self, **wanted: Any) -> str:
        """Return the values as JSON; options as of pydantic's function."""
        text: bytes = _full().serializer(type(self)).to_json(self, **wanted)
        return text.decode()

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values, which are known to be right."""
        made = self.__deepcopy__({}) if deep else self.__copy__()
        if update:
            made.__dict__.update(update)
            made.model_fields_set.update(update)
        return made

    @property
    def model_fields_set(self) -> set[str]:
        """The fields that were given."""
        return self.__pydantic_fields_set__

    def __copy__(self) -> Self:
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__())
        return made

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        made = type(self).__new__(type(self))
        made.__setstate__(deepcopy(self.__getstate__(), memo))
        return made

    def __getstate__(self) -> tuple[Any, ...]:
        extra, private = (getattr(self, name, None) for name in ("__pydantic_extra__", "__pydantic_private__"))
        return dict(self.__dict__), set(self.__pydantic_fields_set__), extra, private

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        values, given, extra, private = state
        quick.put(self, values, given, extra, private)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(getattr(type(self), name, None), PrivateAttr) or name.startswith("_"):
            object.__setattr__(self, name, value)
        elif type(self).model_config.get("frozen"):
            raise _full().frozen(type(self), name, value)
        else:
            _full().validator(type(self)).validate_assignment(self, name, value)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented if not isinstance(other, BaseModel) else False
        assert isinstance(other, BaseModel)
        return self._values() == other._values() and self._private() == other._private()

    def __hash__(self) -> int:
        if not type(self).model_config.get("frozen"):
            raise TypeError(f"unhashable type: {type(self).__name__!r}")
        return hash((type(self), *self._values().values()))

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self._values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self)})"

    def __str__(self) -> str:
        return " ".join(f"{name}={value!r}" for name, value in self)

    def _values(self) -> dict[str, Any]:
        values = self.__dict__
        fields = type(self).model_fields
        return values if len(values) == len(fields) else {name: values[name] for name in fields if name in values}

    def _private(self) -> dict[str, Any]:
        return getattr(self, "__pydantic_private__", None) or {}


def _full() -> Any:
    """Return what needs pydantic."""
    from scalegraph.base.models import full

    return full
