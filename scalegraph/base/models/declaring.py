"""What a model declares: its fields with their rules and defaults, and functions that check them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, get_args, get_origin


class _Unset:
    def __repr__(self) -> str:
        return "PydanticUndefined"


UNSET: Final = _Unset()
_EVALUATED: Final[dict[str, dict[str, Any]]] = {}  # module -> text of an annotation -> what it names
# What `Field` takes that is no rule of the value.
_ABOUT: Final = ("description", "json_schema_extra", "exclude", "validation_alias", "serialization_alias")


class Rule:
    """One rule of a field, as the attribute of its name: ``rule.ge``."""

    def __init__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value


class AliasChoices(NamedTuple):
    """Names that a value may have in data; the first that is there counts."""

    first: str
    second: str


class FieldInfo:
    """A field of a model, with the attributes of pydantic's class of the same name that are used here."""

    annotation: Any

    def __init__(self, default: Any, default_factory: Callable[[], Any] | None, given: Mapping[str, Any]) -> None:
        self.default = default
        self.default_factory = default_factory
        self.given = given  # as it was declared, for pydantic
        self.metadata: list[Any] = [Rule(name, value) for name, value in given.items() if name not in _ABOUT]
        self.description: str | None = given.get("description")
        self.json_schema_extra: dict[str, Any] | None = given.get("json_schema_extra")
        self.exclude: bool | None = given.get("exclude")
        self.validation_alias: AliasChoices | None = given.get("validation_alias")
        self.serialization_alias: str | None = given.get("serialization_alias")

    def is_required(self) -> bool:
        """Whether there is no default."""
        return self.default is UNSET and self.default_factory is None

    def get_default(self, *, call_default_factory: bool = False) -> Any:
        """Return the default, a new one of what can change; `UNSET` if there is none."""
        if self.default_factory is not None:
            return self.default_factory() if call_default_factory else None
        try:
            hash(self.default)
        except TypeError:
            return deepcopy(self.default)
        return self.default

    def of(self, annotation: Any) -> FieldInfo:
        """Return the field with its type; what an annotation says besides comes before its own rules."""
        made = copy(self)
        made.annotation, rules = parted(annotation)
        made.metadata = [*rules, *self.metadata]
        return made


def parted(annotation: Any) -> tuple[Any, list[Any]]:
    """Return the type that an annotation names, and the rules that it adds."""
    rules: list[Any] = []
    while get_origin(annotation) is Annotated:
        annotation, *notes = get_args(annotation)
        rules[:0] = [rule for note in notes for rule in (note.metadata if isinstance(note, FieldInfo) else (note,))]
    return annotation, rules


def Field(default: Any = UNSET, *, default_factory: Callable[[], Any] | None = None, **given: Any) -> Any:
    """Declare a field, as pydantic's function of the same name does."""
    return FieldInfo(default, default_factory, given)


class PrivateAttr:
    """A value of an instance that is no field; copies keep it."""

    def __init__(self, *, default: Any) -> None:
        self.default = default

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, _owner: type) -> Any:
        kept = None if instance is None else getattr(instance, "__pydantic_private__", None)
        return (kept or {}).get(self._name, self.default)

    def __set__(self, instance: Any, value: Any) -> None:
        kept = getattr(instance, "__pydantic_private__", None) or {}
        object.__setattr__(instance, "__pydantic_private__", {**kept, self._name: value})


class FieldCheck(NamedTuple):
    """A function of a model that checks or changes *fields*, before or after their types are checked."""

    fields: tuple[str, ...]
    mode: Literal["before", "after"]
    function: classmethod[Any, Any, Any]


class ModelCheck(NamedTuple):
    """A function of a model that checks an instance as a whole."""

    function: Callable[[Any], Any]


def field_validator(
    *fields: str, mode: Literal["before", "after"] = "after"
) -> Callable[[classmethod[Any, Any, Any]], FieldCheck]:
    """Make a class method a check of *fields*."""
    return lambda function: FieldCheck(fields, mode, function)


def model_validator(*, mode: Literal["after"]) -> Callable[[Callable[[Any], Any]], ModelCheck]:
    """Make a method a check of whole instances."""
    assert mode == "after", mode
    return ModelCheck


def evaluated(annotation: Any, owner: type) -> Any:
    """Return an annotation of the class *owner* as what it names."""
    if not isinstance(annotation, str):
        return annotation
    known = _EVALUATED.setdefault(owner.__module__, {})
    if annotation not in known:
        known[annotation] = eval(annotation, vars(sys.modules[owner.__module__]), {owner.__name__: owner})
    return known[annotation]


def is_class_variable(annotation: Any) -> bool:
    """Whether an annotation is that of a value of the class."""
    if isinstance(annotation, str):
        return annotation.startswith("ClassVar")
    return annotation is ClassVar or get_origin(annotation) is ClassVar
