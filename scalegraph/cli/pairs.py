"""Repeatable options of the form ``KEY=VALUE``."""

from __future__ import annotations

from collections.abc import Sequence

from scalegraph.base.errors import Fault, InputError


def pairs(option: str, words: Sequence[str], form: str = "KEY=VALUE", *, last: bool = False) -> dict[str, str]:
    """Return the *words* of *option* as a mapping; equals signs belong to the key with *last*, otherwise to the value.

    Raises `InputError` with every word not of that *form*, and every key with two values.
    """
    faults = []
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.rpartition("=") if last else word.partition("=")
        if not equals:
            faults.append(Fault(f"'{word}': expected {form}", key=option))
        elif not key:
            faults.append(Fault(f"'{word}': what stands before the '=' is missing; expected {form}", key=option))
        elif found.setdefault(key, value) != value:
            faults.append(Fault(f"'{key}' was given twice, as '{found[key]}' and as '{value}'", key=option))
    if faults:
        raise InputError(faults)
    return found
