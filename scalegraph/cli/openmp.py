"""Options of simulating commands: which OpenMP library the program uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])


def openmp_options(command: _Command) -> _Command:
    """Return *command* with the options for `openmp_variables`."""
    queue = click.option(
        "--task-queue",
        type=click.Choice(["members", "central"]),
        default=None,
        show_default="as the library has it",
        help="Where OpenMP tasks wait: a queue for each member of the team, or one for all.",
    )
    library = click.option(
        "--openmp",
        type=click.Choice(["libgomp", "llvm"]),
        default="libgomp",
        show_default=True,
        help="The OpenMP library whose barriers, locks, teams and task queue are simulated; gcc's is libgomp.",
    )
    return library(queue(command))


def openmp_variables(openmp: str, task_queue: str | None) -> Iterator[str]:
    """Yield the variables that select the simulated OpenMP library, if they differ from the default."""
    if openmp != "libgomp":
        yield f"SCALEGRAPH_OPENMP={openmp}"
    if task_queue is not None:
        yield f"SCALEGRAPH_TASK_QUEUE={task_queue}"
