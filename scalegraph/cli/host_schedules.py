"""``scalegraph schedules --target host``: a program under several schedules, timed with threads on this host."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import RunError
from scalegraph.base.intervals import median_interval
from scalegraph.base.measures import measure, percent
from scalegraph.cli.output import echo, print_rows
from scalegraph.control import native
from scalegraph.request.model.request import Request
from scalegraph.request.model.resolve import resolved

WRITTEN = "as written"


@dataclass(frozen=True)
class Series:
    """The measured times of a schedule on a number of threads, in seconds."""

    schedule: str
    threads: int
    times: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median time."""
        return statistics.median(self.times)

    @property
    def interval(self) -> tuple[float, float, float]:
        """The ends of the interval of the median, and its confidence: 0.95, less with few runs."""
        return median_interval(self.times)

    def document(self) -> dict[str, Any]:
        """Return the fields for ``schedules --target host --json``."""
        low, high, sure = self.interval
        return {
            "name": self.schedule,
            "processors": self.threads,
            "time_s": self.median,
            "interval_s": [low, high],
            "confidence": sure,
            "times_s": list(self.times),
        }


def measured(
    request: Request,
    names: Sequence[str],
    counts: Sequence[int],
    repeats: int,
    cancel: CancelToken,
    say: Callable[[str], None],
) -> list[Series]:
    """Return the times of *request*'s program as written and under *names*, by schedule and threads.

    The schedules take turns, so that other load on the host affects all of them. Raises `RunError` if a run fails.
    """
    target = resolved(request).target
    found: dict[tuple[str, int], list[float]] = {}
    with native.built(
        target.sources,
        cflags=target.cflags,
        ldflags=target.ldflags,
        include=target.include,
        cwd=target.build_dir,
        cancel=cancel,
    ) as program:
        for turn in range(repeats):
            say(f"turn {turn + 1} of {repeats} on this host")
            for name in (WRITTEN, *names):
                text = "" if name == WRITTEN else name
                for count in counts:
                    run = native.run(
                        program, text, count, target.args, env=target.env, cwd=target.run_dir, cancel=cancel
                    )
                    if run.exit_code != 0:
                        last = run.stderr.strip().splitlines()[-1:] or ["no message"]
                        raise RunError(f"{name}, N = {count}: ended with status {run.exit_code}: {last[0]}")
                    found.setdefault((name, count), []).append(run.wall_s)
    return [Series(name, count, tuple(times)) for (name, count), times in found.items()]


def show(series: Sequence[Series], counts: Sequence[int]) -> None:
    """Print the measured times, fastest schedule first, and a conclusion."""
    table = {(one.schedule, one.threads): one for one in series}
    last = counts[-1]
    times = measure([one.median for one in series], "s")
    ordered = sorted({one.schedule for one in series}, key=lambda name: table[name, last].median)
    low = {key: one.interval for key, one in table.items()}
    rows = [
        [
            name,
            *(
                cell
                for n in counts
                for cell in (
                    times.number(table[name, n].median),
                    f"{times.number(low[name, n][0])} to {times.number(low[name, n][1])}",
                )
            ),
        ]
        for name in ordered
    ]
    heads = [cell for n in counts for cell in (f"N = {n}", "interval")]
    print_rows((times.heading("schedule, median measured time"), *heads), rows, left=(0,))
    echo(_verdict(table[ordered[0], last], table[WRITTEN, last]))


def _verdict(best: Series, written: Series) -> str:
    threads, number = written.threads, len(written.times)
    sure = f"{number} runs of each; intervals of the median at {percent(written.interval[2])} confidence"
    if best.interval[1] >= written.interval[0]:
        return f"With {threads} threads on this host no schedule is certainly faster than the program's own ({sure})."
    gain = percent(1 - best.median / written.median)
    gained = f"{best.schedule} takes {gain} less time than the program's own schedule"
    return f"With {threads} threads on this host {gained} ({sure})."
