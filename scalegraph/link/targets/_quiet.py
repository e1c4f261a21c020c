"""What disturbed a measured run: other programs, the host of a virtual machine, a changing frequency."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalegraph.base.measures import percent
from scalegraph.base.units import si
from scalegraph.runtime.results import Result

_STAT = Path("/proc/stat")
_STEAL = 8  # the column of steal time
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Disturbance:
    """The largest disturbance of a run: its *share* of a processor or of the frequency, and *words* for it."""

    share: float = 0.0
    words: str = ""


def stolen_s() -> float:
    """Return the seconds of steal time on this virtual machine's processors; 0 where not reported."""
    try:
        first = _STAT.read_text(encoding="ascii").partition("\n")[0].split()
    except (OSError, UnicodeDecodeError):
        return 0.0
    return int(first[_STEAL]) / _TICKS if len(first) > _STEAL else 0.0


def disturbance(results: Sequence[Result], processors: int, host_s: float, stolen: float) -> Disturbance:
    """Return the largest disturbance of the run that left *results*.

    *processors*: of the run; *host_s*: its duration; *stolen*: the increase of `stolen_s` meanwhile, in s.
    """
    found = [*_others(results, processors), *_frequency(results)]
    if host_s > 0 and stolen > 0:
        share = stolen / host_s / (os.cpu_count() or 1)
        found.append(Disturbance(share, f"the host of this virtual machine kept {percent(share)} of its processors"))
    return max(found, key=lambda one: one.share, default=Disturbance())


def _others(results: Sequence[Result], processors: int) -> Iterator[Disturbance]:
    """Yield the share of each thread's time taken by other programs, unless the run's own threads share processors."""
    threads = [
        (list(map(int, text.split())), result)
        for result in results
        for name, text in result.meta.items()
        if name.startswith("thread.")
    ]
    if len(threads) > processors:
        return
    for (_events, _ran, waited_ns, processor, _kernel), result in threads:
        whole = int(result.meta["time_cycles"]) / float(result.meta["frequency_hz"])
        share = min(waited_ns * 1e-9 / whole, 1.0) if whole > 0 else 0.0
        yield Disturbance(share, f"other programs took {percent(share)} of processor {processor}")


def _frequency(results: Sequence[Result]) -> Iterator[Disturbance]:
    for result in results:
        begin, end = (float(result.meta[name]) * 1e3 for name in ("khz_begin", "khz_end"))
        if begin > 0 and end > 0:
            share = abs(end / begin - 1)
            words = f"the processor's frequency went from {si(begin, 'Hz')} to {si(end, 'Hz')}"
            yield Disturbance(share, words)
