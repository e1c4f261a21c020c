"""Change single numbers in samples of every format, correct the checksums, and read and use the result.

    python benchmarks/damaged_fields.py [--cases 400] [--whole] [--only TEXT] [--seed 1] [--seconds 3600]

For each file of each sample, *--cases* changes are drawn (`tests.security.fields`: every number in a text, every value
in JSON, every column of our own traces, every field of 4 or 8 bytes in anything else). Each changed file is read as a
command reads it, within limits of time and memory (`tests.security.cases`); with *--whole*, every view and quantity of
traces and measurements is computed from it, too. Each case must end with a result or with an error message of one
sentence. Any other case is printed, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.security import damage, fields
from tests.security.cases import Cases, Tally, went_through
from tests.security.run_damage import HEAD


def cases_of(name: str, place: Path, path: Path, use: Callable[[Path], object], count: int, seed: int) -> Cases:
    """Return the drawn changes of every file in *place*; of several files with the same name, only the last."""
    kinds = {file.name: file for file in sorted(place.rglob("*")) if file.is_file()}
    files = {file: file.read_bytes() for file in kinds.values()}
    drawn = [(file, change) for file, data in files.items() for change in fields.chosen(data, count, seed)]

    def prepare(number: int) -> bool:
        file, (_, make) = drawn[number]
        made = make()
        file.write_bytes(made)
        return made != files[file]

    def restore(number: int) -> None:
        file = drawn[number][0]
        file.write_bytes(files[file])

    def label(number: int) -> str:
        file, (said, _) = drawn[number]
        return f"{file.name}: {said}"

    return Cases(name, len(drawn), prepare, restore, label, lambda: damage.tried(use, path))


def main() -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600, help="start no case after this many seconds")
    asked = parser.parse_args()
    warnings.simplefilter("error", RuntimeWarning)
    os.environ.setdefault("MPLBACKEND", "agg")
    over, wrong = time.monotonic() + asked.seconds, 0
    memory = Path("/dev/shm")
    print(HEAD)
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as scratch:
        os.environ["SCALEGRAPH_CACHE"] = os.environ["XDG_STATE_HOME"] = f"{scratch}/cache"
        for name, (make, use) in fields.samples(whole=asked.whole).items():
            if asked.only not in name or time.monotonic() > over:
                continue
            with tempfile.TemporaryDirectory(dir=scratch) as directory:
                path = make(Path(directory))
                cases = cases_of(name, Path(directory), path, use, asked.cases, asked.seed)
                tally = Tally()
                while tally.next < cases.count and time.monotonic() < over:
                    tally = went_through(cases, tally, over)
            print(*tally.faults, tally.row(name), sep="\n", flush=True)
            wrong += tally.wrong
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
