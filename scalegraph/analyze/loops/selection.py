"""Which schedules are worth trying for a loop, judged from the chunks of one run.

The idea is LB4OMP's automated selection (Korndörfer, Eleliemy, Mohammed, Ciorba 2022): ExhaustiveSel tries all
schedules, ExpertSel uses rules about the imbalance. Here the iteration times seen in one run are replayed under each
schedule, with that run's cost per chunk, and the few best schedules are tried in real runs.
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

PROBE: Final = "mFSC"  # equal chunks, few enough to be cheap and many enough to resolve the iterations
STATIC: Final = "static"
EVEN: Final = 0.01  # imbalance under equal shares from which schedules other than static are tried
_MOST: Final = 20_000  # replay at most this many chunks one by one; with more, a formula is accurate enough
_NEAR: Final = 0.03  # schedules whose predicted times differ by less are equivalent


@dataclass(frozen=True)
class Seen:
    """What a run under `PROBE` showed about a loop.

    *upto*: cumulative work in cycles of the first i iterations, i = 0 .. iterations, averaged over the recorded
    executions; *chunk*: cycles to obtain a chunk, without waiting; *home*: the loop's work under equal shares relative
    to that under the probe: below 1 if iterations run faster on a thread that always gets the same ones; *members*:
    threads.
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
        """Mean work per thread: a lower bound for every schedule, apart from locality.

        Unit: cycles. Source: ScaleGraph.
        """
        return float(self.upto[-1]) / self.members

    @property
    def imbalance(self) -> float:
        """How far the mean lies below the slowest thread under equal shares, relative to the slowest.

        Unit: none (share). Source: ScaleGraph.
        """
        slowest = _static(self)
        return 1 - self.mean / slowest if slowest else 0.0

    @property
    def spread(self) -> float:
        """Coefficient of variation of the iteration times, as far as chunks resolve them.

        Unit: none (ratio). Source: ScaleGraph.
        """
        each = np.diff(self.upto)
        return float(each.std() / each.mean()) if len(each) and each.mean() else 0.0


def seen(loop: LoopCost, home: float = 1.0) -> Seen | None:
    """Return what the chunks of *loop*, under `PROBE`, show; None for too few chunks, or without a whole execution.

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
            continue  # truncated, or with a different number of iterations
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
    """Return the predicted cycles of one execution of *loop* under each schedule that can be replayed.

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
    """Return the schedules worth running for *loop*, most promising first; none if it is balanced.

    *written*: cycles of one execution as the program is written; schedules predicted to be slower are left out. The
    best schedule with a central queue and the best one that keeps iterations at home are both included, because the
    cost of moving cache lines is known only from runs.

    Shape: at most *most* entries. Unit: none. Source: ScaleGraph.
    """
    times = predicted(loop)
    if loop.imbalance < EVEN:
        return [STATIC] if written is not None and times[STATIC] < written * (1 - EVEN) else []
    limit = min(written if written is not None else math.inf, times[STATIC])
    order = [name for name in sorted(times, key=lambda name: (times[name], name)) if times[name] < limit * (1 + _NEAR)]
    home = [name for name in order if name in ("ML", "steal", STATIC)]
    shared = [name for name in order if name not in home and name != PROBE]  # the probe has been run already
    first = [names[0] for names in (home, shared) if names]
    return [name for name in order if name in first] + [name for name in order if name not in (*first, PROBE)][
        : most - len(first)
    ]


def why(loop: Seen, names: Sequence[str], elapsed: float, *, is_static: bool) -> str:
    """Return a sentence on what was seen of *loop*, and what it means for *names*, the result of `worth_trying`.

    *elapsed*: cycles of one execution as the program is written, including the start of the threads; *is_static*: with
    equal shares.

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
    """Return the bounds of the threads' equal shares: the first ones have one iteration more."""
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
        # a batch of P chunks starts when half of the previous batch is left; its chunk size is fixed
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
    """Return the time with a central queue: only one thread at a time obtains a chunk."""
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
    """Return the time with a queue per thread; an idle thread steals half of the fullest queue."""
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
