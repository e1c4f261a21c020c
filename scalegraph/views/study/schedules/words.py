"""Shared parts of views of schedules: the need for runs, texts, and the verdict on the best schedule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scalegraph.base.errors import InputError
from scalegraph.base.measures import percent
from scalegraph.base.run import RunRecord
from scalegraph.base.units import assigned
from scalegraph.figures.way import Need
from scalegraph.subjects.loop_schedules import WRITTEN
from scalegraph.subjects.schedule_runs import Advice, ScheduleRuns, by_loop, saving, schedule_runs
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways

GROUP: Final = "What would change it"
AS_WRITTEN: Final = "as written"
EACH_BEST: Final = "best of each loop"
_HOLDS = 0.5  # of the expected gain
_PARTS, _SMALL = 3, 0.005  # most parts named in a sentence, and the smallest share that is named

NEED = Need(
    "No loop schedules have been compared yet.",
    ways.COMPARE_SCHEDULES,
    "Run the program with its worksharing loops under other schedules.",
    "Schedules can be changed only for a program that ScaleGraph can run.",
    met=lambda data, **_: schedule_runs(data) is not None,
)


def the_runs(data: StudyData) -> ScheduleRuns:
    """Return the runs under schedules, for a view whose needs guarantee some."""
    found = schedule_runs(data)
    assert found is not None
    return found


def said(name: str) -> str:
    """Return a schedule's display name."""
    if by_loop(name):
        return EACH_BEST
    return name.removeprefix("runtime=") if name != WRITTEN else AS_WRITTEN


def notes(data: StudyData, runs: ScheduleRuns) -> tuple[str, ...]:
    """Return the notes shown by every view of schedules."""
    problem = assigned(dict(runs.size).items()) if runs.size else ""
    problems = (f"Problem: {problem}.",) if problem else ()
    return (*problems, *common.run_notes(data))


def the_count(runs: ScheduleRuns, processors: int | None) -> int:
    """Return *processors*, or the highest count on which schedules were compared.

    Raises:
        InputError: schedules were not compared on that count.

    """
    if processors is None:
        return runs.counts[-1]
    if processors not in runs.counts:
        counts = ", ".join(map(str, runs.counts))
        raise InputError(f"processors: schedules were not compared on {processors}, but on {counts}")
    return processors


def verdict(advice: Advice) -> str:
    """Return the gain of the fastest schedule, and where processor time is saved or spent."""
    on = f"On {advice.processors} processor{'s' if advice.processors > 1 else ''}"
    if advice.fastest == WRITTEN:
        return f"{on} no schedule is faster than the program as written."
    name = "the best schedule of each loop" if by_loop(advice.fastest) else said(advice.fastest)
    gain = percent(advice.gain)
    changes = changed(advice.written, advice.fastest_run)
    of = f". Of the processors' time as written: {', '.join(changes)}" if changes else ""
    doubt = "" if advice.sure else "; the intervals of these estimates overlap, so a full run may differ"
    return f"{on} {name} takes {gain} less time than the program as written{of}{doubt}."


def changed(written: RunRecord, other: RunRecord) -> list[str]:
    """Return the categories that change most from *written* to *other*, as shares of all time as written."""
    whole = sum(written.categories.values()) or 1
    shares: Mapping[str, tuple[float, float]] = {
        key: (written.categories.get(key, 0) / whole, other.categories.get(key, 0) / whole)
        for key in sorted({*written.categories, *other.categories})
    }
    most = sorted(shares, key=lambda key: -abs(shares[key][0] - shares[key][1]))[:_PARTS]
    return [
        f"{common.CATEGORY_WORDS.get(key, key)} from {percent(shares[key][0])} to {percent(shares[key][1])}"
        for key in most
        if abs(shares[key][0] - shares[key][1]) >= _SMALL
    ]


def confirmed(advice: Advice) -> str:
    """Return whether the run with the best schedule of each loop confirms the expected gain."""
    if not advice.together:
        return "Every loop is best as written."
    if advice.run is None or not advice.expected_s or not advice.written.time_s:
        return "The best schedules of the loops were not run together."
    expected, found = 1 - advice.expected_s / advice.written.time_s, saving(advice.written, advice.run)
    more = f"{percent(abs(found))} {'less' if found >= 0 else 'more'} time"
    text = f"The best schedules of the loops together take {more}; {percent(expected)} less was expected"
    if found >= _HOLDS * expected:
        return f"{text} from single-loop runs."
    return f"{text}: one loop's schedule changes where other loops find their data, which single-loop runs do not show."


def interval(found: list[Advice]) -> str:
    """Return the range of gains over the processor counts, and whether one schedule is best on all."""
    gains = sorted(advice.gain for advice in found)
    counts = f"{found[0].processors} to {found[-1].processors} processors"
    if len(found) == 1:
        return "Only one processor count was run: the gain on others is not known."
    names = {said(advice.fastest) for advice in found}
    same = (
        f"{names.pop()} is fastest on all of them" if len(names) == 1 else f"{len(names)} schedules are fastest there"
    )
    return f"On {counts} the gain is {percent(gains[0])} to {percent(gains[-1])}; {same}."
