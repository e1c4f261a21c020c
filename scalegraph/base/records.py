"""Data classes that get their methods when the first instance is made: most commands use few of all that are declared.

`dataclass` means what that of `dataclasses` means, whose functions take these classes, too. To write and compile the
methods of a class takes half a millisecond.
"""

from __future__ import annotations

import dataclasses
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """Make *cls* a data class with these *options*, except ``slots``, which needs another class."""
        return (lambda made: _declare(made, options)) if cls is None else _declare(cls, options)


_LOCK = RLock()


class _New:
    """Stands for a default that is made for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


class _Fields:
    """Stands for ``__dataclass_fields__`` of a class, which makes it a data class when it is read."""

    def __init__(self, cls: type, options: dict[str, Any]) -> None:
        self._cls = cls
        self._options = options

    def __get__(self, _instance: object, _owner: type) -> Any:
        return self.complete().__dataclass_fields__

    def complete(self) -> Any:
        """Return the class with all its methods; instances that other threads make wait for it in ``__init__``."""
        made: Any = self._cls
        with _LOCK:
            if vars(made).get("__dataclass_fields__") is self:
                dataclasses.dataclass(made, **{**self._options, "init": False})
                made.__init__ = _initialiser(made)
                del made.__setstate__
        return made


def _initialiser(cls: Any) -> Any:
    """Return the ``__init__`` of a data class that has all other methods: it must be there at once, in one piece."""
    known: dict[str, Any] = {"_NEW": _New()}
    plain, named, body = ["self"], list[str](), list[str]()
    for one in dataclasses.fields(cls):
        is_made, name = one.default_factory is not dataclasses.MISSING, one.name
        known[f"_default_{name}"] = one.default_factory if is_made else one.default
        value = f"_default_{name}()" if is_made else name
        if one.init:
            usual = f"{name}=_NEW" if is_made else f"{name}=_default_{name}"
            required = not is_made and one.default is dataclasses.MISSING
            (named if one.kw_only else plain).append(name if required else usual)
            value = f"{value} if {name} is _NEW else {name}" if is_made else name
        if one.init or is_made:
            body.append(f"self.__dict__[{name!r}] = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    head = ", ".join([*plain, *(["*", *named] if named else [])])
    exec(f"def __init__({head}):\n " + "\n ".join(body or ["pass"]), known)
    made = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {**{one.name: one.type for one in dataclasses.fields(cls) if one.init}, "return": None}
    return made


def _declare(cls: type, options: dict[str, Any]) -> type:
    if "__init__" in vars(cls) or "__setstate__" in vars(cls) or options.keys() & {"slots", "init"}:
        return dataclasses.dataclass(cls, **options)
    fields = _Fields(cls, options)

    def __init__(self: Any, *values: Any, **named: Any) -> None:  # noqa: N807 - of the class
        fields.complete().__init__(self, *values, **named)

    def __setstate__(self: Any, state: dict[str, Any]) -> None:  # noqa: N807 - the first instance is an unpickled one
        fields.complete()
        self.__dict__.update(state)

    for name, value in (("__dataclass_fields__", fields), ("__init__", __init__), ("__setstate__", __setstate__)):
        setattr(cls, name, value)
    return cls


__all__ = ["dataclass"]
