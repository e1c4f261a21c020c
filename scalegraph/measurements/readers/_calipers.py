"""Caliper profiles put together: which metadata is a parameter, and the set of all files."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.names import metric_kind
from scalegraph.measurements.readers._caliper import PROGRAM, CaliperProfile, adds_up, together
from scalegraph.measurements.readers._waiting import BUSIEST, BUSY, BUSY_WORDS, ELAPSED, is_waiting

PROCESSES = ("mpi.world.size", "jobsize")  # the same thing, said by two services
ALWAYS = (*PROCESSES, "threads", "omp.num.threads", "numhosts")
# Metadata that distinguishes runs without being set for the study.
ABOUT = {
    "user", "uid", "launchdate", "launchday", "executable", "executablepath", "libraries", "cmdline", "cluster",
    "hostname", "hostlist", "workdir", "jobid", "walltime", "systime", "cputime", "adiakversion", "mpi_version",
    "mpi_library", "mpi_library_version", "mpi_library_vendor", "Built by",
}  # fmt: skip
_TIME = re.compile(r"(?:inclusive#)?(?:scale#)?sum#.*(?:time|host)\.duration(?:\.ns)?")
NOTE = (
    "Values are summed over the processes; metrics that end in _max and _mean are of the process that has most and of "
    "the average one."
)


def collect_calipers(profiles: Sequence[CaliperProfile], name: str, title: str) -> MeasurementSet:
    """Return the set of *profiles*; those with the same parameters are repetitions. *name*: what was read."""
    names, notes = _parameters(profiles, name)
    found = Collector(name, names)
    top = any(not path for profile in profiles for path, _ in profile.values)
    ranks = any(len(profile.ranks) > 1 for profile in profiles)
    waiting = any(is_waiting(part) for profile in profiles for path, _ in profile.values for part in path[-1:])
    for profile in profiles:
        point = found.point(tuple(profile.settings[each] for each in names))
        _add(profile, point, found, top=top, ranks=ranks, waiting=waiting)
        for reason, (count, place) in profile.left_out.items():
            found.skip("records", count, reason, place)
    files = [profile.file for profile in profiles]
    return found.finish("caliper", title, files=files, notes=[*notes, *([NOTE] if ranks else [])])


def _parameters(profiles: Sequence[CaliperProfile], name: str) -> tuple[list[str], list[str]]:
    """Return the metadata that are parameters, and notes on what is the same in every file."""
    known = list(dict.fromkeys(each for profile in profiles for each in profile.settings if each not in ABOUT))
    everywhere = [each for each in known if all(each in profile.settings for profile in profiles)]
    if all(each in known for each in PROCESSES) and PROCESSES[1] in everywhere:
        known.remove(PROCESSES[0])
    chosen: list[str] = []
    notes: list[str] = []
    for each in known:
        values = {profile.settings.get(each) for profile in profiles}
        one = values == {next(iter(values))} and None not in values
        if one and not (each in ALWAYS or (len(profiles) == 1 and isinstance(next(iter(values)), int))):
            notes.append(f"{each} = {next(iter(values))}")
            continue
        if None in values:
            without = next(profile.file for profile in profiles if each not in profile.settings)
            message = f"has no '{each}' among its globals; expected it as in the other files of {name}"
            raise InputError(Fault(message, file=without))
        chosen.append(each)
    return chosen, [f"In every file: {', '.join(notes)}."] if notes else []


def _names(metrics: Collection[str]) -> dict[str, str]:
    """Return short names for the metric of time and those that belong to it; the file's own stay for all others.

    ``sum#inclusive#sum#time.duration`` is made by adding up processes, ``max#..`` and its sisters by comparing them:
    of these the longest is how long the program ran.
    """
    times = [name for name in metrics if _TIME.fullmatch(name)]
    times.sort(key=lambda name: "inclusive#" in name)
    if not times or "time" in metrics:
        return {"time": "time"}
    rest = times[0].removeprefix("sum#")
    sisters = {"max#": ELAPSED, "avg#": "time_mean", "min#": "time_min"} if rest.startswith("inclusive#") else {}
    return {times[0]: "time", **{start + rest: name for start, name in sisters.items()}}


class _Top:
    """Inclusive values of the program: those measured outside of every region do not hold those of the regions."""

    def __init__(self, point: int, found: Collector, *, above: bool) -> None:
        """*above*: the program is above the regions in the tree."""
        self._point, self._found, self._above = point, found, above
        self._outside: dict[int, float] = {}
        self._regions: dict[int, float] = {}

    def take(self, parts: Sequence[str], column: int, value: float) -> bool:
        """Keep a value of the program or of a region right below it; return whether it stands nowhere else."""
        if not self._above or self._found.metrics[column].extent != "inclusive" or len(parts) > 1:
            return False
        kept = self._regions if parts else self._outside
        kept[column] = kept.get(column, 0.0) + value
        return not parts

    def finish(self, root: int) -> None:
        """Add the program's values: never less than those of its regions together."""
        for column in dict.fromkeys((*self._outside, *self._regions)):
            whole = max(self._outside.get(column, 0.0), self._regions.get(column, 0.0))
            self._found.add(self._point, root, column, (whole,))


def _put(
    point: int, place: int, column: int, value: float, found: Collector, above: tuple[_Top, Sequence[str]]
) -> None:
    program, parts = above
    if not program.take(parts, column, value):
        found.add(point, place, column, (value,))


def _add(profile: CaliperProfile, point: int, found: Collector, *, top: bool, ranks: bool, waiting: bool) -> None:
    inclusive: dict[int, dict[int, float]] = {}
    useful: dict[int, dict[int, float]] = {}
    short = _names(profile.metrics)
    program = _Top(point, found, above=top)
    for (parts, metric), by_rank in profile.values.items():
        places: list[int] = []
        for part in (PROGRAM, *parts) if top else parts:
            places.append(found.child(places[-1] if places else None, part))
        values = {rank: together(metric, each) for rank, each in by_rank.items()}
        whole = together(metric, list(values.values()))
        _put(point, places[-1], _metric(profile, metric, "", short, found), whole, found, (program, parts))
        if not ranks or not adds_up(metric):
            continue
        for ending, value in (("_max", max(values.values())), ("_mean", whole / len(profile.ranks))):
            _put(point, places[-1], _metric(profile, metric, ending, short, found), value, found, (program, parts))
        if short.get(metric) == "time" and _extent(metric) == "exclusive":
            for place in places:
                longest_of = inclusive.setdefault(place, {})
                below = useful.setdefault(place, {})
                for rank, value in values.items():
                    longest_of[rank] = longest_of.get(rank, 0.0) + value
                    below[rank] = below.get(rank, 0.0) + (0.0 if is_waiting(parts[-1] if parts else "") else value)
            if waiting:
                _add_busy(point, places[-1], [] if parts and is_waiting(parts[-1]) else list(values.values()), found)
    for longest, name, words in (
        (inclusive, ELAPSED, "longest time of a process"),
        (useful if waiting else {}, BUSIEST, f"longest {BUSY_WORDS} of a process"),
    ):
        for place, by_process in longest.items():
            unit = found.metrics[found.metric("time")].unit
            column = found.metric(name, unit, kind="time", extent="inclusive", description=words)
            found.add(point, place, column, (max(by_process.values()),))
    root = next(index for index, path in enumerate(found.call_paths) if path.parent is None)
    program.finish(root)
    for name, value in profile.results.items():
        found.add(point, root, found.metric(name, extent="inclusive", description="of the whole run"), (value,))


def _add_busy(point: int, place: int, values: list[float], found: Collector) -> None:
    unit = found.metrics[found.metric("time")].unit
    for name, value, words in (
        (BUSY, sum(values), BUSY_WORDS),
        (f"{BUSY}_max", max(values, default=0.0), "of the process that has most"),
    ):
        column = found.metric(name, unit, kind="time", extent="exclusive", description=words)
        found.add(point, place, column, (value,))


def _metric(profile: CaliperProfile, name: str, ending: str, short: dict[str, str], found: Collector) -> int:
    known = profile.metrics[name]
    description = "; ".join(each for each in (name if name in short else "", known.description) if each)
    kind = "time" if "duration" in name and "/" not in name else metric_kind(name, known.unit)
    title = short.get(name, name) + ending
    return found.metric(title, known.unit, kind=kind, extent=_extent(name), description=description)


def _extent(metric: str) -> str:
    if "inclusive#" in metric or metric == "time (inc)":
        return "inclusive"
    return "exclusive" if "duration" in metric or metric == "time" else "unknown"
