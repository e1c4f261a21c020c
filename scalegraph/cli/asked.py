"""Options for values of a request: name, help, range and default come from the declaration of the value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from scalegraph.base import amounts
from scalegraph.base.asked import Declared, declared
from scalegraph.request.model.request import Request
from scalegraph.request.model.values import request_value

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Amount(click.ParamType[float]):
    """A number in the declared range of *value*; sizes and times with any unit: ``512M``, ``10min``."""

    name = "amount"

    def __init__(self, value: Declared) -> None:
        self._value = value

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return *value* as a number, sizes in bytes and times in seconds."""
        said = self._value
        if isinstance(value, int | float):
            return value
        try:
            number = self._read(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        low = said.least is not None and (number <= said.least if said.above else number < said.least)
        high = said.most is not None and (number >= said.most if said.below else number > said.most)
        if low or high or number != number:
            self.fail(said.refusal(value), param, ctx)
        return number

    def _read(self, text: str) -> float:
        if self._value.unit in ("B", "s"):
            return amounts.size(text) if self._value.unit == "B" else amounts.duration(text)
        try:
            plain = text.strip().removesuffix("%") if self._value.unit == "%" else text
            return int(plain) if self._value.whole else float(plain)
        except ValueError:
            raise ValueError(f"{self._value.expected()} was expected, got '{text}'") from None


def flag_of(key: str) -> str:
    """Return the option for the request's value *key*, "" if there is none."""
    found = declared(Request, key)
    return "" if found is None or found.option is None else found.option.flag


def request_option(key: str, name: str = "", **more: Any) -> Callable[[_Command], _Command]:
    """Return the option for the request's value *key*; *name* is the parameter's, *more* is passed to click."""
    value = request_value(key)
    said = value.option
    assert said is not None, key
    settings: dict[str, Any] = {"help": value.option_help(), "multiple": said.repeat, **_kind(value), **more}
    if said.metavar:
        settings["metavar"] = said.metavar
    return click.option(*said.names, *filter(None, (name,)), **settings)


def _kind(value: Declared) -> dict[str, Any]:
    """Return the click arguments for parsing the value: a switch, a choice, a number in its range, or text."""
    if isinstance(value.default, bool):
        return {"is_flag": True}
    if isinstance(value.default, str):
        choices = {"type": click.Choice(list(value.choices))} if value.choices else {}
        return {"default": value.default, **choices}
    if isinstance(value.default, int | float):
        return {"default": value.default, "type": Amount(value)}
    return {}
