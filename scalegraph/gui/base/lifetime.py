"""Connections and callbacks that end with their receiver: what lasts longer may not call what is gone."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject
from shiboken6 import isValid


def tied(receiver: QObject, act: Callable[..., object]) -> Callable[..., None]:
    """Return a function that calls *act*, a lambda or closure over *receiver*, until *receiver* is deleted.

    Connected to a signal it is disconnected by Qt when *receiver* goes; as a callback of a job it does nothing from
    then on. A lambda that is connected by itself would live as long as the sender. A bound method of a `QObject` needs
    none of this: Qt disconnects it. A value that a signal may leave out (whether a button is checked) is not passed.
    """
    return _Tie(receiver, act).call


class _Tie(QObject):
    """A child of the receiver, so that it goes with it."""

    def __init__(self, receiver: QObject, act: Callable[..., object]) -> None:
        super().__init__(receiver)
        self._receiver = weakref.ref(receiver)
        self._act = act

    def call(self, *values: Any) -> None:
        """Do it, unless the receiver is gone, or going: what it holds says a last word while it is taken apart."""
        receiver = self._receiver()
        if receiver is not None and isValid(receiver) and isValid(self):
            self._act(*values)
