"""Which metadata of runs become parameters: those that differ, without redundant ones."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.names import HOSTS, counts_processors, metric_kind, plain

Setting: TypeAlias = float | int | str
Settings: TypeAlias = dict[str, Setting]

MISSING = "none"  # text for runs that lack the setting
# Words in the names of metadata that distinguish runs but are not settings of the study.
_ABOUT = re.compile(
    r"(?:^|_)(?:user|uid|date|day|time|timestamp|path|executable|libraries|cmdline|command|host|hosts|hostname"
    r"|hostlist|nodelist|dir|directory|workdir|file|outfile|output|job|jobid|walltime|systime|cputime"
    r"|adiakversion|uuid|id|hash|commit|built_by|mpi_version|mpi_library)(?:_|$)"
)


def is_about(name: str) -> bool:
    """Whether metadata with this name says who, where and when, rather than a setting."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    short = re.sub(r"[^0-9a-z]+", "_", words).strip("_")
    if counts_processors(name):
        return False
    return _ABOUT.search(short) is not None or short in ("executablepath", "launchdate", "launchday")


def with_whole(settings: Sequence[Settings], results: Sequence[dict[str, float]]) -> list[Settings]:
    """Return *settings* plus those of *results* that are whole in every run and differ: sizes written as 1048576.0.

    Times, rates and other measured quantities, by name, stay results. What becomes a setting is removed from *results*.
    """
    made = [dict(each) for each in settings]
    for name in list(results[0]) if results else ():
        values = [each.get(name) for each in results]
        whole = all(value is not None and value == int(value) for value in values)
        if not whole or len(set(values)) < 2 or metric_kind(name) != "other" or _is_measured(name):
            continue
        for own, each in zip(made, results, strict=True):
            own[name] = int(each.pop(name))
    return made


def _is_measured(name: str) -> bool:
    from scalegraph.measurements import rates
    from scalegraph.measurements.model import Metric

    return rates.per(Metric(name, "", "other")) is not None or name.lower() in ("figure_of_merit", "fom", "energy")


def varied(settings: Sequence[Settings], always: Sequence[str], files: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names that are parameters, and notes on equal and redundant settings.

    *always*: parameters whenever every run has them. A text that some runs lack becomes `MISSING` in their settings.
    Raises `InputError` for a number that some runs lack and that does not follow from others.
    """
    known = [
        name
        for name in dict.fromkeys(name for each in settings for name in each)
        if not is_about(name) or _tells_hosts(settings, name)
    ]
    alike = [name for name in known if name not in always and _alike(settings, name)]
    left = [name for name in known if name not in alike]
    numbers = [name for name in left if not any(isinstance(each.get(name, 0), str) for each in settings)]
    texts = [name for name in left if name not in numbers]
    chosen, repeated = [], []
    for name in numbers:
        lacking = [file for file, each in zip(files, settings, strict=True) if name not in each]
        if not lacking:
            chosen.append(name)
        elif _follows(settings, texts, name):
            repeated.append(name)
        else:
            message = f"has no '{name}' among its settings; expected it as in the others"
            raise InputError(Fault(message, file=lacking[0]))
    for name in sorted(texts, key=lambda name: _extent(settings, name)):
        if _follows(settings, chosen, name):
            repeated.append(name)
            continue
        chosen.append(name)
        for each in settings:
            each[name] = str(each.get(name, MISSING))
    notes = []
    if alike:
        notes.append("The same in all: " + ", ".join(f"{name} = {settings[0][name]}" for name in alike) + ".")
    if repeated:
        verb, what = ("follow", "are not parameters") if len(repeated) > 1 else ("follows", "is not a parameter")
        notes.append(f"{', '.join(repeated)} {verb} from {', '.join(chosen)}, and {what}.")
    return [name for name in known if name in chosen], notes


def _tells_hosts(settings: Sequence[Settings], name: str) -> bool:
    """Whether a host's name tells runs apart: several runs were on one of several hosts, as nodes of a job are not."""
    found = [each.get(name, MISSING) for each in settings]
    return plain(name) in HOSTS and 1 < len(set(found)) < len(found)


def _alike(settings: Sequence[Settings], name: str) -> bool:
    """Whether all runs have the same value, of which a single run's whole number is no evidence."""
    values = {each.get(name) for each in settings}
    return len(values) == 1 and not (len(settings) == 1 and not isinstance(next(iter(values)), str))


def _follows(settings: Sequence[Settings], chosen: Sequence[str], name: str) -> bool:
    """Whether runs with equal *chosen* values have equal *name*."""
    seen: dict[tuple[Hashable, ...], Hashable] = {}
    return all(
        seen.setdefault(tuple(each.get(other) for other in chosen), each.get(name)) == each.get(name)
        for each in settings
    )


def _extent(settings: Sequence[Mapping[str, Setting]], name: str) -> tuple[int, int]:
    """Return the number of values of a text and their maximum length: few and short ones make the better names."""
    values = {str(each.get(name, MISSING)) for each in settings}
    return len(values), max(map(len, values))
