"""``scalegraph measure``: ``scalegraph simulate`` with this computer for its target."""

from __future__ import annotations

import copy

import click

from scalegraph.cli.simulate import ProgramArguments, simulate

_HELP = """Run a parallel program on this computer itself and measure it.

The same as `scalegraph simulate --target host`: the runs land in the same study as simulated ones, with the same
quantities; what was not measured is missing in them. SRC are sources in C, C++ or Fortran, or the name of a
shipped program; ARGS go to the program, and {N} in them stands for the number of processors.
"""


def _here(parameter: click.Parameter) -> click.Parameter:
    """Return *parameter*; of the option ``--target`` a copy whose default is this computer."""
    if parameter.name != "target":
        return parameter
    made = copy.copy(parameter)
    made.default = "host"
    return made


measure = ProgramArguments(
    "measure", callback=simulate.callback, params=[_here(parameter) for parameter in simulate.params], help=_HELP
)
