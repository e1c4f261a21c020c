"""Keeps the program running when a method that Qt calls raises an exception: the window then says what happened.

Python 3.11 keeps what C code throws (an object of Qt's is gone, a list is too short) as a class and a text until some
handler examines it. PySide (6.9 to 6.12) takes it for an exception object when a method of Qt's that Python has
overridden fails inside another call, and the program ends with a segmentation fault. Python 3.12 keeps objects only.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeVar

T = TypeVar("T")
_PLAIN_FROM: Final = (3, 12)
_CALLED_BY_QT: Final = frozenset(  # besides all that end in "Event"
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
        "sizeHint",
        "stepEnabled",
        "validate",
    }
)


def install() -> None:
    """Give the overrides of every class below `QObject` that is defined from now on a handler, where one is needed."""
    if sys.version_info >= _PLAIN_FROM:
        return
    try:
        from PySide6.QtCore import QObject
    except ImportError:
        return  # the caller reports it in a sentence

    def defined(cls: type, /, **more: Any) -> None:
        super(QObject, cls).__init_subclass__(**more)  # type: ignore[misc]
        handle(cls)

    QObject.__init_subclass__ = classmethod(defined)  # type: ignore[assignment,method-assign]


def handle(cls: type) -> None:
    """Put a handler around every method of *cls* that Qt calls."""
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
