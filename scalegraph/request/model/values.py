"""Declarations of a request's values, by their keys in the request file."""

from __future__ import annotations

from scalegraph.base.asked import Declared, declared
from scalegraph.request.model.request import Request


def request_value(key: str) -> Declared:
    """Return the declaration of the request's value *key* (``limits.time_s``); raise `KeyError` if there is none."""
    found = declared(Request, key)
    if found is None:
        raise KeyError(key)
    return found
