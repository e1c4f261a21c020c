"""The request for measuring a command, from the options of ``scalegraph measure``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from scalegraph.base import toml
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.run import Value
from scalegraph.cli.asked import request_data
from scalegraph.cli.measuring.options import own_counts
from scalegraph.cli.pairs import pairs
from scalegraph.cli.processors import parse_processors
from scalegraph.cli.simulating import lists
from scalegraph.cli.simulating.request import read_parameters, valid
from scalegraph.request.model.commands import grown
from scalegraph.request.model.parts import Bound, Scaling
from scalegraph.request.model.request import Request

_ANY: Final = 65536
# Options that are read here, or belong to programs that ScaleGraph builds.
_APART: Final = (*lists.PARAMETERS, "parameters", "processors", "program_args_at", "program_cflags")
# Parts of a request about programs that ScaleGraph builds.
_BUILT: Final = ("machine", "collect", "space", "what_if", "verify", "timed", "work")
_HELD: Final = ("efficiency", "time")


def command_request(
    given: Mapping[str, Any], arguments: Sequence[str], grow: Sequence[str], hold: str, *, on: bool
) -> tuple[Request, tuple[int, ...]]:
    """Return the request and the processor counts to show; raise `InputError` with the faults of the options.

    *given*: options by parameter; *on*: whether workers of a cluster measure.
    """
    if given["program_time_from"] and given["program_rate_from"]:
        raise InputError(Fault("--time-from and --rate-from exclude each other"))
    faults: list[Fault] = []
    data = request_data({name: value for name, value in given.items() if name not in _APART}, faults)
    if faults:
        raise InputError(faults)
    counts = parse_processors(given["processors"] or own_counts(), _ANY, "a request")
    base, factors = _grown(grow)
    axes = lists.axes((), given)
    program, target = data["program"], data["target"]
    program |= {"args": tuple(arguments) or None, "directory": str(Path.cwd()), **axes.of_program}
    target |= {"name": "dask" if on and target["name"] == "host" else target["name"], "pin": axes.affinities[0]}
    request = {name: value for name, value in data.items() if name not in _BUILT} | {
        "parameters": {**read_parameters(given["parameters"]), **base},
        "scaling": _scaling(factors),
        "bound": (_bound(hold, factors),),
        "space": axes.space(),
        "processors": tuple(counts),
    }
    return valid(request), tuple(counts)


def _grown(given: Sequence[str]) -> tuple[dict[str, Value], dict[str, str]]:
    try:
        return grown(pairs("--grow", given))
    except ValueError as error:
        raise InputError(Fault(str(error), key="--grow")) from None


def _scaling(factors: dict[str, str]) -> Scaling:
    try:
        return toml.validate(Scaling, {"grow": factors}, "")
    except InputError as error:
        raise InputError([replace(fault, key="--grow") for fault in error.faults]) from error


def _bound(hold: str, grow: dict[str, str]) -> Bound:
    if not hold:
        return Bound(kind="growth" if grow else "problem_size")
    kind, _, text = hold.partition("=")
    if kind not in _HELD:
        known = near(kind, _HELD) or f"; expected {' or '.join(f'{name}=VALUE' for name in _HELD)}"
        raise InputError(Fault(f"'{hold}' holds nothing that is known{known}", key="--hold"))
    if not grow:
        raise InputError(Fault("searches sizes along --grow, which is missing", key="--hold"))
    try:
        return Bound(kind=kind, value=float(text.removesuffix("s")))  # type: ignore[arg-type]
    except ValueError as error:
        said = str(error).splitlines()
        why = said[2].strip() if len(said) > 2 else "no number"  # pydantic's wrapper adds no information
        raise InputError(Fault(f"'{hold}': {why}", key="--hold")) from None
