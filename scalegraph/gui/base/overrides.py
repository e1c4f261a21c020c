"""Keeps the program running when a method that Qt calls raises: the window reports the exception.

Python 3.11 keeps an exception from C code (a deleted Qt object, an index out of range) as a class and a text until a
handler looks at it. If an overridden Qt method fails inside another call, PySide (6.9 to 6.12) takes that for an
exception object and the program ends with a segmentation fault. Python 3.12 always keeps objects.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeVar

T = TypeVar("T")
_PLAIN_FROM: Final = (3, 12)
_CALLED_BY_QT: Final = frozenset(  # in addition to all names that end in "Event"
    {
        "boundingRect",
        "columnCount",
        "data",
        "event",
        "eventFilter",
        "fixup",
        "flags",
        "hasChildren",
        "headerData",
        "heightForWidth",
        "highlightBlock",
        "index",
        "initStyleOption",
        "itemChange",
        "minimumSizeHint",
        "paint",
        "paintGL",
        "paintSection",
        "parent",
        "rowCount",
        "shape",
        "showPopup",
        "sizeHint",
        "stepEnabled",
        "validate",
    }
)


def install() -> None:
    """From now on wrap the overrides of each new subclass of `QObject` in a handler, where needed."""
    if sys.version_info >= _PLAIN_FROM:
        return
    try:
        from PySide6.QtCore import QObject
    except ImportError:
        return  # the caller reports it

    def defined(cls: type, /, **more: Any) -> None:
        super(QObject, cls).__init_subclass__(**more)  # type: ignore[misc]
        handle(cls)

    QObject.__init_subclass__ = classmethod(defined)  # type: ignore[assignment,method-assign]


def handle(cls: type) -> None:
    """Wrap every method of *cls* that Qt calls in a handler."""
    for name, method in list(vars(cls).items()):
        if isinstance(method, FunctionType) and (name.endswith("Event") or name in _CALLED_BY_QT):
            setattr(cls, name, _handled(method))


def _handled(method: Callable[..., T]) -> Callable[..., T]:
    @functools.wraps(method)
    def call(*values: Any, **named: Any) -> T:
        try:
            return method(*values, **named)
        except BaseException:  # noqa: TRY203 - its handler has Python make an object of it
            raise

    return call
