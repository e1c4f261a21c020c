"""Makes command line options from the declared values of a request, and request data from the options given."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from scalegraph.base import amounts, toml
from scalegraph.base.asked import Declared, Option, declared, every
from scalegraph.base.errors import Fault, InputError
from scalegraph.cli.pairs import pairs
from scalegraph.request.model.request import Request
from scalegraph.request.model.values import request_value

_Command = TypeVar("_Command", bound=Callable[..., Any])
# Parts of a request whose options come first in the help.
_FIRST: Final = ("parameters", "program", "machine", "processors")
_APART: Final = ("trace.",)  # `cli.tracing` has these options


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


def parameter(key: str) -> str:
    """Return the name under which a command gets the option for the request's value *key*."""
    return key.replace(".", "_")


def request_option(key: str, **more: Any) -> Callable[[_Command], _Command]:
    """Return the option for the request's value *key*; *more* is passed to click."""
    value = request_value(key)
    said = value.option
    assert said is not None, key
    if said.switches:
        return partial(_switched, key, said)
    settings: dict[str, Any] = {"help": value.option_help(), "multiple": said.repeat, **_kind(value), **more}
    if said.metavar:
        settings.setdefault("metavar", said.metavar)
    return click.option(*said.names, parameter(key), **settings)


def _switched(key: str, said: Option, command: _Command) -> _Command:
    """Add a switch for each choice of the value *key* that has one; refuse two of them."""
    name = parameter(key)

    def chosen(ctx: click.Context, given: click.Parameter, on: bool) -> None:
        value = next(choice for choice, flag in said.switches.items() if flag in given.opts)
        before = ctx.params.get(name)
        if on and before is not None:
            raise click.UsageError(" and ".join(said.switches.values()) + " were given; expected one of them", ctx)
        ctx.params[name] = value if on else before

    for choice, flag in reversed(list(said.switches.items())):
        text = f"{said.values[choice]}."
        command = click.option(flag, is_flag=True, expose_value=False, callback=chosen, help=text)(command)
    return command


def sampled(request: Request, given: str | None) -> Request:
    """Return *request* with the sampling that an option asks for instead of its own, if one was *given*.

    Raises `InputError` if it contradicts the request.
    """
    if given is None:
        return request
    data = request.model_dump(mode="json", exclude_defaults=True)
    asked = toml.validate(Request, {**data, "collect": {**data.get("collect", {}), "sample": given}}, "")
    return asked.with_origin(request.origin)


def option_keys(only: str = "", part: str = "") -> list[str]:
    """Return the keys of a request's values that have an option, in the order of the help.

    *only*: those of that one command; *part*: those of a part of the request with options of its own, ``trace.``.
    """
    known = [key for key, said in every(Request) if said is not None and said.option and said.option.only == only]
    known = [key for key in known if (key.startswith(part) if part else not key.startswith(_APART))]
    return sorted(known, key=lambda key: (*_FIRST, key.partition(".")[0]).index(key.partition(".")[0]))


def request_options(own: Mapping[str, Mapping[str, Any]], only: str = "") -> Callable[[_Command], _Command]:
    """Return the options of `option_keys`; *own*: further arguments for click, by key."""
    known = option_keys(only)

    def decorate(command: _Command) -> _Command:
        for key in reversed(known):
            command = request_option(key, **own.get(key, {}))(command)
        return command

    return decorate


def request_data(given: Mapping[str, Any], faults: list[Fault]) -> dict[str, Any]:
    """Return the values in *given* (by parameter) as a nested dictionary, structured like a request file.

    Errors in them are added to *faults*.
    """
    data: dict[str, Any] = {}
    for key, said in every(Request):
        raw = given.get(parameter(key))
        if said is None or said.option is None or raw is None:
            continue
        try:
            value = _value(said, said.option.flag, raw)
        except InputError as error:
            faults.extend(error.faults)
            continue
        *groups, name = key.split(".")
        here = data
        for group in groups:
            here = here.setdefault(group, {})
        here[name] = value
    return data


def _value(said: Declared, flag: str, raw: Any) -> Any:
    """Return the value of an option as a request file would write it."""
    if isinstance(said.default, bool):
        return bool(raw)
    if isinstance(said.default, dict):
        return pairs(flag, raw)
    if isinstance(said.default, tuple) and isinstance(raw, str):
        return words(flag, raw)
    return str(raw) if isinstance(raw, Path) else raw


def words(flag: str, text: str) -> tuple[str, ...]:
    """Return *text* split as a shell does; raise `InputError` naming the option *flag* if that is impossible."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(Fault(f"cannot be split into words ({str(error).lower()}): {text}", key=flag)) from error


def _kind(value: Declared) -> dict[str, Any]:
    """Return the click arguments for parsing the value: a switch, a choice, a number in its range, or text."""
    if isinstance(value.default, bool):
        off = {"callback": lambda _ctx, _parameter, given: not given} if value.default else {}
        return {"is_flag": True, **off}
    if isinstance(value.default, str):
        choices = {"type": click.Choice(list(value.choices))} if value.choices else {}
        return {"default": value.default, **choices}
    if isinstance(value.default, int | float):
        return {"default": value.default, "type": Amount(value)}
    if value.option is not None and value.option.repeat and isinstance(value.default, tuple) and value.whole:
        return {"type": Amount(value)}
    return {}
