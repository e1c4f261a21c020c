"""Uncertainties of measured samples: noise of their repetitions, and data that outgrow a cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scalegraph.analyze.targets import Noise, noise
from scalegraph.base.measures import percent
from scalegraph.base.run import RunRecord, Value
from scalegraph.base.units import assigned, counted, si
from scalegraph.control.calibration import Host, this_host
from scalegraph.link.targets.host import Host as HostTarget
from scalegraph.predict.levels import Memory
from scalegraph.predict.regions import Values, values_of
from scalegraph.request.model.origin import of_study
from scalegraph.request.run.sampling import declared
from scalegraph.store import Study

_QUIET: Final = 5.0  # %: default limit for reporting noisy medians, if the request wants no interval
_HALF: Final = 0.5  # of a cache shared with other programs


def noise_notes(runs: Sequence[RunRecord], wanted: float) -> list[str]:
    """Return a sentence for each N with measured samples whose medians are not known to *wanted* percent.

    0 stands for 5 %. Samples measured only once are reported, too: their noise is unknown.
    """
    found: dict[int, list[Noise]] = {}
    for one in noise(runs):
        found.setdefault(one.runs[0].point.processors, []).append(one)
    return [said for n, own in sorted(found.items()) if (said := _noisy(n, own, wanted or _QUIET))]


def _noisy(processors: int, samples: Sequence[Noise], wanted: float) -> str:
    once = [one for one in samples if len(one.runs) < 2]
    if once:
        return (
            f"N = {processors}: {counted(len(once), 'sample')} of {len(samples)} were measured once, so their noise is "
            "not in the interval; repeat them: `scalegraph measure --until 2%`"
        )
    noisy = [one for one in samples if one.width * 100 > wanted]
    if not noisy:
        return ""
    worst = max(noisy, key=lambda one: one.width)
    times = sorted(run.time_s or 0.0 for run in worst.runs)
    where, least, most = assigned(sorted(values_of(worst.runs[0]).items())), si(times[0], "s"), si(times[-1], "s")
    less = f"{len(noisy)} of {counted(len(samples), 'sample')} are known less well than {percent(wanted / 100)}"
    return (
        f"N = {processors}: {less}; the worst is {where}, whose repetitions took {least} to {most}, with a median of "
        f"{si(worst.median_s, 's')} ± {percent(worst.width)}. Predictions are no better: measure again on an idle "
        "computer, or until the medians are known: `scalegraph measure --until 2%`"
    )


@dataclass(frozen=True)
class Data:
    """The data sizes of runs, and the *host* that they ran on; None if unknown."""

    memory: Memory | None
    host: Host | None

    def warning(self, samples: Iterable[Values], values: Values, processors: int) -> str:
        """Return a sentence if the data at *values* outgrow a cache that holds those of all *samples* on that N.

        Half of a cache's size counts as available if other programs use it, too. Empty if the data still fit.
        """
        if self.memory is None or self.host is None:
            return ""
        known = [size for one in samples if (size := self.memory(one)) is not None]
        data = self.memory(values)
        if data is None or not known:
            return ""
        largest = max(known)
        left = ""
        for level in self.host.caches:
            room = level.size_bytes * -(-processors // level.shared_by)
            others = level.shared_by > processors or (level.shared_by > 1 and self.host.is_virtual)
            if largest <= room < data:
                left = f"leave L{level.level} ({si(room, 'B')})"
            elif others and largest <= _HALF * room < data:
                left = f"need more than half of L{level.level} ({si(room, 'B')}), which other programs use, too"
        if not left:
            return ""
        where = assigned([("N", processors), *sorted(values.items())])
        grown = f"the data grow from {si(largest, 'B')} to {si(data, 'B')}"
        return f"{where}: {grown} and {left}; no sample shows what that costs"


def data_of(study: Study, others: Mapping[str, Value]) -> Data:
    """Return the data sizes of the runs of *study*; the host is known if it was measured on this computer."""
    here = HostTarget().place()
    kept = study.manifest.machine_values
    same = kept.get("title") == here.title and all(kept.get(name) == value for name, value in here.values.items())
    return Data(declared(study.manifest.memory, others), this_host() if same else None)


def unknown_data(data: Data, runs: Sequence[RunRecord]) -> list[str]:
    """Return a sentence if it is unknown whether the data of *runs* and of larger ones fit the same cache."""
    if all(run.source != "measured" for run in runs):
        return []
    if data.host is None:
        why = "the caches of the computer that measured them are not known here"
    elif data.memory is None:
        why = "the program file has no memory formula"
    else:
        return []
    return [f"whether data leave a cache between the samples and the predicted runs is not known: {why}"]


def interval_wanted(study: Study) -> float:
    """Return the percentage to which medians of *study* were to be known, 0 if none was given."""
    request = study.manifest.request
    return of_study(request, study.name).target.until if request else 0.0
