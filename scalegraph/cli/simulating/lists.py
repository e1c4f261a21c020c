"""Options with several comma-separated values: machines, splits, schedules, affinities."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.cli.asked import Amount, flag_of, parameter
from scalegraph.link import loops
from scalegraph.request.model.parts import PINS, Pin
from scalegraph.request.model.space import Space
from scalegraph.request.model.values import request_value

_THREADS: Final = request_value("program.threads_per_process")
PARAMETERS: Final = ("schedule", "target_pin", parameter(_THREADS.key))


@dataclass(frozen=True)
class Axes:
    """The distinct values of each option, in command line order; no machine if none was named."""

    machines: tuple[str, ...] = ()
    threads: tuple[int, ...] = (1,)
    schedules: tuple[str, ...] = ("",)
    affinities: tuple[Pin, ...] = ("close",)

    @property
    def of_program(self) -> dict[str, Any]:
        """The first of the program's values, for the request's single ones."""
        return {_THREADS.key.partition(".")[2]: self.threads[0]}

    def space(self, cflags: Sequence[str] = ()) -> Space:
        """Return what is varied: every option with several values."""

        def several(values: Sequence[Any]) -> Any:
            return tuple(values) if len(values) > 1 else ()

        return Space(
            machine=several(self.machines),
            threads_per_process=several(self.threads),
            schedule=several(self.schedules),
            affinity=several(self.affinities),
            cflags=several(tuple(dict.fromkeys(cflags))),
        )


def axes(machines: tuple[str, ...], given: Mapping[str, Any]) -> Axes:
    """Return the values of the options in *given* besides *machines*; raise `InputError` with every fault in them."""
    faults: list[Fault] = []

    def taken(read: Callable[[], Any], usual: Any) -> Any:
        try:
            return read()
        except InputError as error:
            faults.extend(error.faults)
            return usual

    made = Axes(
        machines=machines,
        threads=taken(lambda: splits(given.get(parameter(_THREADS.key), "1")), (1,)),
        schedules=taken(lambda: schedules(given.get("schedule", ())), ("",)),
        affinities=taken(lambda: pins(given.get("target_pin", "close")), ("close",)),
    )
    if faults:
        raise InputError(faults)
    return made


def items(option: str, text: str) -> tuple[str, ...]:
    """Return the distinct values in *text*; raise `InputError` for an empty one."""
    found = [item.strip() for item in text.split(",")]
    if not all(found):
        raise InputError(Fault(f"'{text}': a value is missing next to a comma", key=option))
    return tuple(dict.fromkeys(found))


class Splits(click.ParamType[str]):
    """Comma-separated numbers of threads per process, each in the request's declared range; kept as text."""

    name = "splits"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return *value* as it is."""
        amount = Amount(_THREADS)
        for item in (one.strip() for one in str(value).split(",")):
            if item:  # a value missing beside a comma is reported with all other faults
                amount.convert(item, param, ctx)
        return str(value)


def splits(text: str) -> tuple[int, ...]:
    """Return the numbers of threads per process in *text*, as validated by `Splits`."""
    return tuple(dict.fromkeys(int(item) for item in items(flag_of(_THREADS.key), text)))


def schedules(given: Sequence[str]) -> tuple[str, ...]:
    """Return the schedules to vary: every combination of the options' alternatives, joined by semicolons."""
    try:
        every = [loops.alternatives(part) for text in given for part in text.split(";") if part.strip()]
        found = tuple(dict.fromkeys(";".join(parts) for parts in itertools.product(*every)))
        found = tuple(map(loops.written_or_automatic, found))
    except ValueError as error:
        raise InputError(Fault(str(error), key="--schedule")) from None
    return found or ("",)


def pins(text: str) -> tuple[Pin, ...]:
    """Return thread bindings; the first processors count as close, too."""
    found: list[Pin] = []
    for item in items("--affinity", text):
        name = "close" if item.lower() == "first" else item.lower()
        if name not in PINS:
            known = near(name, PINS) or f"; expected {', '.join(PINS)}"
            raise InputError(Fault(f"'{item}' is not an affinity{known}", key="--affinity"))
        found.append(name)
    return tuple(dict.fromkeys(found))


OPTIONS: Final[dict[str, dict[str, Any]]] = {
    _THREADS.key: {"default": _THREADS.default_text(), "type": Splits()},
    "schedule": {"multiple": True, "default": ()},
    "program.cflags": {"multiple": True},
    "program.stdin": {"type": click.Path(exists=True, dir_okay=False, path_type=Path), "default": None},
    "program.cwd": {"type": click.Path(exists=True, file_okay=False, path_type=Path), "default": None},
    "target.pin": {"type": str, "metavar": f"[{'|'.join(PINS)}],.."},
    "collect.classes": {"is_flag": False, "type": click.Choice(["classes"])},
}
"""Further arguments for click, by key, for options that take files or lists of values to vary."""
