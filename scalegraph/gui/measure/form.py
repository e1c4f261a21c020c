"""The fields of the page that measures a command, converted to a request or to errors by field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scalegraph.base import toml
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.patterns import pattern
from scalegraph.base.units import as_read
from scalegraph.gui.request import text
from scalegraph.link.commands import words
from scalegraph.link.targets import targets
from scalegraph.request.model.commands import UNNAMED, grown
from scalegraph.request.model.origin import HERE, Origin
from scalegraph.request.model.request import Request
from scalegraph.request.model.values import request_value

USUAL_REPETITIONS: Final = "5"
_SPLIT: Final = pattern(r"\((.*)\) / [\d.e+-]+")


def _usual(key: str) -> str:
    return request_value(key).default_text()


@dataclass(frozen=True)
class CommandForm:
    """All fields as typed; *target* and *settings* say where the command runs."""

    command: str = ""
    shell: bool = False
    stacks: bool = False
    processors: str = "1, 2, 4"
    repetitions: str = USUAL_REPETITIONS
    until: str = ""
    time_from: str = ""
    rate_from: str = ""
    grow: str = ""
    parameters: str = ""
    directory: str = ""
    target: str = "host"
    settings: str = ""
    pin: str = "close"
    time_s: str = _usual("limits.time_s")
    origin: Origin = HERE  # where the command was loaded from


def what_n_sets(form: CommandForm) -> str:
    """Return one sentence on what N changes in the command, and on the processors of each run."""
    found = [name for name in dict.fromkeys(words.names(form.command)) if name in words.COUNTS]
    if not form.command.strip():
        return "{N} stands for the count; {processes}, {threads} and {nodes} for numbers derived from it."
    if not found:
        return f"{UNNAMED[0].upper()}{UNNAMED[1:]}. Write {{N}} where the count belongs."
    listed = " and ".join(f"{{{name}}}" for name in found)
    return f"N sets {listed} in the command, and the processors that it may use."


def read(form: CommandForm) -> tuple[Request | None, list[Fault]]:
    """Return *form*'s request, or None and the errors; their keys are those of the request."""
    faults: list[Fault] = []

    def take(key: str, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except ValueError as error:
            faults.append(Fault(str(error), key=key))
            return None

    if not form.command.strip():
        return None, [Fault("a command was expected", key="program.command")]
    counts = take("processors", lambda: text.processors(form.processors))
    base, factors = take("scaling.grow", lambda: grown(_pairs(form.grow))) or ({}, {})
    parameters = take(
        "parameters", lambda: {name: text.values(value) for name, value in _pairs(form.parameters).items()}
    )
    settings = take("target.settings", lambda: _pairs(form.settings))
    repetitions = take("repetitions", lambda: text.whole(form.repetitions, "a whole number of runs"))
    until = take("target.until", lambda: _percent(form.until))
    limit = take("limits.time_s", lambda: text.duration(form.time_s))
    if faults:
        return None, faults
    data = {
        "program": {
            "command": form.command.strip(),
            "shell": form.shell,
            "stacks": form.stacks,
            "time_from": form.time_from.strip(),
            "rate_from": form.rate_from.strip(),
            "directory": form.directory.strip() or str(Path.cwd()),
        },
        "parameters": {**parameters, **base},
        "scaling": {"grow": factors},
        "bound": [{"kind": "growth" if factors else "problem_size"}],
        "target": {"name": form.target, "settings": settings, "until": until, "pin": form.pin},
        "processors": counts,
        "repetitions": repetitions,
        "limits": {"time_s": limit},
    }
    try:
        request = toml.validate(Request, data, "")
    except InputError as error:
        return None, list(error.faults)
    return request.with_origin(form.origin), []


def of_request(request: Request) -> CommandForm:
    """Return the form that reads back as *request*, a command's; fields not on the page are dropped."""
    choice, target = request.program, request.target
    grow = [f"{name}={_formula(request, name, factor)}" for name, factor in request.scaling.grow.items()]
    kept = {name: value for name, value in request.parameters.items() if name not in request.scaling.grow}
    return CommandForm(
        command=choice.command if not choice.args else f"{choice.command} {text.words_text(choice.args)}",
        shell=choice.shell,
        stacks=choice.stacks,
        processors=text.processors_text(request.processors),
        repetitions=str(request.repetitions),
        until=f"{as_read(target.until)} %" if target.until else "",
        time_from=choice.time_from,
        rate_from=choice.rate_from,
        grow="; ".join(grow),
        parameters="; ".join(f"{name}={text.values_text(value)}" for name, value in kept.items()),
        directory=str(Path(choice.directory or ".", choice.cwd)),
        target=target.name if target.name in targets() else "host",
        settings="; ".join(f"{name}={value}" for name, value in target.settings.items()),
        pin=target.pin,
        time_s=text.duration_text(request.limits.time_s),
        origin=request.origin,
    )


def _formula(request: Request, name: str, factor: str) -> str:
    """Return a parameter as a formula of N: its value at N = 1 times its factor, as `grown` splits it."""
    if found := _SPLIT.fullmatch(factor):
        return found[1]
    value = request.parameters[name]
    return f"{value[0] if isinstance(value, tuple) else value} * ({factor})"


def _pairs(typed: str) -> dict[str, str]:
    """Return ``name=value`` pairs separated by semicolons."""
    found = {}
    for item in filter(None, (part.strip() for part in typed.split(";"))):
        name, sign, value = item.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise ValueError(f"'{item}': expected NAME=VALUE, with semicolons between several")
        found[name.strip()] = value.strip()
    return found


def _percent(typed: str) -> float:
    plain = typed.strip().removesuffix("%").strip()
    return text.real(plain, "a share in %") if plain else 0.0
