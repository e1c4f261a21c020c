"""Warnings of successful runs that limit how far their numbers can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from scalegraph.base.measures import percent, reach
from scalegraph.base.run import RunRecord
from scalegraph.base.units import counted, si

_DISTURBED: Final = 0.1  # share of the processors' time, and of the clock rate
_LISTED: Final = 6  # processor counts in a sentence
_SAID: Final = "sampled: "  # as the remark on an estimated run begins, `Sampled.remark`
_SHORTEST_S: Final = 0.1  # the kernel counts the time of other programs in ticks of 10 ms


def remarks(runs: Iterable[RunRecord]) -> list[str]:
    """Return the warnings of the successful *runs*, each once, with the processor counts they apply to.

    Disturbances of measured commands are summed up in one sentence for all runs; estimated runs are left to
    `estimated`.

    Shape: one entry for each warning. Source: ScaleGraph.
    """
    found: dict[str, list[int]] = {}
    good = [run for run in runs if run.ok]
    for run in good:
        for text in of_run(run):
            found.setdefault(text, []).append(run.point.processors)
    said = [f"N = {', '.join(map(str, sorted(set(counts))))}: {text}" for text, counts in found.items()]
    return [*said, *_disturbed(good)]


def of_run(run: RunRecord) -> tuple[str, ...]:
    """Return the warnings of *run* without the one that it is estimated, which `estimated` says.

    Shape: one entry for each warning. Source: ScaleGraph.
    """
    return tuple(text for text in run.warnings if not (run.estimated and text.startswith(_SAID)))


def estimated(runs: Iterable[RunRecord]) -> str:
    """Return how much of the successful simulated *runs* was not simulated, and the interval of their times.

    As in ``estimated: 88 % of phase visits were not simulated, time ± 1.2 % (95 %)``, without a full stop; empty if all
    were simulated in full. With several estimated runs it gives ranges; if only some are estimated, it says which.

    Source: ScaleGraph.
    """
    good = [run for run in runs if run.ok and run.source == "simulated"]
    found = [run for run in good if run.estimated]
    if not found:
        return ""
    skipped = [run.sampled.skipped / run.sampled.visits for run in found if run.sampled is not None]
    share = _range([percent(min(skipped)), percent(max(skipped))])
    errors = [run.time_error for run in found]
    time = _range([reach(min(errors)), reach(max(errors))])
    which = ""
    if len(found) < len(good):
        counts = sorted({run.point.processors for run in found})
        listed = ", ".join(map(str, counts[:_LISTED])) + (", .." if len(counts) > _LISTED else "")
        which = f"{len(found)} of {counted(len(good), 'run')} (N = {listed}), "
    return f"estimated: {which}{share} of phase visits were not simulated, time ± {time} (95 %)"


def _range(ends: Sequence[str]) -> str:
    low, high = ends
    return low if low == high else f"{low.removesuffix(chr(0xA0) + '%')} to {high}"


def disturbance(run: RunRecord) -> tuple[float, str]:
    """Return the largest disturbance of the measured command *run*, as a share and in words; (0, "") if there is none.

    Shape: (share, words). Unit: none (share). Source: ScaleGraph.
    """
    if run.usage is None or run.usage.host is None or run.usage.wall_s <= 0:
        return 0.0, ""
    host, wall = run.usage.host, run.usage.wall_s
    found = [(0.0, "")]
    room = wall * (host.processors or 1)
    if wall >= _SHORTEST_S:
        for spent, words in (
            (host.others_s, "other programs took {} of the processors' time"),
            (host.stolen_s, "the host of this virtual machine kept {} of its processors"),
        ):
            share = min((spent or 0.0) / room, 1.0)
            found.append((share, words.format(percent(share))))
    if host.throttled:
        found.append((1.0, f"the processors were throttled {counted(host.throttled, 'time')}"))
    if host.mhz_begin and host.mhz_end:
        change = abs(host.mhz_end / host.mhz_begin - 1)
        clocks = f"from {si(host.mhz_begin * 1e6, 'Hz')} to {si(host.mhz_end * 1e6, 'Hz')}"
        found.append((change, f"the processors' clock went {clocks}"))
    share, words = max(found)
    return (share, words) if share > _DISTURBED else (0.0, "")


def _disturbed(runs: Sequence[RunRecord]) -> Iterator[str]:
    noticed = [found for run in runs if (found := disturbance(run))[0]]
    if noticed:
        yield f"{len(noticed)} of {counted(len(runs), 'run')} were disturbed; the worst: {max(noticed)[1]}"
