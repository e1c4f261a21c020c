"""The ``scalegraph`` command: the window by default, everything else as subcommands; errors are reported here."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

# pydantic looks for plugins in all installed packages before the first model: a tenth of a short run.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

import click

import scalegraph
from scalegraph.base.errors import BuildError, InputError, ScaleGraphError, near
from scalegraph.base.files import reason
from scalegraph.cli import collecting
from scalegraph.cli.output import STANDARD_OUTPUT, echo

# command -> (module, description); a module is imported when its command is used, so that --help is fast
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "The main job on real input: shipped programs on the simulated KSR-1."),
    "doctor": ("doctor", "Check what works on this computer and say what to install."),
    "simulate": (
        "simulate",
        "Run an unmodified program (C, C++, Fortran; OpenMP, threads, MPI) on a simulated machine.",
    ),
    "measure": (
        "measuring.command",
        "Measure a program on this computer: `scalegraph simulate --target host`.",
    ),
    "run": ("run", "Carry out a request file; resumes a study that has some of its runs."),
    "collect": ("cluster.collect", "Put the results of batch jobs into their study."),
    "matrix": ("matrix", "Compute a scalability matrix of a study."),
    "analyze": ("analyze", "Compute any quantity of a study, as a table or JSON."),
    "choose": ("choosing.command", "Say which point of a study to take: machine, processors, split, schedule."),
    "advise": ("advise", "Say which run would narrow a prediction most, and run it."),
    "compare": ("compare", "Compare two or more studies."),
    "export": ("export", "Write any view of a study as a picture or its data."),
    "report": ("report", "Write a study as one HTML file with verdicts, pictures and numbers."),
    "explain": ("explain", "Explain a metric or term: formula, unit, source, intuition."),
    "machines": ("machines", "List, show and check machine descriptions."),
    "predict": ("predict", "Predict the time of large runs from a few small ones."),
    "schedules": ("schedules", "List the schedules of worksharing loops, or compare them on a program."),
    "instrument": ("instrument", "Show what the preprocessor inserts into a C source."),
    "trace": ("trace", "Say what is in a trace, check it, or write it in another format."),
    "import": ("importing", "Turn measurements of other tools, and tables, into a study."),
}
_ATTRIBUTES = {"import": "import_"}
_SUFFIXES = (".sgstudy", ".toml")
VARIABLE = "_SCALEGRAPH_COMPLETE"  # click's name for it


def command(name: str) -> click.Command:
    """Import and return the command called *name*."""
    module = importlib.import_module(f"scalegraph.cli.{COMMANDS[name][0]}")
    found = getattr(module, _ATTRIBUTES.get(name, name))
    assert isinstance(found, click.Command)
    return found


class LazyGroup(click.Group):
    """Imports commands on demand, opens the window if none is named, and suggests similar names."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the commands in the order of a typical workflow."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command."""
        if cmd_name not in COMMANDS:
            return None
        if VARIABLE in os.environ:  # the shell is waiting for a completion
            stub: click.Command | None = importlib.import_module("scalegraph.cli.completion.stubs").command(cmd_name)
            return stub
        return command(cmd_name)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return completions: commands, and files to open in the window."""
        stubs = importlib.import_module("scalegraph.cli.completion.stubs")
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        found = stubs.items({name: text for name, (_, text) in COMMANDS.items()}, incomplete)
        return [stubs.files(incomplete), *found]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the named command; if files are named instead, they are opened in the window."""
        name = args[0]
        if ctx.resilient_parsing and name not in COMMANDS:
            return name, None, args
        if name in COMMANDS:
            return super().resolve_command(ctx, args)
        if name.startswith("-"):
            raise click.NoSuchOption(name, ctx=ctx)
        if Path(name).exists() or name.endswith(_SUFFIXES) or os.sep in name:
            return "window", importlib.import_module("scalegraph.cli.window").window, args
        raise click.UsageError(f"unknown command or file '{name}'{near(name, COMMANDS)}", ctx)


@click.group(
    "scalegraph",
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    subcommand_metavar="[FILE ... | COMMAND ...]",
)
@click.version_option(scalegraph.__version__, prog_name="scalegraph")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Say how far a parallel program scales, what stops it, and what would change that.

    Without a command the window opens, with the studies named. Every command has --help.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(importlib.import_module("scalegraph.cli.window").window)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit the process with its exit code."""
    collecting.seldom()
    code = run(arguments)
    collecting.done()
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code. All errors become sentences on standard error here."""
    try:
        outcome = cli.main(
            args=None if arguments is None else list(arguments), prog_name="scalegraph", standalone_mode=False
        )
        if sys.stdout is not None:
            sys.stdout.flush()
    except ScaleGraphError as error:
        return _tell(error)
    except click.exceptions.Exit as error:
        return error.exit_code
    except SystemExit as error:  # click's exception when the reader of our output is gone
        return error.code if isinstance(error.code, int) else 0
    except click.ClickException as error:
        return _usage(error)
    except (click.Abort, KeyboardInterrupt):
        echo("scalegraph: interrupted", err=True)
        return 130
    except BrokenPipeError:
        _silence()
        return 0
    except OSError as error:
        return _unwritable(error)
    except MemoryError:
        echo("scalegraph: there is not enough memory for this; close other programs, or take a smaller file", err=True)
        return 1
    except Exception as error:  # noqa: BLE001 - the last line of defence: never a traceback for the user
        return _unexpected(error)
    return outcome if isinstance(outcome, int) else 0


def _tell(error: ScaleGraphError) -> int:
    """Print one line per fault, with its file and line."""
    lines = [str(fault) for fault in error.faults] if isinstance(error, InputError) else str(error).splitlines()
    for line in lines or [type(error).__name__]:
        echo(f"scalegraph: {line}", err=True)
    if isinstance(error, BuildError) and error.output.strip():
        echo(error.output.rstrip(), err=True)
    return error.exit_code


def _usage(error: click.ClickException) -> int:
    """Print the usage error, and where to find help."""
    message = error.format_message().rstrip(".")
    if isinstance(error, click.NoSuchOption):
        names = [name for item in (error.ctx.command.params if error.ctx else []) for name in item.opts]
        message = f"unknown option '{error.option_name}'{near(error.option_name, names)}"
    message = message[:1].lower() + message[1:]
    echo(f"scalegraph: {message}", err=True)
    context: Any = getattr(error, "ctx", None)
    if context is not None:
        echo(f"see: {context.command_path} --help", err=True)
    return 2


def _silence() -> None:
    """Stop the interpreter from complaining that the reader of our output is gone."""
    null = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(null, sys.stdout.fileno())


def _unwritable(error: OSError) -> int:
    """Report which file (or standard output) the operating system did not let us read or write."""
    if not isinstance(error.errno, int):
        return _unexpected(error)
    place = error.filename if isinstance(error.filename, str | bytes) else "standard output or a temporary file"
    if place == STANDARD_OUTPUT or not isinstance(error.filename, str | bytes):
        _silence()
    echo(f"scalegraph: {os.fsdecode(place)}: {reason(error)}", err=True)
    return 1


def _unexpected(error: Exception) -> int:
    """Save the traceback to a file and report that in one sentence."""
    text = "".join(traceback.format_exception(error))
    if os.environ.get("SCALEGRAPH_DEBUG"):
        echo(text, err=True)
    try:
        handle, name = tempfile.mkstemp(prefix="scalegraph-error-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"scalegraph {scalegraph.__version__}, Python {sys.version}\n{sys.argv!r}\n\n{text}")
        where = f"; the details are in {name}"
    except OSError:
        where = ""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    echo(f"scalegraph: an error of ScaleGraph itself ({type(error).__name__}: {reason}){where}", err=True)
    return 1


if __name__ == "__main__":
    main()
