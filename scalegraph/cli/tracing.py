"""The options of ``simulate`` about traces, and the report on written traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click

from scalegraph.base import toml
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import counted, si, thousands
from scalegraph.cli.asked import flag_of, option_keys, request_option
from scalegraph.cli.output import echo
from scalegraph.request.model.request import TRACE_KINDS, USUAL_TRACE, TraceChoice
from scalegraph.store import Study

_Command = TypeVar("_Command", bound=Callable[..., Any])
_META = "scalegraph.trace"
_USUAL = "usual"
_ALL = "all"
_DIRECTORY = "--trace-output"


@dataclass(frozen=True)
class TraceGiven:
    """What to trace, and the directory for traces if given."""

    choice: TraceChoice
    directory: Path | None


def trace_options(command: _Command) -> _Command:
    """Add the options about traces to a command; `trace_given` evaluates them."""
    place = "The directory for traces; by default STUDY-NAME.traces next to the study."
    command = click.option(
        _DIRECTORY, "trace_directory", metavar="DIR", help=place, expose_value=False, callback=_keep("directory")
    )(command)
    for key in reversed(option_keys(part="trace.")):
        name = key.removeprefix("trace.")
        command = request_option(key, expose_value=False, callback=_keep(name), default=None, type=str)(command)
    return command


def with_value(arguments: Sequence[str]) -> list[str]:
    """Return the command line with the implied value added to a bare ``--trace``."""
    return [f"--trace={_USUAL}" if word == "--trace" else word for word in arguments]


def _keep(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def keep(ctx: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if value is not None:
            ctx.meta.setdefault(_META, {})[name] = value

    return keep


def trace_given(ctx: click.Context, study: Path | None) -> TraceGiven | None:
    """Return the traces requested by the options, None for none; raise `InputError` with every fault.

    *study*: the file for the runs, if any; without it a directory must be given.
    """
    values: dict[str, str] | None = ctx.meta.get(_META)
    if not values:
        return None
    directory = values.get("directory")
    data: dict[str, Any] = {name: text for name, text in values.items() if name not in ("what", "directory")}
    words = [word.strip() for word in values.get("what", _USUAL).split(",") if word.strip()]
    named: dict[str, tuple[str, ...]] = {_ALL: tuple(TRACE_KINDS), _USUAL: USUAL_TRACE}
    data["what"] = [kind for word in words for kind in named.get(word, (word,))]
    faults: list[Fault] = []
    choice = None
    try:
        choice = toml.validate(TraceChoice, data, "")
    except InputError as error:
        faults = [replace(fault, key=option(f"trace.{fault.key}")) for fault in error.faults]
    if study is None and directory is None:
        text = "a place for the traces was expected: -o STUDY puts them next to the study, --trace-output into DIR"
        faults.append(Fault(text, key=flag_of("trace.what")))
    if directory is not None and Path(directory).exists() and not Path(directory).is_dir():
        faults.append(Fault(f"'{directory}' is not a directory", key=_DIRECTORY))
    if faults or choice is None:
        raise InputError(faults)
    return TraceGiven(choice, Path(directory) if directory is not None else None)


def option(key: str) -> str:
    """Return the option for the request's field *key*; other keys unchanged."""
    parts = key.split(".")
    asked = key in ("timed", "collect.sample") or (parts[0] == "trace" and len(parts) > 1)
    return (flag_of(".".join(parts[:2])) or key) if asked else key


def print_traces(study: Study) -> None:
    """Report how many traces the runs of *study* have written, their size and location."""
    found = [record.trace for record in study.every_run() if record.trace is not None]
    if not found:
        return
    base = study.path.parent if study.path else Path()
    places = sorted({str((base / trace.path).parent) for trace in found})
    size = si(float(sum(trace.bytes for trace in found)), "B")
    rows = sum(sum(trace.counts.values()) for trace in found)
    echo(f"{counted(len(found), 'trace')} in {', '.join(places)}: {thousands(rows)} rows, {size}")
