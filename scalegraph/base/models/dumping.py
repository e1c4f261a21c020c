"""The values of models as dictionaries, without pydantic, where all of them are plain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scalegraph.base.models.declaring import FieldInfo
    from scalegraph.base.models.model import BaseModel

_OPTIONS: Final = frozenset({"mode", "include", "exclude", "exclude_defaults", "by_alias"})
_SAME: Final = (bool, int, type(None))


class _NotPlain(Exception):  # noqa: N818 - no error: pydantic writes it
    pass


def dumped(model: BaseModel, wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what pydantic's ``model_dump(**wanted)`` would; None where that is left to it."""
    picked = [wanted.get(name) for name in ("include", "exclude")]
    mode = wanted.get("mode", "python")
    if not wanted.keys() <= _OPTIONS or mode not in ("python", "json") or not all(map(_is_names, picked)):
        return None
    writer = _Writer(
        as_json=mode == "json",
        exclude_defaults=bool(wanted.get("exclude_defaults")),
        by_alias=bool(wanted.get("by_alias")),
    )
    try:
        return writer.model(model, *picked)
    except _NotPlain:
        return None


def _is_names(given: Any) -> bool:
    return given is None or isinstance(given, set | frozenset)


def _is_default(value: Any, info: FieldInfo) -> bool:
    return not info.is_required() and bool(value == info.get_default(call_default_factory=True))


class _Writer:
    def __init__(self, *, as_json: bool, exclude_defaults: bool, by_alias: bool) -> None:
        self._json = as_json
        self._exclude_defaults = exclude_defaults
        self._by_alias = by_alias

    def model(self, model: BaseModel, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return the fields of *model* that are wanted."""
        if model.model_config.get("extra") == "allow":
            raise _NotPlain
        made, values = {}, model.__dict__
        for name, info in type(model).model_fields.items():
            if (include is not None and name not in include) or (exclude is not None and name in exclude):
                continue
            if info.exclude or name not in values:
                raise _NotPlain
            value = values[name]
            if self._exclude_defaults and _is_default(value, info):
                continue
            alias = info.serialization_alias if self._by_alias else None
            made[alias or name] = self.value(value)
        return made

    def value(self, value: Any) -> Any:
        """Return one value."""
        kind = type(value)
        if kind in _SAME:
            return value
        if kind is str:
            if self._json and not value.isascii() and value != value.encode("utf-8", "replace").decode():
                raise _NotPlain
            return value
        if kind is float:
            if self._json and not math.isfinite(value):
                raise _NotPlain
            return value
        if kind is tuple or kind is list:
            items = map(self.value, value)
            return tuple(items) if kind is tuple and not self._json else list(items)
        if kind is dict:
            if set(map(type, value)) - {str}:
                raise _NotPlain
            return {self.value(key): self.value(item) for key, item in value.items()}
        if hasattr(kind, "__own_fields__"):
            return self.model(value)
        raise _NotPlain
