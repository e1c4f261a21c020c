"""The declared values of a request as they are typed: how each is read and shown, and what a new form begins with.

All of it follows from `base.asked`: a value that is declared has its place in the form without another edit.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pydantic import BaseModel

from scalegraph.base.asked import Declared, every
from scalegraph.base.units import as_read
from scalegraph.gui.request import text
from scalegraph.request.model.axes import AXES
from scalegraph.request.model.defaults import OWN_MACHINE, OWN_PROCESSORS
from scalegraph.request.model.prediction import read_sizes, sizes_text
from scalegraph.request.model.request import Request

# Edited elsewhere: a bound in a row of its own, changes in the What if panel, commands on their page.
_ELSEWHERE: Final = ("bound.", "what_if.", "speedups.")
_PREFIXED: Final = ("trace", "predict", "space")  # groups whose attributes begin with their name
_NAMES: Final = {"machine.path": "machine_path", "target.settings": "target_settings"}


@dataclass(frozen=True)
class Typed:
    """A declared value in the form: its *attribute* there, and what a new form shows.

    *read* turns the typed text into the value, or raises `ValueError`; *show* does the reverse. For a table of
    names and values, both handle a single value.
    """

    said: Declared
    attribute: str
    usual: Any
    read: Callable[[Any], Any]
    show: Callable[[Any], Any]

    @property
    def key(self) -> str:
        """The key in the request file."""
        return self.said.key


def _kept(value: Any) -> Any:
    return value


def _stripped(typed: str) -> str:
    return typed.strip()


def given(typed: str) -> str:
    """Return what is typed; raise `ValueError` if that is nothing."""
    if not typed.strip():
        raise ValueError("a value was expected")
    return typed.strip()


def read_number(said: Declared, typed: str) -> Any:
    """Return the number typed for a value; an empty text means the default, if the editor shows one."""
    typed = typed.strip()
    if not typed and said.hint:
        return said.default
    if said.unit in ("B", "s"):
        return (text.size if said.unit == "B" else text.duration)(typed)
    typed = typed.removesuffix("%") if said.unit == "%" else typed
    return (text.whole if said.whole else text.real)(typed, said.expected())


def _number_text(said: Declared, value: Any) -> str:
    if value == said.default and said.hint:
        return ""
    if said.unit in ("B", "s"):
        return text.size_text(value) if said.unit == "B" else text.duration_text(value)
    shown = str(value) if said.whole else as_read(value)
    return f"{shown} %" if said.unit == "%" else shown


def _read_counts(said: Declared, typed: str) -> tuple[int, ...]:
    if not typed.strip() and not said.default:
        return ()
    return text.processors(typed) if said.unit == "processors" else text.numbers(typed, said.span(), said.hint)


def _joined(items: Sequence[Any]) -> str:
    return ", ".join(map(str, items))


def _schedules(names: Sequence[str]) -> str:
    return ("; " if any("," in name or "=" in name for name in names) else ", ").join(names)


def _flags(sets: Sequence[str]) -> str:
    return "; ".join(shlex.join(shlex.split(one)) for one in sets)


def _words(items: tuple[str, ...] | None) -> str:
    return text.words_text(items or ())


_Pair = tuple[Callable[[Any], Any], Callable[[Any], Any]]
# How to read and show values that have a notation of their own.
_OWN: Final[dict[str, _Pair]] = {
    "parameters": (text.values, text.values_text),
    "scaling.grow": (given, _kept),
    "machine.overrides": (given, _kept),
    "program.sources": (_kept, _kept),
    **dict.fromkeys(("program.stdin", "program.directory", "program.cwd", "machine.path"), (_kept, _kept)),
    "program.args": (text.words, _words),
    "schedule": (lambda typed: typed.replace(" ", ""), _kept),
    "schedules.compare": (_kept, _schedules),
    "predict.at": (read_sizes, lambda sizes: sizes_text(sizes or {})),
    **{f"space.{axis}": (partial(text.items, axis=axis), _joined) for axis in AXES},
    "space.schedule": (partial(text.items, axis="schedule"), _schedules),
    "space.cflags": (partial(text.items, axis="cflags"), _flags),
}
_USUAL: Final = {"machine.name": OWN_MACHINE, "processors": text.processors_text(OWN_PROCESSORS), "verify": True}


def _pair(said: Declared) -> _Pair:
    """Return how a value is read and shown: by its type, unless it has a notation of its own."""
    default = said.default
    if said.key in _OWN:
        return _OWN[said.key]
    if isinstance(default, bool) or (isinstance(default, tuple) and said.choices):
        return _kept, _kept
    if isinstance(default, int | float):
        return partial(read_number, said), partial(_number_text, said)
    if isinstance(default, tuple):
        return (partial(_read_counts, said), _joined) if said.whole else (text.words, _words)
    return (str, str) if isinstance(default, dict) else (_stripped, str)


def _attribute(key: str) -> str:
    group, _, name = key.rpartition(".")
    if group in _PREFIXED:
        return f"{group}_{name}"
    return _NAMES.get(key) or (group if name == "name" else name)


def _declared() -> Iterator[Typed]:
    known = dict(every(Request))
    tables = {key.partition(".")[0] for key in known if "." in key}  # their values are declared themselves
    for key, said in known.items():
        if said is None or key in tables or key.startswith(_ELSEWHERE) or (said.option and said.option.only):
            continue
        read, show = _pair(said)
        usual = () if isinstance(said.default, dict) else show(said.default)
        yield Typed(said, _attribute(key), _USUAL.get(key, usual), read, show)


DECLARED: Final = tuple(_declared())
BY_KEY: Final = {one.key: one for one in DECLARED}


def value_of(request: BaseModel, key: str) -> Any:
    """Return the value of *request* at *key*; None if the table with it is missing."""
    found: Any = request
    for name in key.split("."):
        found = getattr(found, name, None)
    return found
