"""Options named in messages about measurements, in the form that the command accepts."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from scalegraph.base.errors import Fault, InputError
from scalegraph.cli.places import as_argument

# an option of `scalegraph import` and what follows it, quoted or one word
_SWITCH: Final = re.compile(
    r"(?<![\w-])--([a-z][a-z-]+)(?: (?=['\"A-Z.a-z0-9,])('[^']*'|\"[^\"]*\"|,|[\w.*=:]+(?:,[\w.*=:]+)*))?"
)
# options without argument
_VERBS: Final = frozenset({"says", "names", "keeps", "another", "or", "if", "for", "to", "and"})
_IMPORT: Final = "scalegraph import "


def worded(text: str, own: Collection[str], mapped: Collection[str], path: Path | None = None) -> str:
    """Return *text* with the options of `scalegraph import` as the command accepts them.

    Those in *own* stay; those in *mapped* become ``--mapping KEY=VALUE``; for others `scalegraph import` is named, with
    the file *path*.
    """
    file = f"{as_argument(path)} " if path is not None else ""

    def one(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if name in own or name == "mapping" or text[: found.start()].endswith(_IMPORT):
            return found[0]
        if name not in mapped:
            return f"{_IMPORT}{file}{found[0]}"
        if value is None or value in _VERBS:
            return f"--mapping {name}" + (f" {value}" if value else "")
        return f"--mapping {name}={value}"

    return _SWITCH.sub(one, text)


def taken(command: click.Command, marks: object) -> frozenset[str]:
    """Return the names of the options of *command* with the callback *marks*, which mean the same as `import`'s."""
    return frozenset(str(option.name) for option in command.params if option.callback is marks)


def faults(error: InputError, own: Collection[str], mapped: Collection[str], path: Path) -> InputError:
    """Return *error* about *path* with its faults reworded by `worded`."""
    return InputError([_fault(one, own, mapped, path) for one in error.faults])


def _fault(fault: Fault, own: Collection[str], mapped: Collection[str], path: Path) -> Fault:
    return replace(fault, message=worded(fault.message, own, mapped, path), key=worded(fault.key, own, mapped))
