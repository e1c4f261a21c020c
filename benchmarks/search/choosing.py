"""Successive halving on ten spaces of 200 points with a fifth of the runs: how close it comes to the best point.

The spaces come from an analytic model (below) that was chosen before anything was measured. Each has 4 machines x 5
splits x 2 schedules x 5 processor counts; the seed decides speeds, latencies, bandwidths, serial share and imbalance.
For comparison, the same number of runs is chosen at random (mean of 200 draws).

    python benchmarks/search/choosing.py
"""

from __future__ import annotations

import itertools
import math
import random
import statistics

from scalegraph.analyze.choosing import halving
from scalegraph.analyze.choosing.halving import Place

SEEDS = range(1, 11)
COUNTS = (16, 32, 64, 128, 256)
SPLITS = (1, 2, 4, 8, 16)
SCHEDULES = ("static", "dynamic")
RUNS = 40


def space(seed: int) -> dict[Place, float]:
    """Return the time (s) of each point in the space of *seed*."""
    draw = random.Random(seed)
    serial, imbalance = draw.uniform(0.0005, 0.01), draw.uniform(0.0, 0.6)
    chunk, volume, traffic = draw.uniform(1e-5, 2e-3), draw.uniform(0.2, 3.0), draw.uniform(0.2, 1.0)
    machines = {
        f"m{at}": (draw.uniform(0.7, 1.6), draw.uniform(2e-4, 4e-3), draw.uniform(8, 40), draw.choice((8, 16, 32)))
        for at in range(4)
    }
    times = {}
    for (name, (speed, latency, bandwidth, socket)), split, schedule, count in itertools.product(
        machines.items(), SPLITS, SCHEDULES, COUNTS
    ):
        ranks = count / split
        work = 10.0 / speed
        loads = min(count, socket) * traffic / bandwidth  # cores of a socket share its memory
        compute = work * (1 - serial) / count * max(1.0, loads)
        uneven = imbalance * compute * (1 - 1 / split) if schedule == "static" else chunk * math.log2(split + 1) * 8
        far = 1.3 if split > socket else 1.0  # threads of a process on two sockets
        messages = latency * math.log2(ranks + 1) * (1 + 0.2 * math.sqrt(ranks)) + volume * 1e-2 * ranks ** (-2 / 3)
        times[Place((name, str(split), schedule), count)] = far * compute + uneven + work * serial + messages
    return times


def searched(times: dict[Place, float], runs: int) -> tuple[float, int]:
    """Return the ratio of the best time found to the best time in the space, and the number of runs."""
    _places, known = runs_of(times, runs)
    return min(known.values()) / min(times.values()), len(known)


def runs_of(times: dict[Place, float], runs: int) -> tuple[list[Place], dict[int, float]]:
    """Return the points, and the times of those that the search runs (by index)."""
    places = list(times)
    known: dict[int, float] = {}
    for at in halving.first(places, halving.opening(runs, len(places))):
        known[at] = times[places[at]]
    while len(known) < runs:
        left = runs - len(known)
        chosen = halving.following(places, known, (), left, max(1, left // 3))
        if not chosen:
            break
        known |= {at: times[places[at]] for at in chosen}
    return places, known


def stated(budgets: tuple[int, ...] = (8, 12, 16, 24, 40), seeds: range = range(1, 21)) -> None:
    """Print the stated risk that a skipped point is more than 5 % faster, beside how often this was the case."""
    print("runs  stated risk  came true")
    for runs in budgets:
        risks, true = [], []
        for seed in seeds:
            times = space(seed)
            places, known = runs_of(times, runs)
            risks.append(halving.left_out(places, known).risk)
            best = min(known.values()) * (1 - halving.NOTABLE)
            true.append(any(times[place] < best for at, place in enumerate(places) if at not in known))
        print(f"{runs:4}  {statistics.mean(risks):11.3f}  {statistics.mean(true):9.3f}")


def at_random(times: dict[Place, float], runs: int, draws: int = 200) -> float:
    """Return the mean ratio of the best of *runs* random points to the best point."""
    draw = random.Random(0)
    values, best = list(times.values()), min(times.values())
    return statistics.mean(min(draw.sample(values, runs)) / best for _ in range(draws))


def main() -> None:
    """Print the table."""
    print("seed  points  runs  found / best  random / best")
    found = []
    for seed in SEEDS:
        times = space(seed)
        ratio, runs = searched(times, RUNS)
        found.append(ratio)
        print(f"{seed:4}  {len(times):6}  {runs:4}  {ratio:12.4f}  {at_random(times, RUNS):13.4f}")
    stated()
    print(f"worst {max(found):.4f}, within 5 % on {sum(one <= 1.05 for one in found)} of {len(found)}")


if __name__ == "__main__":
    main()
