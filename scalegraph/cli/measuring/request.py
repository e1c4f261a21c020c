"""The request for measuring a command, from the options of ``scalegraph measure``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.run import Value
from scalegraph.cli.measuring.options import own_counts
from scalegraph.cli.pairs import pairs
from scalegraph.cli.processors import parse_processors
from scalegraph.cli.simulating import lists
from scalegraph.request.model.commands import grown
from scalegraph.request.model.parts import Bound, Scaling, TargetChoice
from scalegraph.request.model.prediction import read_sizes
from scalegraph.request.model.program_choice import ProgramChoice
from scalegraph.request.model.request import Limits, Request

_ANY: Final = 65536
_HELD: Final = ("efficiency", "time")


@dataclass(frozen=True)
class Asked:
    """The command line input: the options for commands, and *given*, those common to all measured programs."""

    command: str
    shell: bool
    time_from: str
    rate_from: str
    stacks: bool
    grow: tuple[str, ...]
    hold: str
    arguments: tuple[str, ...]
    given: dict[str, Any]


def command_request(asked: Asked, *, on: bool) -> tuple[Request, tuple[int, ...]]:
    """Return the request and the processor counts to show; raise `InputError` with the faults of the options.

    *on*: whether workers of a cluster measure.
    """
    given = asked.given
    if asked.time_from and asked.rate_from:
        raise InputError(Fault("--time-from and --rate-from exclude each other"))
    counts = parse_processors(given["processors"] or own_counts(), _ANY, "a request")
    base, grow = _grown(asked.grow)
    parameters = {**_parameters(given["parameters"]), **base}
    bound = _bound(asked.hold, grow)
    axes = lists.axes((), given["threads_per_process"], (), given["pin"])
    reference = not given["no_reference"]
    request = Request(
        program=ProgramChoice(
            command=asked.command,
            shell=asked.shell,
            time_from=asked.time_from,
            rate_from=asked.rate_from,
            stacks=asked.stacks,
            args=asked.arguments or None,
            env=pairs("--env", given["env"]),
            stdin=str(given["stdin"] or ""),
            directory=str(Path.cwd()),
            cwd=str(given["cwd"] or ""),
            accept_exit=given["accept_exit"],
            threads_per_process=axes.threads[0],
        ),
        parameters=parameters,
        scaling=Scaling(grow=grow),
        bound=(bound,),
        target=TargetChoice(
            name="dask" if on and given["target"] == "host" else given["target"],
            settings=pairs("--target-set", given["target_set"]),
            pin=axes.affinities[0],
            warm_up=given["warm_up"],
            until=given["until"],
            most_runs=given["most_runs"],
            disturbed=given["disturbed"],
        ),
        space=axes.space(),
        processors=tuple(counts),
        repetitions=given["repeat"],
        reference=reference,
        limits=Limits(time_s=given["timeout"], memory_bytes=given["memory"]),
    )
    return request, tuple(counts)


def _parameters(given: Sequence[str]) -> dict[str, Any]:
    try:
        found = read_sizes(";".join(given)) if given else {}
    except ValueError as error:
        raise InputError(Fault(str(error), key="--parameter")) from None
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _grown(given: Sequence[str]) -> tuple[dict[str, Value], dict[str, str]]:
    try:
        return grown(pairs("--grow", given))
    except ValueError as error:
        raise InputError(Fault(str(error), key="--grow")) from None


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
