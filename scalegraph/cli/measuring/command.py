"""``scalegraph measure``: a command as it is, or ``scalegraph simulate`` with this computer as target."""

from __future__ import annotations

import copy
import os
import shlex
import shutil
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from scalegraph.base.errors import Cancelled, Fault, InputError
from scalegraph.cli.asked import option_keys, parameter, request_options
from scalegraph.cli.asserting import check_given, outcome
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.measuring.request import command_request
from scalegraph.cli.measuring.table import print_command
from scalegraph.cli.progress import Unrecorded, progress
from scalegraph.cli.simulate import ProgramArguments, simulate
from scalegraph.request import Session
from scalegraph.request.model.programs import is_shipped
from scalegraph.runtime.languages import is_executable, is_program_part

_HELP: Final = """Measure a program on this computer, or any command as it is.

With `--command`, or where SRC is a program of any kind in place of sources, nothing is built and nothing is changed:
the command runs once for each count of `-p`, as often as `--repeat` or `--until` say. In it, in ARGS and in `--env`,
{N} stands for the count, {processes}, {threads} and {nodes} for numbers derived from it, {NAME} for a parameter:

\b
    scalegraph measure --command 'xz -T{N} -kc FILE' -p 1,2,4 --repeat 5
    scalegraph measure python3 -p 1,2,4 --until 2% -- par.py '{N}'
    scalegraph measure --command 'mpirun -np {N} ./app {n}' -p 1,2,4 --grow 'n=1000*N'

With sources in C, C++ or Fortran, or the name of a shipped program, it is `scalegraph simulate --target host`: the
program is built with a monitor, and the runs land in the same study as simulated ones, with the same quantities; what
was not measured is missing in them.
"""
# Prefixes of the parameters of options that apply only to programs built by ScaleGraph.
_BUILT: Final = (
    *("machine_", "collect_", "what_if_", "schedule", "timed", "openmp", "task_queue", "output_by_rank"),
    *("program_build", "program_executable", "program_cflags", "program_ldflags", "program_include", "ideal_network"),
    *("program_args_at", "space_", "trace_", "verify", "work"),
)
_COMMANDS: Final = tuple(map(parameter, option_keys("measure")))


def _here(parameter: click.Parameter) -> click.Parameter:
    """Return *parameter*; for the option ``--target`` a copy whose default is this computer."""
    if parameter.name != "target_name":
        return parameter
    made = copy.copy(parameter)
    made.default = "host"
    return made


def _words(sources: tuple[str, ...], executable: str) -> tuple[str, ...]:
    """Return the words of a command given instead of sources, empty if there are sources.

    An executable linked by ScaleGraph's compilers for this computer does not count as a command: it has a monitor.
    """
    if executable or not sources or is_shipped(sources):
        return ()
    first = Path(sources[0])
    if is_executable(first):
        from scalegraph.instrument.units import MONITOR, RUNTIME, section

        try:
            ours = any(section(first, name) is not None for name in (MONITOR, RUNTIME))
        except InputError:
            ours = False
        return () if ours else (_path(first), *sources[1:])
    if any(map(is_program_part, sources)):
        return ()
    if first.is_file() and os.access(first, os.X_OK):
        return (_path(first), *sources[1:])
    return sources if not first.exists() and "/" not in sources[0] and shutil.which(sources[0]) else ()


def _path(file: Path) -> str:
    return str(file) if "/" in str(file) else f"./{file}"


@click.pass_context
def _measure(
    ctx: click.Context,
    /,
    *,
    grow: tuple[str, ...],
    hold: str,
    on: str | None,
    **given: Any,
) -> None:
    command = given["program_command"]
    if not command and any(one.name == "program_command" for one in _given(ctx)):
        raise InputError(Fault("it is empty; expected a command", key="--command"))
    words = () if command else _words(given["sources"], given["program_executable"])
    if not command and not words:
        _refuse_command_options(ctx)
        ctx.invoke(simulate, **{name: value for name, value in given.items() if name not in _COMMANDS})
        return
    if command and given["sources"]:
        raise InputError("sources and --command were given; expected one of them")
    _refuse_built_options(ctx)
    given["program_command"] = command or shlex.join(words)
    arguments = ctx.meta.get("program_arguments", ())
    request, shown = command_request(given, arguments, grow, hold, on=on is not None)
    check_given(given["statements"], given["junit"])
    with interruptible() as cancel, progress() as bar:
        emit = Unrecorded(bar)
        kept = _submitted(request, given["study"], on, emit, cancel)
    with kept:
        done = print_command(
            kept, request.target.point_name, shown, as_json=given["as_json"], printed=given["show_output"]
        )
        held = outcome(Session(), kept, given["statements"], given["junit"], kept.manifest.program)
    if cancel.cancelled:
        raise Cancelled("interrupted; finished runs are kept")
    if not held or not done or emit.count:
        ctx.exit(1)


def _submitted(request: Any, study: Path | None, on: str | None, emit: Unrecorded, cancel: Any) -> Any:
    from scalegraph.cli.simulate import as_typed

    if on is None:
        return as_typed(lambda: Session().submit(request, study, emit, cancel))
    from scalegraph.link.cluster.places import check_installed, parse

    where = parse(on, ())
    check_installed(where)
    with Session().elsewhere(where, study, emit, cancel) as there:
        return as_typed(lambda: there.submit(request, study, emit, cancel))


def _given(ctx: click.Context) -> list[click.Parameter]:
    """Return the options that are on the command line."""
    known = ctx.command.params
    return [one for one in known if ctx.get_parameter_source(str(one.name)) is ParameterSource.COMMANDLINE]


def _refuse_built_options(ctx: click.Context) -> None:
    """Raise `InputError` for options that apply only to programs built by ScaleGraph."""
    faults = [
        Fault("applies only to programs that ScaleGraph builds; a command is measured as it is", key=option.opts[0])
        for option in _given(ctx)
        if str(option.name).startswith(_BUILT)
    ]
    if faults:
        raise InputError(faults)


def _refuse_command_options(ctx: click.Context) -> None:
    wanted = (*_COMMANDS, "grow", "hold", "on")
    faults = [
        Fault("applies only to a command that is measured as it is; add --command", key=option.opts[0])
        for option in _given(ctx)
        if option.name in wanted
    ]
    if faults:
        raise InputError(faults)


_OPTIONS: Final = (
    request_options({}, only="measure"),
    click.option(
        "--grow",
        "grow",
        metavar="NAME=FORMULA",
        multiple=True,
        help="Weak scaling: the value of a parameter over N, as in 'n=1000*N'; {n} in the command stands for"
        " it. Repeatable.",
    ),
    click.option(
        "--hold",
        "hold",
        metavar="KIND=VALUE",
        default="",
        help="Search for each N the size, along --grow, that holds efficiency=0.5 or time=10 (seconds).",
    ),
    click.option(
        "--on",
        "on",
        metavar="ADDRESS",
        help="The runs are measured by the workers of a cluster (target dask): tcp://scheduler:8786, ..",
    ),
)


def _with_options(callback: Any) -> Any:
    for option in reversed(_OPTIONS):
        callback = option(callback)
    return callback


_with_options(_measure)
_own: list[click.Parameter] = _measure.__click_params__[::-1]  # type: ignore[attr-defined]
del _measure.__click_params__  # type: ignore[attr-defined]

measure = ProgramArguments(
    "measure",
    callback=_measure,
    params=[*map(_here, simulate.params[:1]), *_own, *map(_here, simulate.params[1:])],
    help=_HELP,
)
