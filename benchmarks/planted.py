"""Forty programs with a planted fault, on three machines each: whether it is named first and its promise holds.

    python -m benchmarks.planted [PROGRAM ...]

Prints a row for each program and machine: the line that is named first, whether it is the planted one, its share of the
loss, the promised speedup without it, and the speedup of a further run that confirms it. The last lines count the rows
that are right, those whose gain is at least half of the promise, and those whose gain is within a fifth of it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.planted.run import Planted, planted_lines, programs, verified


def _row(program: Planted, machine: str, place: Path) -> tuple[bool, bool, bool]:
    found = verified(program.name, program.text, machine, place)
    if not found:
        print(f"{program.name:<20} {machine:<17} no line is named", flush=True)
        return False, False, False
    first = found[0]
    right = first.line in planted_lines(program.text)
    enough = first.gain - 1 >= (first.promise - 1) / 2
    near = abs(first.gain - first.promise) <= 0.2 * first.promise
    others = " ".join(f"{one.line}:{one.share:.2f}:{one.gain:.2f}" for one in found[1:])
    verdict = f"{'right' if right else 'WRONG'}{'' if enough else ', TOO LITTLE'}"
    print(
        f"{program.name:<20} {machine:<17} line {first.line:<4} {verdict} {first.share:6.1%} "
        f"promise {first.promise:6.2f} gain {first.gain:6.2f} {first.target} ({others})",
        flush=True,
    )
    return right, enough, near


def main() -> None:
    """Run the programs named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*")
    wanted = parser.parse_args().programs
    rows = []
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as place:
        for program in programs():
            if not wanted or program.name.partition(".")[0] in wanted:
                rows += [_row(program, machine, Path(place)) for machine in program.machines]
    right, enough, near = (sum(row[at] for row in rows) for at in range(3))
    print(f"{len(rows)} rows: {right} right, {enough} gain at least half of the promise, {near} within 20 % of it")
    print(f"{time.process_time() - begin:.0f} s of processor time in this process")


if __name__ == "__main__":
    main()
