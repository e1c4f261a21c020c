"""What a request's target cannot do: unknown names, too many processors, data that it does not measure."""

from __future__ import annotations

from collections.abc import Iterator

from scalegraph.base.errors import Fault, InputError
from scalegraph.link import loops
from scalegraph.link.targets import Target, named, setting_faults
from scalegraph.machine.active import RANKS_PER_NODE
from scalegraph.request.model.request import Request

KEY = "target.name"
SCHEDULES = "schedules"  # among the things that a target measures
_RANKS_PER_NODE = "ranks_per_node"


def target_of(request: Request) -> Target:
    """Return the target of *request*; raise `InputError` if there is none of that name."""
    return named(request.target.name)


def is_simulated(request: Request) -> bool:
    """Return whether the request is carried out on a simulated machine."""
    return not request.target.point_name or target_of(request).source == "simulated"


def settings(request: Request) -> dict[str, str]:
    """Return the settings of *request*'s target, including the program's number of ranks per node."""
    each = request.program.ranks_per_node
    given = {_RANKS_PER_NODE: str(each)} if each and _takes_ranks(target_of(request)) else {}
    return {**given, **request.target.settings}


def _takes_ranks(target: Target) -> bool:
    return any(setting.name == _RANKS_PER_NODE for setting in target.settings)


def faults(request: Request) -> list[Fault]:
    """Return every fault of *request* that concerns its target."""
    try:
        target = target_of(request)
    except InputError as error:
        return list(error.faults)
    found = setting_faults(target, request.target.settings)
    if target.source != "simulated":
        # threads and ranks of a command may share processors: its runs report it
        found += [] if request.program.command else [*_processors(request, target)]
        found += _not_measured(request, target)
        if request.program.ranks_per_node and not _takes_ranks(target):
            text = f"target '{target.name}' does not place ranks; simulated machines and Slurm do"
            found.append(Fault(text, key=RANKS_PER_NODE))
    return found


def _processors(request: Request, target: Target) -> Iterator[Fault]:
    bounds = {f"bound.{index}.processors": bound.processors for index, bound in enumerate(request.bound)}
    for key, counts in {"processors": request.processors, **bounds}.items():
        refused = {count: text for count in counts if (text := target.refusal(count, settings(request)))}
        for text in dict.fromkeys(refused.values()):
            which = ", ".join(str(count) for count in refused if refused[count] == text)
            yield Fault(f"{which} processors: {text}", key=key)


def _not_measured(request: Request, target: Target) -> Iterator[Fault]:
    """Yield a fault for each thing that the request wants from every run but *target* cannot give."""
    wanted = (
        ("what_if", "what_if", bool(request.what_if)),
        ("speedups", "what_if", bool(request.speedups.lines or request.speedups.regions)),
        ("schedules.compare", "what_if", bool(request.schedules.compare)),
        ("predict", "work", request.predict is not None),
        ("collect.classes", "memory", request.collect.classes),
        ("collect.sample", "what_if", request.collect.sample == "always"),
        ("trace", "trace", request.trace is not None),
        *((f"bound.{at}.kind", "work", bound.kind == "speed") for at, bound in enumerate(request.bound)),
    )
    for key, needs, there in wanted:
        if there and needs not in target.measures:
            yield Fault(f"target '{target.name}' cannot do this; the simulated target can", key=key)
    yield from _schedules(request, target)
    if request.collect.monitor != "none":
        text = f"the monitor is one of the simulated machine; target '{target.name}' has its own"
        yield Fault(text, key="collect.monitor")


def _schedules(request: Request, target: Target) -> Iterator[Fault]:
    """Yield a fault for each loop schedule that runs on *target* cannot have."""
    for key, text in (("schedule", request.schedule), *(("space.schedule", one) for one in request.space.schedule)):
        if said := loops.unmeasured(text):
            yield Fault(said, key=key)
        elif loops.served(text) and (
            SCHEDULES not in target.measures or request.program.executable or request.program.command
        ):
            what = "of an executable" if request.program.executable else f"on target '{target.name}'"
            said = f"loops {what} take static, dynamic or guided where they say schedule(runtime), as in runtime=guided"
            yield Fault(f"{said}; targets host and mpi build sources for any schedule", key=key)
