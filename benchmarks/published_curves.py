"""How often the interval of a prediction holds what was published: curves over N with the largest N left out.

    python benchmarks/published_curves.py FILE.csv .. [--powers]

A FILE has columns that name a curve, all but the last two, then N and a time, or a rate whose name ends in ``_s`` after
a unit of work (``gb_s``). Each curve of five or more N is fitted without its largest N; the 95 % interval of one new
measurement there is compared with the published value. *--powers* takes the powers of 2 and the largest N only, as most
scaling tables have them. Prints curves, coverage, the median width of the interval and the median error.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
import pandas as pd

from scalegraph.analyze.fits.averaging import averaged
from scalegraph.analyze.fits.noise import condense

LEAST = 5  # different N of a curve


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--powers", action="store_true")
    given = parser.parse_args()
    found: dict[str, list[tuple[bool, float, float]]] = defaultdict(list)
    for file in given.files:
        table = pd.read_csv(file)
        *names, count, value = table.columns
        for key, rows in table.groupby(names):
            rows = rows.sort_values(count)
            n, values = rows[count].to_numpy(dtype=float), rows[value].to_numpy(dtype=float)
            times = 1 / values if value.endswith("_s") and value != "time_s" else values
            if given.powers:
                kept = (np.log2(n) % 1 == 0) | (n == n.max())
                n, times = n[kept], times[kept]
            if len(np.unique(n)) >= LEAST:
                found[str(key[1] if len(key) > 1 else file)].append(tested(n, times))
    print("| curves | of | hold % | width, median | error, median |")
    print("| --- | --- | --- | --- | --- |")
    for name, rows in [*found.items(), ("all", [row for part in found.values() for row in part])]:
        held, width, error = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
        cells = (f"{100 * held.mean():.0f}", f"{np.median(width):.2f}", f"{np.median(error):.3f}")
        print(f"| {name} | {len(rows)} | {' | '.join(cells)} |")


def tested(n: np.ndarray, times: np.ndarray) -> tuple[bool, float, float]:
    """Return whether the interval holds the time at the largest N, its relative width, and the error of its middle."""
    shown = n < n.max()
    together = averaged(n[shown], condense(times[None, shown, None]))
    assert together is not None
    low, high = (float(end[0]) for end in together.band(np.array([n.max()]), 0.95, 1.0))
    true = float(times[~shown].mean())
    return low <= true <= high, (high - low) / true, abs((low + high) / 2 / true - 1)


if __name__ == "__main__":
    main()
