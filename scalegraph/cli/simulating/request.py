"""The request made from the options of ``scalegraph simulate``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from scalegraph import machine as machines
from scalegraph.base import toml
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.run import SIMULATED
from scalegraph.cli.asked import flag_of, request_data, words
from scalegraph.cli.measuring.options import most_processors
from scalegraph.cli.processors import parse_processors
from scalegraph.cli.simulating import lists
from scalegraph.cli.standard_input import redirected
from scalegraph.cli.tracing import TraceGiven
from scalegraph.cli.what_if import what_ifs
from scalegraph.request.model import programs
from scalegraph.request.model.axes import named_by
from scalegraph.request.model.defaults import OWN_PROCESSORS
from scalegraph.request.model.prediction import read_sizes
from scalegraph.request.model.request import Request
from scalegraph.request.model.space import UNSEARCHED, Space, bound
from scalegraph.runtime.languages import is_executable

_Found = TypeVar("_Found")
# Options that `request_data` cannot translate one by one: they take lists, or several together make one value.
_SEVERAL: Final = (
    "parameters",
    "machine_name",
    "processors",
    "schedule",
    "target_pin",
    "program_cflags",
    "what_if_ideal",
    "what_if_speedup",
    "ideal_network",
    *lists.PARAMETERS,
)


def make_request(
    given: Mapping[str, Any], arguments: Sequence[str] = (), trace: TraceGiven | None = None
) -> tuple[Request, tuple[int, ...]]:
    """Return the request and the processor counts to show; raise `InputError` with every fault in the options.

    *given*: sources and options by parameter, see `cli.asked.request_option`; an option that is missing has its
    default. *arguments*: those of the program.
    """
    faults: list[Fault] = _not_utf8(given, arguments)
    several = {name: given[name] for name in _SEVERAL if name in given}
    data = request_data({name: value for name, value in given.items() if name not in several}, faults)
    program, target = data.setdefault("program", {}), data.setdefault("target", {})
    parameters = _collect(faults, lambda: read_parameters(several.get("parameters", ()))) or {}
    machine = several.get("machine_name", "")
    named = _collect(faults, lambda: lists.items("--machine", machine) if machine else ()) or ()
    wanted = named or (programs.machine_for(() if program.get("executable") else given["sources"]),)
    overrides = data.get("machine", {}).get("overrides", {})
    known = [_collect(faults, partial(machines.load, name, overrides)) for name in wanted]
    there = [machine for machine in known if machine is not None]
    counts = _collect(faults, lambda: _chosen_counts(several.get("processors"), there, target)) if all(known) else None
    axes = _collect(faults, lambda: lists.axes(named, several)) or lists.Axes()
    flags = [_collect(faults, partial(words, "--cflags", text)) or () for text in _cflags(several)]
    variants = _collect(faults, lambda: what_ifs(_ideals(several, axes), several.get("what_if_speedup", ())))
    space = _collect(faults, lambda: _space(axes, _cflags(several), data.get("space", {})))
    verbatim = tuple if parameters else programs.verbatim
    program["args_at"] = _collect(faults, lambda: _arguments_at(program.get("args_at", {}), verbatim))
    faults += _contradictions(data.get("collect", {}), trace)
    if faults:
        raise InputError(faults)
    program |= {"stdin": program.get("stdin") or str(_input(program, given["sources"]) or "")}
    program |= _which(program, given["sources"], verbatim(tuple(arguments)), flags[0] if flags else ())
    program |= {"directory": str(Path.cwd()), **axes.of_program}  # lets a study opened elsewhere find its sources
    target["pin"] = axes.affinities[0]
    shown = tuple(counts or ())
    at = {"processors": tuple(sorted(shown))}
    data |= {
        "parameters": parameters,
        "machine": {named_by(wanted[0]): wanted[0], "overrides": overrides},
        "space": space,
        "processors": shown,
        "schedule": axes.schedules[0],
        "what_if": tuple(what.model_copy(update=at) for what in variants or ()),
        "trace": trace.choice.model_copy(update=at) if trace else None,
    }
    return valid(data), shown


def valid(data: Mapping[str, Any]) -> Request:
    """Return the request of *data*; raise `InputError` naming the options at fault."""
    try:
        return toml.validate(Request, data, "")
    except InputError as error:
        raise InputError([replace(fault, key=flag_of(fault.key) or fault.key) for fault in error.faults]) from error


def _chosen_counts(text: str | None, known: Sequence[machines.Machine], target: Mapping[str, Any]) -> list[int]:
    """Return the processor counts; for several machines those of the largest: points that do not fit are left out."""
    ends = [most_processors(target.get("name", SIMULATED), machine, target.get("settings", {})) for machine in known]
    most, whose = max(ends, key=lambda end: end[0])
    if len({end[1] for end in ends}) > 1:
        whose = f"the largest machine, {whose.removeprefix('machine ')},"
    counts = text if text is not None else f"1..{min(max(OWN_PROCESSORS), most)}"  # shows how a program scales
    return parse_processors(counts, most, whose)


def _contradictions(collect: Mapping[str, Any], trace: TraceGiven | None) -> list[Fault]:
    """Return a fault for each option that contradicts another."""
    whole = (("--collect", collect.get("classes")), ("--trace", trace is not None))
    text = "needs the whole run, and --sample leaves most of it out"
    faults = [Fault(text, key=key) for key, wanted in whole if wanted and collect.get("sample") == "always"]
    if collect.get("monitor", "none") != "none" and not collect.get("regions", True):
        faults.append(Fault("monitoring observes regions, and --no-instrument leaves them out", key="--monitor"))
    return faults


def _not_utf8(given: Mapping[str, Any], arguments: Sequence[str]) -> list[Fault]:
    """Return a fault for each name or argument that is not text, which a request requires."""
    said = [one for value in given.values() for one in (value if isinstance(value, tuple) else (value,))]
    texts = [str(one) for one in (*said, *arguments, Path.cwd()) if isinstance(one, str | Path)]
    return [
        Fault("a name in UTF-8 was expected; rename it, or link to it", file=text)
        for text in texts
        if not text.isascii() and text != text.encode("utf-8", "replace").decode()
    ]


def _cflags(several: Mapping[str, Any]) -> tuple[str, ...]:
    """Return each set of flags; a command may take one or several."""
    found = several.get("program_cflags") or ()
    return (found,) if isinstance(found, str) else tuple(found)


def _space(axes: lists.Axes, cflags: Sequence[str], search: Mapping[str, Any]) -> Space:
    """Return what is varied, and the bound of the search."""
    budget = str(search.get("budget", "")).strip()
    try:
        bound(budget)
    except ValueError as error:
        raise InputError(Fault(str(error), key="--budget")) from None
    if search.get("minimise", "time") != "time" and not budget:
        raise InputError(Fault(UNSEARCHED, key="--minimise"))
    return axes.space(cflags).model_copy(update={**search, "budget": budget})


def one_choice(request: Request) -> Request:
    """Return *request*; raise `InputError` if it has several machines, splits or schedules."""
    if request.space.varies:
        option = "--machine" if request.space.machine else "--cflags"
        raise InputError(Fault("this command takes one; simulate takes several", key=option))
    return request


def read_parameters(given: Sequence[str]) -> dict[str, Any]:
    """Return the values of parameters by name, several for a sweep; raise `InputError` if they are invalid."""
    try:
        found = read_sizes(";".join(given)) if given else {}
    except ValueError as error:
        raise InputError(Fault(str(error), key="--parameter")) from None
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _which(
    given: Mapping[str, Any], sources: tuple[str, ...], arguments: tuple[str, ...], cflags: tuple[str, ...]
) -> dict[str, Any]:
    """Return the program for the request: sources, or a shipped program by name; with arguments and flags."""
    plain = {"include": given.get("include", ()), "cflags": cflags, "ldflags": given.get("ldflags", ())}
    if executable := _executable(given, sources):
        return plain | {"executable": executable, "args": arguments}
    return programs.chosen(sources, arguments, **plain)


def _input(given: Mapping[str, Any], sources: tuple[str, ...]) -> Path | None:
    return redirected([given["executable"]] if given.get("executable") else sources)


def _arguments_at(given: Mapping[str, str], verbatim: Callable[[tuple[str, ...]], tuple[str, ...]]) -> dict[int, str]:
    """Return the arguments by processor count; unknown placeholders stay as they are, as in those after ``--``."""
    for count, text in given.items():
        if not count.strip().isdecimal():
            raise InputError(
                Fault(f"'{count}={text}': a number of processors was expected before the '='", key="--args-at")
            )
    return {int(count): verbatim((text,))[0] for count, text in given.items()}


def _executable(given: Mapping[str, Any], sources: tuple[str, ...]) -> str:
    """Return the executable to run, "" if there are sources; raise `InputError` if there are both or neither."""
    executable = str(given.get("executable", ""))
    if executable and sources:
        raise InputError("sources and --exe were given; expected one of them")
    if given.get("build") and not executable:
        raise InputError(Fault("the program that the command builds must be named: --exe FILE", key="--build"))
    if executable:
        return executable
    if not sources:
        raise InputError("nothing to simulate was named; expected sources, an executable, or a shipped program")
    return sources[0] if len(sources) == 1 and is_executable(Path(sources[0])) else ""


def _ideals(several: Mapping[str, Any], axes: lists.Axes) -> tuple[str, ...]:
    """Return the requested ideals, including those needed for the POP efficiencies of an MPI program."""
    found = tuple(several.get("what_if_ideal", ()))
    if not several.get("ideal_network"):
        return found
    return (*found, "messages" if axes.threads == (1,) else "sync+messages")


def _collect(faults: list[Fault], read: Callable[[], _Found]) -> _Found | None:
    """Return the result of *read*, or add its faults."""
    try:
        return read()
    except InputError as error:
        faults.extend(error.faults)
        return None
