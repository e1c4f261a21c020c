"""Schedules of loops: from the user's notation to what the runtime reads.

| text | which loops | | --- | --- | | ``EA``, ``EA,alpha=32``, ``dynamic,4``, ``mine.c,size=8`` | all worksharing loops
| | ``solve.c:88=EA`` | the loop at this line: that of its directive or of its ``for`` | | ``runtime=guided`` | those
with ``schedule(runtime)``, as OMP_SCHEDULE does |

Semicolons separate several; a loop's own entry takes precedence. The runtime's side is csrc/schedules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.patterns import pattern
from scalegraph.base.run import AS_WRITTEN
from scalegraph.link.build import Build
from scalegraph.link.scale import lines_of, same_file
from scalegraph.runtime import schedules
from scalegraph.runtime.schedules import Schedule

RUNTIME = "runtime"
AUTOMATIC = "automatic"
_CHOICE = pattern(r"(?:(?P<loop>runtime|[^=,;]+:[1-9][0-9]*)=)?(?P<name>[^=,;:]+)(?P<rest>(,[^,;]+)*)")
_LIBGOMP = ("static", "dynamic", "guided")  # names of schedules that OMP_SCHEDULE takes and that we have, too
_CHUNK = pattern(r"[1-9][0-9]{0,17}")
_VALUE = pattern(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>FACTOR([*/]FACTOR)*)".replace(
        "FACTOR", r"([NnPp]|[0-9.]+(e[+-]?[0-9]+)?)(\^-?[1-8])?"
    )
)
_DIRECTIVE = pattern(r"\s*(#\s*pragma|[!cC*]\$omp)", re.IGNORECASE)
FORM = "expected a schedule with its parameters, as in EA,alpha=N/P, dynamic,4 or solve.c:88=ML"


@dataclass(frozen=True, slots=True)
class Choice:
    """A schedule for loops; *loop*: ``FILE:LINE``, `RUNTIME`, or empty for all."""

    loop: str
    name: str
    options: tuple[str, ...]

    @property
    def text(self) -> str:
        """The schedule and its options as written."""
        return ",".join((self.name, *self.options))


def parse(text: str) -> tuple[Choice, ...]:
    """Parse the choices in *text*, without looking up loops and parameters.

    Raises `ValueError` with the expected form, or with the name of an unknown schedule.
    """
    found: list[Choice] = []
    if text == AS_WRITTEN:
        return ()
    for part in filter(None, (one.strip() for one in text.split(";"))):
        match = _CHOICE.fullmatch(part.replace(" ", ""))
        if match is None:
            raise ValueError(f"'{part}': {FORM}")
        options = tuple(filter(None, match["rest"].split(",")))
        for option in options:
            if not _CHUNK.fullmatch(option) and not _VALUE.fullmatch(option):
                raise ValueError(f"'{option}': expected a chunk size, or a parameter as in alpha=N/P^2")
        name, known = match["name"], (*schedules.names(), "auto")
        if name.lower() == AUTOMATIC:
            raise ValueError(f"'{part}': {AUTOMATIC} is chosen from runs, for all loops together; it must stand alone")
        if not schedules.is_file(name) and name.lower() not in map(str.lower, known):
            raise ValueError(f"there is no schedule '{name}'{near(name, known) or f'; {FORM}'}")
        found.append(Choice(match["loop"] or "", "static" if name == "auto" else name, options))
    return tuple(found)


def is_automatic(text: str) -> bool:
    """Whether *text* asks for schedules to be chosen from runs."""
    return text.strip().lower() == AUTOMATIC


def written_or_automatic(text: str) -> str:
    """Return *text*, if `parse` accepts it or it is `AUTOMATIC`; raise `ValueError` otherwise."""
    if is_automatic(text):
        return AUTOMATIC
    parse(text)
    return text


def alternatives(text: str) -> tuple[str, ...]:
    """Split a list with commas into choices: ``static,dynamic,4,EA,alpha=2`` are three.

    A chunk size or parameter belongs to the schedule before it. Raises `ValueError` for an empty item.
    """
    found: list[str] = []
    for item in (one.strip() for one in text.split(",")):
        if not item:
            raise ValueError(f"'{text}': a value is missing next to a comma")
        plain = item.replace(" ", "")
        if found and (_CHUNK.fullmatch(plain) or _VALUE.fullmatch(plain)):
            found[-1] += f",{plain}"
        else:
            found.append(item)
    return tuple(dict.fromkeys(found))


def chosen(text: str) -> bool:
    """Whether *text* chooses schedules for loops that may be static, for which the program needs a special build."""
    return is_automatic(text) or any(choice.loop != RUNTIME for choice in parse(text))


def served(text: str) -> bool:
    """Whether measured runs under *text* need our schedule library: libgomp alone does not have these schedules."""
    return any(choice.loop != RUNTIME or choice.name.lower() not in _LIBGOMP for choice in parse(text))


def library_variables(text: str) -> dict[str, str]:
    """Return the variables with which libgomp, and our library before it, run loops under *text*; see sgn_wanted.c.

    Raises `InputError` for an unknown schedule.
    """
    choices = parse(text)
    if not served(text):
        return {"OMP_SCHEDULE": runtime} if (runtime := of_runtime(choices)) else {}
    found = {}
    for loop, name in (("", "SCALEGRAPH_SCHEDULE"), (RUNTIME, "SCALEGRAPH_SCHEDULE_RUNTIME")):
        for choice in choices:
            if choice.loop == loop:
                found[name] = ",".join((schedules.named(choice.name).name, *choice.options))
    return found


def unmeasured(text: str) -> str:
    """Return why no measured run can use the schedules *text*; empty if one can."""
    if is_automatic(text):
        return f"{AUTOMATIC} is chosen from simulated runs; measure the schedule that they choose"
    for choice in parse(text):
        if choice.loop not in ("", RUNTIME):
            return f"measured runs have one schedule for all loops, not one for {choice.loop}; simulated runs do"
        if schedules.is_file(choice.name):
            return f"'{choice.name}' is a file; 'scalegraph schedules --target host' measures that"
    return ""


def faults(choices: tuple[Choice, ...]) -> list[Fault]:
    """Return a fault for each unknown schedule and parameter."""
    found: list[Fault] = []
    for choice in choices:
        try:
            schedule = schedules.named(choice.name)
        except InputError as error:
            found += error.faults
            continue
        known = [parameter.name.lower() for parameter in schedule.parameters]
        for option in choice.options:
            match = _VALUE.fullmatch(option)
            if match is not None and match["name"].lower() not in known:
                text = f"schedule {schedule.name} has no parameter '{match['name']}'"
                found.append(Fault(f"{text}{near(match['name'], known)}"))
    return found


def loops_file(build: Build, choices: tuple[Choice, ...]) -> str:
    """Return the file of loops and schedules for a run of *build*; empty if none is chosen.

    Raises `InputError` with every unknown schedule, parameter and loop.
    """
    problems = faults(choices)
    lines: list[str] = []
    plugins: dict[str, Schedule] = {}
    for choice in choices if not problems else ():
        schedule = schedules.named(choice.name)
        if schedule.plugin is not None and schedule.name not in plugins:
            plugins[schedule.name] = schedule
            lines.insert(0, f"plugin {schedule.plugin}")
        text = ",".join((schedule.name, *choice.options))
        if choice.loop == "":
            lines.append(f"all {text}")
        elif choice.loop != RUNTIME:
            try:
                lines += [f"{which} {text}" for which in _places(build, choice.loop)]
            except ValueError as error:
                problems.append(Fault(str(error)))
    if problems:
        raise InputError(problems)
    return "".join(f"{line}\n" for line in lines)


def of_runtime(choices: tuple[Choice, ...]) -> str:
    """Return the schedule for loops with ``schedule(runtime)``; empty if none is chosen."""
    return next((choice.text for choice in reversed(choices) if choice.loop == RUNTIME), "")


def _places(build: Build, loop: str) -> list[str]:
    """Return how the runtime identifies the loop at FILE:LINE: its regions, and the code of its head.

    The head is its directive with its ``for`` or ``do``. Compilers may also give the call of a parallel loop the line
    of a statement before it, so a loop that is a region is identified by the region.
    """
    file, _, line = loop.rpartition(":")
    first = last = int(line)
    text = next((source.text.splitlines() for source in build.sources if same_file(source.file, file)), [])
    while 1 < first <= len(text) and _in_head(text, first - 1):
        first -= 1
    while last < len(text) and _in_head(text, last):
        last += 1
    regions = [
        f"region {region.id}"
        for region in build.regions
        if region.is_loop and same_file(region.file, file) and first <= region.line <= last
    ]
    try:
        code = lines_of(build, f"{file}:{first}-{last}", begun=not regions)
    except ValueError:
        if not regions:
            raise
        code = []
    return [*regions, *(f"{low:x} {high:x}" for low, high in code)]


def _in_head(text: list[str], line: int) -> bool:
    """Whether *line* of *text* (from 1) belongs to a loop's head before its ``for`` or ``do``."""
    here, before = text[line - 1], text[line - 2] if line > 1 else ""
    return _DIRECTIVE.match(here) is not None or any(one.rstrip().endswith("\\") for one in (here, before))
