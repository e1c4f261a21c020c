"""Caliper profiles put together: which metadata is a parameter, and the set of all files."""

from __future__ import annotations

from collections.abc import Sequence

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.readers._caliper import PROGRAM, CaliperProfile, adds_up, together

PROCESSES = ("mpi.world.size", "jobsize")  # the same thing, said by two services
ALWAYS = (*PROCESSES, "threads", "omp.num.threads", "numhosts")
# Metadata that tells runs apart without being set for the study.
ABOUT = {
    "user", "uid", "launchdate", "launchday", "executable", "executablepath", "libraries", "cmdline", "cluster",
    "hostname", "hostlist", "workdir", "jobid", "walltime", "systime", "cputime", "adiakversion", "mpi_version",
    "mpi_library", "mpi_library_version", "mpi_library_vendor", "Built by",
}  # fmt: skip
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
    for profile in profiles:
        point = found.point(tuple(profile.settings[each] for each in names))
        _add(profile, point, found, top=top, ranks=ranks)
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


def _add(profile: CaliperProfile, point: int, found: Collector, *, top: bool, ranks: bool) -> None:
    for (parts, metric), by_rank in profile.values.items():
        place: int | None = None
        for part in (PROGRAM, *parts) if top else parts:
            place = found.child(place, part)
        assert place is not None
        known = profile.metrics[metric]
        extent = _extent(metric)
        column = found.metric(metric, known.unit, extent=extent, description=known.description)
        values = [together(metric, each) for each in by_rank.values()]
        found.add(point, place, column, (together(metric, values),))
        if ranks and adds_up(metric):
            for ending, value in (("max", max(values)), ("mean", sum(values) / len(profile.ranks))):
                column = found.metric(f"{metric}_{ending}", known.unit, extent=extent, description=known.description)
                found.add(point, place, column, (value,))
    for name, value in profile.results.items():
        root = next(index for index, path in enumerate(found.call_paths) if path.parent is None)
        found.add(point, root, found.metric(name, extent="inclusive", description="of the whole run"), (value,))


def _extent(metric: str) -> str:
    if "inclusive#" in metric:
        return "inclusive"
    return "exclusive" if "duration" in metric else "unknown"
