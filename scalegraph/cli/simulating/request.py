"""The request made from the options of ``scalegraph simulate``."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from scalegraph import machine as machines
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.run import SIMULATED
from scalegraph.cli.measuring.options import most_processors
from scalegraph.cli.pairs import pairs
from scalegraph.cli.processors import parse_processors
from scalegraph.cli.simulating import lists
from scalegraph.cli.standard_input import redirected
from scalegraph.cli.tracing import TraceGiven
from scalegraph.cli.what_if import what_ifs
from scalegraph.request.model import programs
from scalegraph.request.model.defaults import OWN_PROCESSORS
from scalegraph.request.model.prediction import read_sizes
from scalegraph.request.model.request import (
    Collect,
    Limits,
    MachineChoice,
    Monitor,
    ProgramChoice,
    Request,
    TargetChoice,
)
from scalegraph.request.model.space import UNSEARCHED, Minimised, Space, bound, named_by
from scalegraph.runtime.languages import is_executable

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Given:
    """The given options, mostly under their own names."""

    sources: tuple[str, ...]
    arguments: tuple[str, ...]
    machine: str
    processors: str | None
    overrides: tuple[str, ...]
    cflags: tuple[str, ...]
    ldflags: str
    include: tuple[str, ...]
    schedule: tuple[str, ...]
    env: tuple[str, ...]
    stdin: Path | None
    cwd: Path | None
    executable: str
    build: str
    limits: Limits
    regions: bool
    ideals: tuple[str, ...] = ()
    ideal_network: bool = False
    speedups: tuple[str, ...] = ()
    collect: tuple[str, ...] = ()
    monitor: Monitor = "none"
    sample: bool = False
    reference: bool = True
    accept_exit: tuple[int, ...] = ()
    trace: TraceGiven | None = None
    timed: str = ""
    work: str = ""
    threads_per_process: str = "1"
    ranks_per_node: int = 0
    target: str = SIMULATED
    target_set: tuple[str, ...] = ()
    pin: str = "close"
    warm_up: int = 1
    until: float = 0.0
    most_runs: int = 30
    disturbed: float = 10.0
    parameters: tuple[str, ...] = ()
    repeat: int = 1
    verify: bool = False
    args_at: tuple[str, ...] = ()
    budget: str = ""
    minimise: Minimised = "time"


def make_request(given: Given) -> tuple[Request, tuple[int, ...]]:
    """Return the request and the processor counts to show; raise `InputError` with every fault in the options."""
    faults: list[Fault] = _not_utf8(given)
    overrides = _collect(faults, lambda: pairs("--set", given.overrides)) or {}
    env = _collect(faults, lambda: pairs("--env", given.env)) or {}
    settings = _collect(faults, lambda: pairs("--target-set", given.target_set)) or {}
    parameters = _collect(faults, lambda: _parameters(given.parameters)) or {}
    named = _collect(faults, lambda: lists.items("--machine", given.machine) if given.machine else ()) or ()
    wanted = named or (programs.machine_for(() if given.executable else given.sources),)
    known = [_collect(faults, partial(machines.load, name, overrides)) for name in wanted]
    there = [machine for machine in known if machine is not None]
    counts = _collect(faults, lambda: _chosen_counts(given, there, settings)) or [] if all(known) else []
    axes = _collect(faults, lambda: lists.axes(named, given.threads_per_process, given.schedule, given.pin))
    axes = axes or lists.Axes()
    args_at = _collect(faults, lambda: _arguments_at(given)) or {}
    flags = [_collect(faults, partial(_words, "--cflags", text)) or () for text in given.cflags]
    ldflags = _collect(faults, lambda: _words("--ldflags", given.ldflags)) or ()
    variants = _collect(faults, lambda: what_ifs(_ideals(given), given.speedups)) or ()
    space = _collect(faults, lambda: _space(axes, given))
    if faults := [*faults, *_contradictions(given)]:
        raise InputError(faults)
    assert space is not None
    request = Request(
        program=ProgramChoice(
            **_which(given, flags[0] if flags else (), ldflags),
            env=env,
            args_at=args_at,
            stdin=_input(given),
            directory=str(Path.cwd()),  # lets a study opened elsewhere find its sources
            cwd=str(given.cwd or ""),
            accept_exit=given.accept_exit,
            threads_per_process=axes.threads[0],
            ranks_per_node=given.ranks_per_node,
        ),
        parameters=parameters,
        machine=MachineChoice(**{named_by(wanted[0]): wanted[0]}, overrides=overrides),
        space=space,
        target=TargetChoice(
            name=given.target,
            settings=settings,
            pin=axes.affinities[0],
            warm_up=given.warm_up,
            until=given.until,
            most_runs=given.most_runs,
            disturbed=given.disturbed,
        ),
        processors=tuple(counts),
        repetitions=given.repeat,
        reference=given.reference,
        schedule=axes.schedules[0],
        collect=_what_to_collect(given),
        what_if=tuple(what.model_copy(update={"processors": tuple(sorted(counts))}) for what in variants),
        limits=given.limits,
        timed=given.timed,
        work=given.work,
        verify=given.verify,
        trace=given.trace.choice.model_copy(update={"processors": tuple(sorted(counts))}) if given.trace else None,
    )
    return request, tuple(counts)


def _chosen_counts(given: Given, known: Sequence[machines.Machine], settings: dict[str, str]) -> list[int]:
    """Return the processor counts; for several machines those of the largest: points that do not fit are left out."""
    ends = [most_processors(given.target, machine, settings) for machine in known]
    most, whose = max(ends, key=lambda end: end[0])
    if len({end[1] for end in ends}) > 1:
        whose = f"the largest machine, {whose.removeprefix('machine ')},"
    return parse_processors(_counts(given, most), most, whose)


def _what_to_collect(given: Given) -> Collect:
    return Collect(
        regions=given.regions, classes="classes" in given.collect, sample=given.sample, monitor=given.monitor
    )


def _contradictions(given: Given) -> list[Fault]:
    """Return a fault for each option that contradicts another."""
    whole = (("--collect", "classes" in given.collect), ("--trace", given.trace is not None))
    text = "needs the whole run, and --sample leaves most of it out"
    faults = [Fault(text, key=key) for key, wanted in whole if wanted and given.sample]
    if given.monitor != "none" and not given.regions:
        faults.append(Fault("monitoring observes regions, and --no-instrument leaves them out", key="--monitor"))
    return faults


def _not_utf8(given: Given) -> list[Fault]:
    """Return a fault for each name or argument that is not text, which a request requires."""
    words = [
        given.machine,
        *given.cflags,
        given.ldflags,
        given.executable,
        given.build,
        str(given.stdin),
        str(given.cwd),
    ]
    words += [*given.sources, *given.arguments, *given.overrides, *given.include, *given.env, str(Path.cwd())]
    return [
        Fault("a name in UTF-8 was expected; rename it, or link to it", file=word)
        for word in words
        if not word.isascii() and word != word.encode("utf-8", "replace").decode()
    ]


def _counts(given: Given, most: int) -> str:
    """Return the requested counts, or else counts that show how a program scales on *most* processors."""
    return given.processors if given.processors is not None else f"1..{min(max(OWN_PROCESSORS), most)}"


def _space(axes: lists.Axes, given: Given) -> Space:
    """Return what is varied, and the bound of the search."""
    try:
        bound(given.budget)
    except ValueError as error:
        raise InputError(Fault(str(error), key="--budget")) from None
    if given.minimise != "time" and not given.budget.strip():
        raise InputError(Fault(UNSEARCHED, key="--minimise"))
    found = axes.space(given.cflags)
    return found.model_copy(update={"budget": given.budget.strip(), "minimise": given.minimise})


def one_choice(request: Request) -> Request:
    """Return *request*; raise `InputError` if it has several machines, splits or schedules."""
    if request.space.varies:
        option = "--machine" if request.space.machine else "--cflags"
        raise InputError(Fault("this command takes one; simulate takes several", key=option))
    return request


def _parameters(given: Sequence[str]) -> dict[str, Any]:
    """Return the values of parameters by name, several for a sweep; raise `InputError` if they are invalid."""
    try:
        found = read_sizes(";".join(given)) if given else {}
    except ValueError as error:
        raise InputError(Fault(str(error), key="--parameter")) from None
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _which(given: Given, cflags: tuple[str, ...], ldflags: tuple[str, ...]) -> dict[str, Any]:
    """Return the program for the request: sources, or a shipped program by name; with arguments and flags."""
    plain: dict[str, tuple[str, ...]] = {"include": given.include, "cflags": cflags, "ldflags": ldflags}
    arguments = given.arguments if given.parameters else programs.verbatim(given.arguments)
    if executable := _executable(given):
        return plain | {"executable": executable, "build": given.build, "args": arguments}
    return programs.chosen(given.sources, arguments, **plain)


def _input(given: Given) -> str:
    return str(given.stdin or redirected([given.executable] if given.executable else given.sources) or "")


def _arguments_at(given: Given) -> dict[int, str]:
    """Return the arguments by processor count; unknown placeholders stay as they are, as in those after ``--``."""
    found = {}
    for count, words in pairs("--args-at", given.args_at).items():
        if not count.strip().isdecimal():
            raise InputError(
                Fault(f"'{count}={words}': a number of processors was expected before the '='", key="--args-at")
            )
        found[int(count)] = words if given.parameters else programs.verbatim((words,))[0]
    return found


def _executable(given: Given) -> str:
    """Return the executable to run, "" if there are sources; raise `InputError` if there are both or neither."""
    if given.executable and given.sources:
        raise InputError("sources and --exe were given; expected one of them")
    if given.build and not given.executable:
        raise InputError(Fault("the program that the command builds must be named: --exe FILE", key="--build"))
    if given.executable:
        return given.executable
    if not given.sources:
        raise InputError("nothing to simulate was named; expected sources, an executable, or a shipped program")
    only = given.sources[0]
    return only if len(given.sources) == 1 and is_executable(Path(only)) else ""


def _ideals(given: Given) -> tuple[str, ...]:
    """Return the requested ideals, including those needed for the POP efficiencies of an MPI program."""
    if not given.ideal_network:
        return given.ideals
    return (*given.ideals, "sync+messages" if given.threads_per_process != "1" else "messages")


def _words(option: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(Fault(f"cannot be split into words ({str(error).lower()}): {text}", key=option)) from error


def _collect(faults: list[Fault], read: Callable[[], _Found]) -> _Found | None:
    """Return the result of *read*, or add its faults."""
    try:
        return read()
    except InputError as error:
        faults.extend(error.faults)
        return None
