"""Which schedules a loop is worth trying under, from the chunks of one run of it.

The idea is that of LB4OMP's selection (Korndörfer, Eleliemy, Mohammed, Ciorba 2022): ExhaustiveSel tries all, ExpertSel
knows rules about the imbalance. Here the times of the iterations that one run showed are dealt out again by each
schedule, with what a chunk costs there, and the best few are tried by runs.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from scalegraph.base.loops import LoopCost
from scalegraph.base.measures import percent

PROBE: Final = "mFSC"  # its chunks are of one size, few enough to cost little and many enough to show the iterations
STATIC: Final = "static"
EVEN: Final = 0.01  # the slowest thread may be so much above the mean before anything else than static is tried
_MOST: Final = 20_000  # chunks that are dealt out one by one; of more, sums say enough
_NEAR: Final = 0.03  # schedules whose predicted times differ by less are not told apart


@dataclass(frozen=True)
class Seen:
    """What a run under `PROBE` showed of a loop.

    *upto*: work of the first i iterations in cycles, for i = 0 .. iterations, by the mean of the executions that were
    kept; *chunk*: cycles that obtaining a chunk takes, without waiting; *home*: work of the loop in equal shares over
    that under the probe: below 1 where iterations are faster on the thread that always has them; *members*: threads.
    """

    upto: npt.NDArray[np.float64]
    members: int
    chunk: float
    home: float = 1.0

    @property
    def iterations(self) -> int:
        """Iterations of one execution.

        Unit: count. Source: ScaleGraph.
        """
        return len(self.upto) - 1

    @property
    def mean(self) -> float:
        """Work of all iterations over the threads: what no schedule is below, but for locality.

        Unit: cycles. Source: ScaleGraph.
        """
        return float(self.upto[-1]) / self.members

    @property
    def imbalance(self) -> float:
        """Share of the slowest thread's time that the mean is below it, under equal shares in order.

        Unit: none (share). Source: ScaleGraph.
        """
        slowest = _static(self)
        return 1 - self.mean / slowest if slowest else 0.0

    @property
    def spread(self) -> float:
        """Standard deviation of the times of the iterations over their mean, as far as chunks show it.

        Unit: none (ratio). Source: ScaleGraph.
        """
        each = np.diff(self.upto)
        return float(each.std() / each.mean()) if len(each) and each.mean() else 0.0


def seen(loop: LoopCost, home: float = 1.0) -> Seen | None:
    """Return what the chunks of *loop*, under `PROBE`, show; None where they are too few, or not those of a whole loop.

    *home* as in `Seen`.

    Shape: as in `Seen`. Unit: cycles. Source: ScaleGraph.
    """
    chunks = loop.history
    if not loop.iterations or loop.members < 2 or not chunks.first:
        return None
    lows = np.asarray(chunks.first, dtype=np.float64)
    execution, count = np.asarray(chunks.execution), np.asarray(chunks.count)
    step = chunks.step[0] or 1
    work, known = np.zeros(loop.iterations), 0
    for number in np.unique(execution):
        mine = execution == number
        if int(count[mine].sum()) != loop.iterations:
            continue  # cut off, or another number of iterations
        known += 1
        origin = lows[mine].min() if step > 0 else lows[mine].max()
        for low, size, begin, end in zip(
            lows[mine], count[mine], np.asarray(chunks.begin)[mine], np.asarray(chunks.end)[mine], strict=True
        ):
            at = round(abs(low - origin) / abs(step))
            work[at : at + size] += (end - begin) / size
    if not known:
        return None
    asked = max(1, loop.chunk_count)
    cost = max(0, sum(loop.asking) - sum(loop.lock)) / asked
    return Seen(np.concatenate(([0.0], np.cumsum(work / known))), loop.members, cost, home)


def predicted(loop: Seen) -> dict[str, float]:
    """Return the cycles that one execution of *loop* should take under each schedule that can be dealt out again.

    Shape: one entry for each schedule. Unit: cycles. Source: ScaleGraph.
    """
    n, threads = loop.iterations, loop.members
    sizes = sorted({1, max(1, math.ceil(n / (32 * threads))), max(1, math.ceil(n / (8 * threads)))})
    central: Mapping[str, Callable[[int], int]] = {
        **{"dynamic" if size == 1 else f"dynamic,{size}": _fixed(size) for size in sizes},
        "guided": lambda left: math.ceil(left / threads),
        "TSS": _trapezoid(n, threads),
        "FAC2": _factoring(threads),
        PROBE: _fixed(max(1, math.ceil(n / (threads * max(1, math.ceil(math.log2(max(2, n / threads)))))))),
    }
    found = {name: _queue(loop, size) for name, size in central.items()}
    found[STATIC] = loop.home * _static(loop)
    found["ML"] = loop.home * _own_queues(loop, lambda left: math.ceil(left / threads))
    found["steal"] = loop.home * _own_queues(loop, lambda _left: 1)
    return found


def worth_trying(loop: Seen, written: float | None = None, most: int = 3) -> list[str]:
    """Return the schedules that *loop* is worth running under, the most promising first; none where it is even.

    *written*: cycles of one execution as the program has it; a schedule that is predicted to be slower is left out.
    Of those that share all work in one queue, and of those that leave it at home, the best of each is among them, as
    what a cache line costs on its way is only known of what ran.

    Shape: at most *most* entries. Unit: none. Source: ScaleGraph.
    """
    times = predicted(loop)
    if loop.imbalance < EVEN:
        return [STATIC] if written is not None and times[STATIC] < written * (1 - EVEN) else []
    limit = min(written if written is not None else math.inf, times[STATIC])
    order = [name for name in sorted(times, key=lambda name: (times[name], name)) if times[name] < limit * (1 + _NEAR)]
    home = [name for name in order if name in ("ML", "steal", STATIC)]
    shared = [name for name in order if name not in home and name != PROBE]  # that one has run
    first = [names[0] for names in (home, shared) if names]
    return [name for name in order if name in first] + [name for name in order if name not in (*first, PROBE)][
        : most - len(first)
    ]


def why(loop: Seen, names: Sequence[str], elapsed: float, *, is_static: bool) -> str:
    """Return in a sentence what was seen of *loop*, and what follows from it for *names*, those of `worth_trying`.

    *elapsed*: cycles of one execution as the program has it, the start of the threads included; *is_static*: in equal
    shares.

    Source: ScaleGraph.
    """
    times = predicted(loop)
    text = f"with equal shares the threads would wait {percent(loop.imbalance)} of the time for the slowest"
    if loop.spread >= EVEN:
        text += f", as iterations differ by {percent(loop.spread)} of their mean"
    if not names:
        return f"{text}; other schedules would cost more than that"
    best = min(names, key=lambda name: times[name])
    saved = ((times[STATIC] if is_static else elapsed) - times[best]) / elapsed
    return f"{text}; {best} should save {percent(max(0.0, saved))} of the loop's time"


def _static(loop: Seen) -> float:
    return float(np.diff(loop.upto[_bounds(loop)]).max())


def _bounds(loop: Seen) -> npt.NDArray[np.int64]:
    """Return where the equal shares of the threads begin and end: the first ones have one iteration more."""
    each, rest = divmod(loop.iterations, loop.members)
    sizes = [each + 1] * rest + [each] * (loop.members - rest)
    return np.concatenate(([0], np.cumsum(sizes)))


def _fixed(size: int) -> Callable[[int], int]:
    return lambda _left: size


def _trapezoid(n: int, threads: int) -> Callable[[int], int]:
    first = max(1, math.ceil(n / (2 * threads)))
    chunks = max(2, math.ceil(2 * n / (first + 1)))
    fall = (first - 1) / (chunks - 1)
    return lambda left: max(1, round(math.sqrt(max(1.0, 1 + 2 * fall * left)))) if left < n else first


def _factoring(threads: int) -> Callable[[int], int]:
    def size(left: int) -> int:
        # a batch of P chunks begins where half of the one before is left; its size stays until then
        batch = 1 << (max(1, left) - 1).bit_length()
        return max(1, math.ceil(min(left, batch) / (2 * threads)))

    return size


def _chunks(n: int, size: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    at = 0
    while at < n:
        take = min(n - at, max(1, size(n - at)))
        yield at, at + take
        at += take


def _queue(loop: Seen, size: Callable[[int], int]) -> float:
    """Return the time of one queue for all: one thread at a time obtains a chunk."""
    n, threads, each = loop.iterations, loop.members, loop.chunk
    if n / max(1, size(n // 2 or 1)) > _MOST:
        count = n / size(n // 2)
        return max(count * each, loop.mean + count * each / threads)
    free, queue = [0.0] * threads, 0.0
    for low, high in _chunks(n, size):
        begin = max(heapq.heappop(free), queue)
        queue = begin + each
        heapq.heappush(free, queue + float(loop.upto[high] - loop.upto[low]))
    return max(free)


def _own_queues(loop: Seen, size: Callable[[int], int]) -> float:
    """Return the time of a queue for each thread; who has done its own takes half of what the fullest has."""
    bounds = _bounds(loop)
    if loop.iterations / max(1, size(loop.iterations // loop.members or 1)) > _MOST:
        return loop.mean + loop.iterations * loop.chunk / loop.members
    queues = [(int(low), int(high)) for low, high in pairwise(bounds)]
    free = [(0.0, thread) for thread in range(loop.members)]
    last = 0.0
    while free:
        now, thread = heapq.heappop(free)
        low, high = queues[thread]
        if low == high:
            fullest = max(range(loop.members), key=lambda one: queues[one][1] - queues[one][0])
            begin, end = queues[fullest]
            if end - begin < 2:
                last = max(last, now)
                continue
            middle = end - (end - begin) // 2
            queues[fullest], (low, high) = (begin, middle), (middle, end)
            now += 2 * loop.chunk
        take = min(high - low, max(1, size(high - low)))
        queues[thread] = (low + take, high)
        heapq.heappush(free, (now + loop.chunk + float(loop.upto[low + take] - loop.upto[low]), thread))
    return last
