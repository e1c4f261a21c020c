"""A space of choices: several machines, splits, schedules, affinities and flags in one request, and its members.

A member is the request with one value of each. Combinations that cannot run (ranks that do not fit, counts that whole
processes do not fill, more processors than the machine has) are left out with a note; anything else is a fault.
"""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from scalegraph.base import amounts
from scalegraph.base.asked import asked, option
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.points import setting_words
from scalegraph.link import loops
from scalegraph.request.model.axes import AXES, MACHINE, is_given, single, with_single, written
from scalegraph.request.model.basics import Strict, Text
from scalegraph.request.model.parts import PINS, SEARCHED, Pin

if TYPE_CHECKING:
    from scalegraph.request.model.request import Request

MOST: Final = 64  # values of one axis
LEAST: Final = 2  # runs of a search
Minimised: TypeAlias = Literal["time", "core_hours", "energy", "price"]
MINIMISED: Final[dict[Minimised, str]] = {
    "time": "the least time",
    "core_hours": "the fewest core-hours",
    "energy": "the least energy",
    "price": "the lowest price",
}
UNSEARCHED: Final = "minimise belongs to a search under a bound (budget); 'scalegraph choose' asks a whole study"
_BIND: Final = {"close": "close", "spread": "spread", "none": "false"}  # OMP_PROC_BIND of simulated runs
_SAID: Final = ("threads_per_process",)  # part of a choice if the request states it, even if it is the usual value
BOUND_BY: Final = ("OMP_PROC_BIND", "OMP_PLACES")


def bound(text: str) -> tuple[int | None, float | None]:
    """Return the runs, or the seconds, that a search may take; both None for an empty text. Raises `ValueError`."""
    text = text.strip()
    if not text:
        return None, None
    if text.isascii() and text.isdecimal():
        if int(text) < LEAST:
            raise ValueError(f"{LEAST} runs or more were expected, or a time as in 30min; got {text}")
        return int(text), None
    seconds = amounts.duration(text)
    if not seconds > 0:
        raise ValueError(f"a number of runs, or a time as in 30min, was expected; got '{text}'")
    return None, seconds


class Space(Strict):
    """The variations of a request besides processors and sizes: each list replaces the single value elsewhere."""

    machine: tuple[Text, ...] = asked(
        default=(),
        max_length=MOST,
        label="Machines",
        hint="one machine",
        help="Several machines, shipped ones by name or files; every run is made on each",
    )
    threads_per_process: tuple[Annotated[int, Field(ge=1, le=4096)], ...] = asked(
        default=(),
        max_length=MOST,
        label="Splits",
        unit="threads",
        hint="one split",
        help="Of an MPI program: several numbers of threads a process; N processors are N / T processes of each",
    )
    schedule: tuple[Annotated[str, Field(max_length=2000)], ...] = asked(
        default=(),
        max_length=MOST,
        label="Schedules",
        hint="one schedule",
        help="Several schedules of worksharing loops, each as in schedule; an empty text leaves them as written",
    )
    affinity: tuple[Pin, ...] = asked(
        default=(),
        max_length=len(PINS),
        label="Affinities",
        choices=PINS,
        hint="one affinity",
        help="Several ways to bind threads to processors",
    )
    cflags: tuple[Annotated[str, Field(max_length=4000)], ...] = asked(
        default=(),
        max_length=MOST,
        label="Flags",
        hint="one set of flags",
        help="Several sets of flags for the compiler, each one text; the program is built with each",
    )

    budget: str = asked(
        default="",
        max_length=40,
        label="Bound of the search",
        hint="all points are run",
        help="Limit a large space to this many runs, as in 40, or to a time, as in 30min: the most promising "
        "points by successive halving; the rest is reported",
        option=option("--budget", metavar="RUNS|TIME"),
    )

    minimise: Minimised = asked(
        default="time",
        label="Search for",
        choices=MINIMISED,
        help="What a bounded search minimises; energy and price come from the machines' files",
        option=option("--minimise"),
    )

    @field_validator("budget")
    @classmethod
    def _bound(cls, value: str) -> str:
        bound(value)
        return value.strip()

    @field_validator(*AXES, mode="before")
    @classmethod
    def _one_value(cls, value: Any) -> Any:
        """Accept one value instead of a list."""
        return (value,) if isinstance(value, int | str) else value

    @field_validator(*AXES)
    @classmethod
    def _each_once(cls, value: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(value))

    @field_validator("schedule")
    @classmethod
    def _schedules(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(loops.written_or_automatic, value)))

    @field_validator("cflags")
    @classmethod
    def _words(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            try:
                shlex.split(text)
            except ValueError as error:
                raise ValueError(f"'{text}' cannot be split into words ({str(error).lower()})") from None
        return value

    @model_validator(mode="after")
    def _searched(self) -> Space:
        if self.minimise != "time" and not self.budget:
            raise ValueError(UNSEARCHED)
        return self

    @property
    def varies(self) -> bool:
        """Whether anything varies: some list is given, or the search has a budget."""
        return any(getattr(self, axis) for axis in AXES) or bool(self.budget)

    def count(self) -> int:
        """Return the number of combinations."""
        return math.prod(max(1, len(getattr(self, axis))) for axis in AXES)


@dataclass(frozen=True)
class Member:
    """One choice of a space: its coordinates (`base.points.AXES`), and the request carried out for it.

    *left_out*: a sentence for everything that it cannot run; *request* is None if nothing is left.
    """

    setting: Mapping[str, str]
    request: Request | None
    left_out: tuple[str, ...] = ()


def with_first(request: Request) -> None:
    """Set the single values of *request* to the first of its lists, in place, while it is being made.

    Raises `ValueError` if a single value is given, too, and is not in the list.
    """
    space = request.space
    for axis, said in AXES.items():
        several, one = [written(axis, value) for value in getattr(space, axis)], single(request, axis)
        if several and one != said.usual and one not in several:
            key = said.key.removesuffix(".name")
            raise ValueError(f"'{key}' is {one}, which [space] does not list; leave one of the two out")
    if space.varies:
        first = next(_combinations(request))
        for name in ("machine", "program", "schedule", "target"):
            request.__dict__[name] = getattr(first.request, name)


def setting_of(request: Request) -> dict[str, str]:
    """Return the coordinates of *request*, which has a single value of each: they distinguish it within a space."""
    found = {} if request.target.point_name else {MACHINE: request.machine.reference}
    for axis in (axis for axis in AXES if axis != MACHINE):
        text = single(request, axis)
        if text != AXES[axis].usual or (axis in _SAID and is_given(request, axis)):
            found[axis] = text
    return found


def same_setting(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return whether two choices are the same: a missing value means its default."""
    usual = {axis: said.usual for axis, said in AXES.items() if axis != MACHINE}
    return {**usual, **one} == {**usual, **other}


def _combinations(request: Request) -> Iterator[Member]:
    """Yield every combination as a request."""
    for values in itertools.product(*(getattr(request.space, axis) or (None,) for axis in AXES)):
        chosen = {axis: value for axis, value in zip(AXES, values, strict=True) if value is not None}
        here = request.target.point_name  # a real target is its own machine
        setting = {} if here else {MACHINE: request.machine.reference}
        setting |= {axis: written(axis, value) for axis, value in chosen.items() if axis != MACHINE or not here}
        one = request
        for axis, value in chosen.items():
            one = with_single(one, axis, value)
        yield Member(setting, one.model_copy(update={"space": Space()}))


def members(request: Request) -> list[Member]:
    """Return the members of *request*, each without what it cannot run.

    Raises `InputError` with every fault that leaving something out does not cure, such as an unknown machine, and if
    nothing is left.
    """
    found, faults = [], _wrong_space(request)
    for member in _combinations(request):
        assert member.request is not None
        try:
            found.append(_fitting(member))
        except InputError as error:
            faults += [fault for fault in error.faults if fault not in faults]
    if faults:
        raise InputError(faults)
    if all(member.request is None for member in found):
        said = tuple(dict.fromkeys(text for member in found for text in member.left_out))
        raise InputError([Fault("no combination can run", key="space"), *(Fault(text, key="space") for text in said)])
    return found


def _wrong_space(request: Request) -> list[Fault]:
    from scalegraph.request.model import targeting

    space, found = request.space, []
    if request.predict is not None:
        found.append(Fault("predictions are of one machine and one split; leave [space] out", key="space"))
    if not targeting.is_simulated(request) and len(space.machine) > 1:
        text = f"target '{request.target.name}' is one machine; several machines are simulated"
        found.append(Fault(text, key="space.machine"))
    if space.budget and (request.what_if or request.speedups.lines or request.speedups.regions or request.verify):
        found.append(Fault("what-if runs need all points; leave the bound of the search out", key="space.budget"))
    if space.budget and any(bound.kind in SEARCHED for bound in request.bound):
        found.append(Fault("searches of sizes need all points; leave the bound out", key="space.budget"))
    if space.budget and request.program.command:
        found.append(Fault("belongs to a program that ScaleGraph builds, no command", key="space.budget"))
    if space.budget and any(map(loops.is_automatic, (request.schedule, *space.schedule))):
        text = "automatic schedules take several runs of each point; leave the bound of the search out"
        found.append(Fault(text, key="space.budget"))
    if request.program.command and (space.schedule or space.cflags):
        what = "schedule" if space.schedule else "cflags"
        found.append(Fault("belongs to a program that ScaleGraph builds, no command", key=f"space.{what}"))
    return found


def _fitting(member: Member) -> Member:
    """Return *member* with the processor counts that it can run, and what is left out."""
    request = member.request
    assert request is not None
    refused = _refused(request)
    if not refused:
        return replace(member, request=_bound(request, member.setting))
    words = setting_words(member.setting)
    texts: dict[str, list[str]] = {}
    for count, text in refused.items():
        texts.setdefault(text, []).append(str(count))
    said = tuple(f"{words}: N = {', '.join(counts)} left out: {text}" for text, counts in texts.items())
    kept = tuple(count for count in request.processors if count not in refused)
    bounds = []
    for bound in request.bound:
        own = tuple(count for count in bound.processors if count not in refused)
        if own or not bound.processors:
            bounds.append(bound.model_copy(update={"processors": own}))
    if not bounds or not (kept or any(bound.processors for bound in bounds)):
        return replace(member, request=None, left_out=said)
    trace = request.trace
    if trace is not None:
        left = tuple(count for count in trace.processors if count not in refused)
        trace = trace.model_copy(update={"processors": left}) if left or not trace.processors else None
    what_if = tuple(
        what.model_copy(update={"processors": left})
        for what in request.what_if
        if (left := tuple(count for count in what.processors if count not in refused)) or not what.processors
    )
    args_at = {count: text for count, text in request.program.args_at.items() if count not in refused}
    changes = {
        "processors": kept or (1,),
        "bound": tuple(bounds),
        "trace": trace,
        "what_if": what_if,
        "program": request.program.model_copy(update={"args_at": args_at}),
    }
    return replace(member, request=_bound(request.model_copy(update=changes), member.setting), left_out=said)


def _refused(request: Request) -> dict[int, str]:
    """Return why each processor count cannot run on the machine and with the split of *request*."""
    from scalegraph import machine as machines
    from scalegraph.request.model import collecting, processes, targeting
    from scalegraph.request.model.resolve import machine_reference

    machine = None
    if targeting.is_simulated(request):
        try:
            machine = machines.load(machine_reference(request), collecting.machine_values(request))
        except InputError as error:
            key = "space.machine" if request.machine.reference else "machine.name"
            raise InputError([fault if fault.file else replace(fault, key=key) for fault in error.faults]) from None
    found = {}
    for count in request.every_count():
        one = request.model_copy(update={"processors": (count,), "bound": (), "predict": None})
        faults = processes.of_machine(one, machine) if machine is not None else []
        if faults := [*processes.faults(one), *faults]:
            found[count] = faults[0].message.removeprefix(f"{count}: ")
    return found


def _bound(request: Request, setting: Mapping[str, str]) -> Request:
    """Return *request* with the variables that bind threads in simulated runs, if an affinity is chosen."""
    from scalegraph.request.model import targeting

    if "affinity" not in setting or not targeting.is_simulated(request):
        return request
    env = {"OMP_PROC_BIND": _BIND[setting["affinity"]], "OMP_PLACES": "cores", **request.program.env}
    return request.model_copy(update={"program": request.program.model_copy(update={"env": env})})
