"""The overhead of a cluster: sweeps with ``--on local:2`` and without it, in turn.

    python benchmarks/cluster_overhead.py [--tiny 400] [--half 60] [--rounds 3]

Two sweeps, one of tiny runs and one of runs of about half a second, are run in the local process pool and on two Dask
workers. Sweeps of two runs give the start-up time of the command and of Dask, which is printed separately. The cost of
a run is the remaining time divided by the number of runs. Both wall-clock time and processor time (children included)
are printed; the fastest round counts. On a machine that others use, too, compare the processor times.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

_PROGRAM: Final = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    unsigned n = atoi(argv[1]), x = 1, s = 0;
    for (unsigned i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; if (x & 1) s += x; else s ^= i; }
    printf("%u\n", s);
    return 0;
}
"""
_TURNS: Final = {"tiny": 1000, "half": 70_000_000}  # iterations of the program's loop
_FEW: Final = 2  # runs in the sweep that measures the start-up time
_WHERE: Final = {"here": ("-j", "2"), "local:2": ("--on", "local:2")}


class _Taken(NamedTuple):
    clock: float
    processor: float

    def __sub__(self, other: object) -> _Taken:
        assert isinstance(other, _Taken)
        return _Taken(self.clock - other.clock, self.processor - other.processor)


def _sweep(place: Path, name: str, runs: int, where: tuple[str, ...]) -> _Taken:
    """Return the times of a sweep of *runs*; the cache has the program but none of the results."""
    here = Path(tempfile.mkdtemp(dir=place))
    first = _TURNS[name]
    (here / "request.toml").write_text(
        f'reference = false\nprocessors = [1]\n[program]\nsources = ["{place / "spin.c"}"]\nargs = ["{{n}}"]\n'
        f'[parameters]\nn = {list(range(first, first + runs))}\n[machine]\nname = "ksr1"\n'
    )
    command = [sys.executable, "-m", "scalegraph.cli.main", "run", str(here / "request.toml"), "--quiet", *where]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(
        [*command, "-o", str(here / "study.sgstudy")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return _Taken(time.monotonic() - began, used)


def _least(taken: list[_Taken]) -> _Taken:
    return _Taken(min(one.clock for one in taken), min(one.processor for one in taken))


def main() -> None:
    """Print the times of the start-up and of a run, here and on the cluster, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tiny", type=int, default=400)
    parser.add_argument("--half", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scalegraph-overhead-") as directory:
        place = Path(directory)
        (place / "spin.c").write_text(_PROGRAM)
        os.environ["XDG_STATE_HOME"] = str(place / "state")
        _sweep(place, "tiny", _FEW, ())  # fills the build cache
        sizes = {"tiny": given.tiny, "half": given.half}
        for name in (name for name, runs in sizes.items() if runs):
            runs = sizes[name]
            found: dict[tuple[str, int], list[_Taken]] = {}
            for _ in range(given.rounds):
                for where, words in _WHERE.items():
                    for number in (_FEW, runs):
                        found.setdefault((where, number), []).append(_sweep(place, name, number, words))
            least = {key: _least(taken) for key, taken in found.items()}
            print(f"{name}: {runs} runs, fastest of {given.rounds} rounds, load {os.getloadavg()[0]:.1f}")
            for index, kind in enumerate(_Taken._fields):
                start, run, whole = {}, {}, {}
                for where in _WHERE:
                    rest = (least[where, runs] - least[where, _FEW])[index] / (runs - _FEW)
                    start[where], run[where] = least[where, _FEW][index] - _FEW * rest, rest
                    whole[where] = least[where, runs][index]
                there, here = _WHERE.keys() - {"here"}, "here"
                for where in there:
                    print(
                        f"  {kind}: start {start[here]:.2f} s here, {start[where]:.2f} s on {where}; each run "
                        f"{1e3 * run[here]:.1f} and {1e3 * run[where]:.1f} ms: {run[where] / run[here]:.2f} times; "
                        f"total {whole[here]:.1f} and {whole[where]:.1f} s: {whole[where] / whole[here]:.2f} times",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
