"""Connections and callbacks that end with their receiver, so that longer-lived senders never call a deleted object."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject
from shiboken6 import isValid


def tied(receiver: QObject, act: Callable[..., object]) -> Callable[..., None]:
    """Return a function that calls *act*, a lambda or closure over *receiver*, until *receiver* is deleted.

    Qt disconnects it from a signal when *receiver* is deleted; as a job's callback it does nothing from then on. A
    plain lambda would live as long as the sender. A bound method of a `QObject` needs none of this: Qt disconnects it.
    Optional arguments of a signal (such as a button's checked state) are not passed.
    """
    return _Tie(receiver, act).call


class _Tie(QObject):
    """A child of the receiver, so that it is deleted with it."""

    def __init__(self, receiver: QObject, act: Callable[..., object]) -> None:
        super().__init__(receiver)
        self._receiver = weakref.ref(receiver)
        self._act = act

    def call(self, *values: Any) -> None:
        """Call the function, unless the receiver is deleted or being deleted: its children still emit signals then."""
        receiver = self._receiver()
        if receiver is not None and isValid(receiver) and isValid(self):
            self._act(*values)
