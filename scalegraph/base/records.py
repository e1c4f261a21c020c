"""Data classes that get their methods when the first instance is made: most commands use few of all that are declared.

`dataclass` means what that of `dataclasses` means, whose functions take these classes, too. To write and compile the
methods of a class takes half a millisecond.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """Make *cls* a data class with these *options*, except ``slots``, which needs another class."""
        return (lambda made: _declare(made, options)) if cls is None else _declare(cls, options)


class _Fields:
    """Stands for ``__dataclass_fields__`` of a class, which makes it a data class when it is read."""

    def __init__(self, cls: type, options: dict[str, Any]) -> None:
        self._cls = cls
        self._options = options

    def __get__(self, _instance: object, _owner: type) -> Any:
        return self.complete().__dataclass_fields__

    def complete(self) -> Any:
        """Return the class with all its methods."""
        if vars(self._cls).get("__dataclass_fields__") is self:
            for name in ("__dataclass_fields__", "__init__", "__setstate__"):
                delattr(self._cls, name)
            dataclasses.dataclass(self._cls, **self._options)
        return self._cls


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
