"""Switches named in messages about measurements, in the form that the command accepts."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Final

import click

from scalegraph.base.errors import Fault, InputError

# a switch of `scalegraph import` and what follows it, quoted or one word
_SWITCH: Final = re.compile(r"(?<![\w-])--([a-z][a-z-]+)(?: (?=['\"A-Z.a-z])('[^']*'|\"[^\"]*\"|[\w.*=]+))?")
_VERBS: Final = frozenset({"says", "names", "keeps", "another", "or", "if", "for", "to", "and"})  # no arguments
_IMPORT: Final = "scalegraph import "


def worded(text: str, own: Collection[str], mapped: Collection[str]) -> str:
    """Return *text* with the switches of `scalegraph import` as a command takes them.

    Those among *own* stay; of those among *mapped* it becomes ``--mapping KEY=VALUE``; others name `scalegraph import`.
    """

    def one(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if name in own or name == "mapping" or text[: found.start()].endswith(_IMPORT):
            return found[0]
        if name not in mapped:
            return f"{_IMPORT}{found[0]}"
        if value is None or value in _VERBS:
            return f"--mapping {name}" + (f" {value}" if value else "")
        return f"--mapping {name}={value}"

    return _SWITCH.sub(one, text)


def taken(command: click.Command, marks: object) -> frozenset[str]:
    """Return the names of the options of *command* whose callback is *marks*: those with the meaning of `import`'s."""
    return frozenset(str(option.name) for option in command.params if option.callback is marks)


def faults(error: InputError, own: Collection[str], mapped: Collection[str]) -> InputError:
    """Return *error* with its faults as `worded` says them."""
    return InputError([_fault(one, own, mapped) for one in error.faults])


def _fault(fault: Fault, own: Collection[str], mapped: Collection[str]) -> Fault:
    return replace(fault, message=worded(fault.message, own, mapped), key=worded(fault.key, own, mapped))
