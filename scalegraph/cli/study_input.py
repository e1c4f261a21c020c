"""INPUT of a command: a study file, or measurements read as one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import Any, TypeVar

import click

from scalegraph.base.errors import Fault, InputError
from scalegraph.cli import mapping_words, switch_words
from scalegraph.cli.mapping_words import KEYS
from scalegraph.cli.output import echo
from scalegraph.cli.places import as_argument
from scalegraph.store import Study

_META = "scalegraph.mapping"
_TABLE = "scalegraph.table"
_WORK = "scalegraph.work"
_SELECT = "scalegraph.select"
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _meaning(ctx: click.Context, _parameter: click.Parameter, words: tuple[str, ...]) -> None:
    """Save the statements about measurements for `open_input`; raise `InputError` for every invalid word."""
    said, table = mapping_words.parsed(words)
    ctx.meta[_META] = said | ctx.meta.get(_META, {})  # a dedicated option overrides a word of --mapping
    ctx.meta[_TABLE] = table


# the options of `scalegraph import` accepted by every command with measurements as INPUT: messages may name them
_SWITCHES = {
    "time": "the metric that is the elapsed time",
    "unit": "the unit of the time: s, ms, us, ns, min, h, cycles",
    "clock": "the clock rate in Hz, if the unit is cycles",
    "total": "the call path that is the whole program",
    "values": "inclusive or exclusive",
    "scaling": "strong or weak",
}


def _switched(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Save one option's statement about measurements; raise `InputError` if it is invalid."""
    if value is None:
        return
    field, taken = KEYS[str(parameter.name)]
    try:
        ctx.meta[_META] = {**ctx.meta.get(_META, {}), field: taken(value)}
    except ValueError as error:
        raise InputError(Fault(f"'{value}': {error}", key=f"--{parameter.name}")) from None


def _select(ctx: click.Context, _parameter: click.Parameter, words: tuple[str, ...]) -> None:
    """Save the selection from a study of several choices for `open_input`."""
    if words:
        from scalegraph.request.results import selecting

        ctx.meta[_SELECT] = selecting.parse(words, sizes=ctx.command.name == "choose")


def mapping_option(command: _Command) -> _Command:
    """Add the options of `scalegraph import` on the meaning of names to a command whose INPUT may be measurements.

    An option with another meaning declared below by the command takes precedence; ``--mapping`` replaces it there.
    """
    taken = {word for option in getattr(command, "__click_params__", ()) for word in option.opts}
    for name, text in reversed(_SWITCHES.items()):
        if f"--{name}" in taken:
            continue
        command = click.option(
            f"--{name}", metavar=name.upper(), callback=_switched, expose_value=False, help=f"Of measurements: {text}."
        )(command)
    command = click.option(
        "--select",
        "selected",
        multiple=True,
        metavar="AXIS=VALUE",
        callback=_select,
        expose_value=False,
        help="Select from a study of several machines, splits, schedules .., as in machine=ksr1; repeatable.",
    )(command)
    return click.option(
        "--mapping",
        multiple=True,
        metavar="KEY=VALUE",
        callback=_meaning,
        expose_value=False,
        help="For measurements as INPUT: the meaning of names, as in unit=s or processors=ranks; repeatable.",
    )(command)


def _chosen_work(ctx: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value:
        ctx.meta[_WORK] = value


def work_option(command: _Command) -> _Command:
    """Add the option that defines W to a command whose INPUT is a study, overriding the study's request."""
    return click.option(
        "--work",
        metavar="FORMULA",
        callback=_chosen_work,
        expose_value=False,
        help="What the work W is: flops, operations, or a formula of the parameters, as in '2*n**3/3'.",
    )(command)


def selection() -> dict[str, str]:
    """Return the selection by ``--select`` from a study of several choices."""
    context = click.get_current_context(silent=True)
    found: dict[str, str] = {} if context is None else context.meta.get(_SELECT, {})
    return found


def open_whole(path: Path) -> Study:
    """Return the study at *path* with all its choices, ignoring the selection."""
    return _opened(path)


def open_choices(path: Path) -> Study:
    """Return the study at *path* with the selected choices, or all if nothing is selected."""
    study = _opened(path)
    if study.members() == ({},):
        return study
    from scalegraph.request.results import selecting

    try:
        return selecting.only(study, selection())
    except InputError:
        study.close()
        raise


def open_input(path: Path) -> Study:
    """Return the study at *path*, with W as set by `work_option`; see `_opened`.

    For a study of several machines, splits and so on it is the one chosen by ``--select``, or the first, with a note.
    """
    study = _opened(path)
    context = click.get_current_context(silent=True)
    wanted = selection()
    if wanted or study.members() != ({},):
        from scalegraph.request.results import selecting

        try:
            study, said = selecting.selected(study, wanted)
        except InputError:
            study.close()
            raise
        if said:
            echo(said, err=True)
    study.work = str(context.meta.get(_WORK, "")) if context is not None else ""
    return study


def _opened(path: Path) -> Study:
    """Return the study at *path*; measurements and graph files become a study in memory.

    Raises `StoreError` or `InputError` saying what was expected, and how to answer what cannot be guessed.
    """
    context = click.get_current_context(silent=True)
    said: dict[str, Any] = context.meta.get(_META, {}) if context is not None else {}
    table: dict[str, Any] = context.meta.get(_TABLE, {}) if context is not None else {}
    if not path.exists():
        raise InputError(Fault("no such file; a study (.sgstudy) or measurements were expected", file=str(path)))
    from scalegraph.cli.interrupt import interruptible
    from scalegraph.cli.progress import share_bar
    from scalegraph.measurements.mapping import Unanswered
    from scalegraph.request.imports import sets as imports
    from scalegraph.request.imports.graphs import is_graph
    from scalegraph.request.imports.graphs import study_of as graph_study
    from scalegraph.request.imports.kinds import is_study

    if is_study(path) and not said and not table:
        return Study.open(path)
    if is_graph(path):
        return graph_study(path)
    try:
        with interruptible() as token, share_bar(f"reading {path.name}") as progress:
            choices = mapping_words.choices(table) if table else None
            return imports.opened([path], choices=choices, said=said, cancel=token, progress=progress)
    except Unanswered as error:
        hint = f"`scalegraph import {as_argument(path)} ..` takes these options and makes a study of it"
        each = [mapping_words.answer(one) for one in error.questions]
        if all(each) and context is not None and any(option.name == "mapping" for option in context.command.params):
            words = " ".join(f"--mapping {quote(word)}" for word in each)
            kept = f"`scalegraph import {as_argument(path)} ..` keeps the answers in a study"
            hint = f"to take every guess here: {words}; {kept}"
        faults = _here(InputError(error.points()), context, path).faults
        raise InputError([*faults, Fault(hint, severity="remark")]) from None
    except InputError as error:
        raise _here(error, context, path) from None


def _here(error: InputError, context: click.Context | None, path: Path) -> InputError:
    """Return *error* with options that the running command accepts in the same meaning as `import`."""
    if context is None:
        return error
    return switch_words.faults(error, switch_words.taken(context.command, _switched), mapping_words.ALL, path)


def known_endings() -> tuple[str, ...]:
    """Return the file extensions that can be written."""
    from scalegraph.figures import render

    return tuple(f".{ending}" for ending in render.ENDINGS)
