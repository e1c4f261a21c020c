"""Combined Caliper profiles: the set of all files, with the metadata in which they differ as parameters."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.names import metric_kind
from scalegraph.measurements.reader import Progress
from scalegraph.measurements.readers._caliper import PROGRAM, CaliperProfile, adds_up, read_stream, together
from scalegraph.measurements.readers._waiting import BUSIEST, BUSY, BUSY_WORDS, ELAPSED, is_waiting
from scalegraph.measurements.settings import varied, with_whole

PROCESSES = ("mpi.world.size", "jobsize")  # the same quantity from two services
ALWAYS = (*PROCESSES, "threads", "omp.num.threads", "numhosts")
_TIME = re.compile(r"(?:inclusive#)?(?:scale#)?sum#.*(?:time|host)\.duration(?:\.ns)?")
_DEEPEST = 8  # levels of directories
_MOST = 20_000  # files
NOTE = (
    "Values are summed over the processes; metrics that end in _max and _mean are of the process that has most and of "
    "the average one."
)


def collect_calipers(profiles: Sequence[CaliperProfile], name: str, title: str) -> MeasurementSet:
    """Return the set of *profiles*; those with the same parameters are repetitions. *name*: of the input."""
    results = [dict(profile.results) for profile in profiles]
    settings = with_whole([profile.settings for profile in profiles], results)
    if all(each in settings[0] for each in PROCESSES) and all(PROCESSES[1] in each for each in settings):
        settings = [{key: value for key, value in each.items() if key != PROCESSES[0]} for each in settings]
    names, notes = varied(settings, ALWAYS, [profile.file for profile in profiles])
    found = Collector(name, names)
    top = any(not path for profile in profiles for path, _ in profile.values)
    ranks = any(len(profile.ranks) > 1 for profile in profiles)
    waiting = any(is_waiting(part) for profile in profiles for path, _ in profile.values for part in path[-1:])
    for profile, setting, result in zip(profiles, settings, results, strict=True):
        point = found.point(tuple(setting[each] for each in names))
        _add(replace(profile, results=result), point, found, top=top, ranks=ranks, waiting=waiting)
        for reason, (count, place) in profile.left_out.items():
            found.skip("records", count, reason, place)
    files = [profile.file for profile in profiles]
    return found.finish("caliper", title, files=files, notes=[*notes, *([NOTE] if ranks else [])])


def streams_below(path: Path) -> list[Path]:
    """Return the ``.cali`` files in and below directory *path*, down to `_DEEPEST` levels, in order.

    Raises `InputError` if a directory cannot be read, or there are too many files.
    """
    found: list[Path] = []
    for at, below, files in os.walk(path, onerror=_unread):
        below[:] = sorted(name for name in below if name[0] != ".")
        if len(Path(at).relative_to(path).parts) >= _DEEPEST:
            below.clear()
        found += [Path(at, name) for name in sorted(files) if name[0] != "." and name.endswith(".cali")]
        if len(found) > _MOST:
            raise InputError(Fault(f"holds more than {_MOST} .cali files; give a part of them", file=str(path)))
    return found


def _unread(error: OSError) -> None:
    raise InputError(Fault(f"cannot be read: {error.strerror}", file=str(error.filename))) from error


def read_streams(paths: Sequence[Path], cancel: CancelToken, progress: Progress) -> MeasurementSet:
    """Return the set of ``.cali`` files and directories of them; metadata that differ between two are parameters."""
    files = [file for path in paths for file in (streams_below(path) if path.is_dir() else [path])]
    if not files:
        raise InputError(Fault("holds no .cali file; expected one for each run", file=str(paths[0])))
    profiles = []
    for number, file in enumerate(files, 1):
        cancel.check()
        profiles.append(read_stream(file, cancel))
        progress(number / len(files))
    one = paths[0] if len(paths) == 1 else paths[0].parent
    return collect_calipers(profiles, str(one), one.name if one.is_dir() else one.stem)


def _names(metrics: Collection[str]) -> dict[str, str]:
    """Return short names for the metric of time and those that belong to it; others keep the file's names.

    ``sum#inclusive#sum#time.duration`` is a sum over processes, ``max#..`` and similar compare them: the longest is the
    duration of the program.
    """
    times = [name for name in metrics if _TIME.fullmatch(name)]
    times.sort(key=lambda name: "inclusive#" in name)
    if not times or "time" in metrics:
        return {"time": "time"}
    rest = times[0].removeprefix("sum#")
    sisters = {"max#": ELAPSED, "avg#": "time_mean", "min#": "time_min"} if rest.startswith("inclusive#") else {}
    return {times[0]: "time", **{start + rest: name for start, name in sisters.items()}}


class _Top:
    """Inclusive values of the program: those measured outside all regions do not include those of the regions."""

    def __init__(self, point: int, found: Collector, *, above: bool) -> None:
        """*above*: whether the program is above the regions in the tree."""
        self._point, self._found, self._above = point, found, above
        self._outside: dict[int, float] = {}
        self._regions: dict[int, float] = {}

    def take(self, parts: Sequence[str], column: int, value: float) -> bool:
        """Keep a value of the program or of a region directly below it; return whether the caller must not add it."""
        if not self._above or self._found.metrics[column].extent != "inclusive" or len(parts) > 1:
            return False
        kept = self._regions if parts else self._outside
        kept[column] = kept.get(column, 0.0) + value
        return not parts

    def finish(self, root: int) -> None:
        """Add the program's values: never less than the sum of its regions."""
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
