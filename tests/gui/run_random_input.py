"""Random input for any length of time: python -m tests.gui.run_random_input --seconds 3600 --seed 1.

Every round has a new window and the next seed. A failed round is named, and can be repeated alone by its seed and
world. The exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import sys
import tempfile
import time
from pathlib import Path

STEPS = 400  # steps of a round


def main() -> int:
    """Run rounds until the time is up; return the exit code."""
    parser = argparse.ArgumentParser(description="random input into the window")
    parser.add_argument("--seconds", type=float, default=3600.0, help="start no round later (default: 3600)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first round (default: 1)")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps of a round (default: {STEPS})")
    parser.add_argument("--world", default="", help="study, measurements or traces (default: each in turn)")
    parser.add_argument("--trail", type=Path, help="log every step in this file before it is performed")
    asked = parser.parse_args()
    faulthandler.enable()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SCALEGRAPH_CACHE"] = cache
        return rounds(asked)


def rounds(asked: argparse.Namespace) -> int:
    """Run rounds as the options *asked* say."""
    from tests.gui.conftest import ModelSession
    from tests.gui.monkey.world import WORLDS, play

    over = time.monotonic() + asked.seconds
    trail = asked.trail.open("w", buffering=1) if asked.trail else None
    bad, seed = 0, asked.seed
    while seed == asked.seed or time.monotonic() < over:
        world = asked.world or WORLDS[seed % len(WORLDS)]
        session = ModelSession()

        def log(step: str) -> None:
            if trail is not None:
                print(step, file=trail)

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, contextlib.chdir(place):
            log(f"seed {seed}, {world}")
            watch, monkey = play(Path(place), session, world, seed, asked.steps, log=log)
        session.let(10_000)
        session.close()
        print(f"seed {seed}, {world}: {monkey.count} steps, {sum(watch.faults.values())} faults,", end=" ")
        print(f"{len(watch.stalls)} stalls", flush=True)
        if watch.faults or watch.stalls:
            bad = 1
            print(watch.report(), "last steps:", *monkey.done, sep="\n", flush=True)
        seed += 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
