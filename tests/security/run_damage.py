"""Damages samples of every format for as long as wanted: python -m tests.security.run_damage --seconds 7200 --seed 1.

    --outside    every byte of every file of every sample: cut there, flipped, zeroed, and 512 bytes zeroed
    --inside N   N mutated studies and N mutated traces, whose checksums are right, with every view and quantity

Without --seconds it goes on until everything was damaged once. What is wrong is printed with what makes it again; the
exit code is 1 then. The last lines say how many were tried, what came of them, the longest use and the most memory.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path


class Tally:
    """What came of the uses."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.faults = 0
        self.longest = (0.0, "")

    def add(self, outcome: str, what: str, seconds: float) -> None:
        """Count one use; print it if it went wrong."""
        self.longest = max(self.longest, (seconds, what))
        good = outcome in ("read", "refused")
        self.outcomes[outcome if good else "wrong"] += 1
        if not good:
            self.faults += 1
            print(f"{what}: {outcome}", flush=True)

    def said(self, name: str) -> str:
        """Return one line of figures."""
        seconds, longest = self.longest
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        counts = ", ".join(f"{count:,} {what}" for what, count in sorted(self.outcomes.items()))
        return (
            f"{name}: {sum(self.outcomes.values()):,} tried: {counts}; longest {seconds:.2f} s of processor time "
            f"({longest}); at most {memory} MiB"
        )


def main() -> int:
    """Damage what is asked for; return the exit code."""
    parser = argparse.ArgumentParser(description="damage samples of every format")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="nothing is begun later")
    parser.add_argument("--seed", type=int, default=1, help="of what is changed inside (default: 1)")
    parser.add_argument("--only", default="", help="samples whose name holds this text")
    parser.add_argument("--outside", action="store_true", help="every byte of every sample")
    parser.add_argument("--step", type=int, default=1, help="every so many bytes (default: 1)")
    parser.add_argument("--inside", type=int, default=0, metavar="N", help="N studies and N traces, changed inside")
    asked = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("error", RuntimeWarning)
    os.environ.setdefault("MPLBACKEND", "agg")
    over = time.monotonic() + asked.seconds
    faults = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
        os.environ["SCALEGRAPH_CACHE"] = cache
        os.environ["XDG_STATE_HOME"] = cache
        if asked.inside:
            faults += inside(asked, over)
        if asked.outside:
            faults += outside(asked, over)
    return 1 if faults else 0


def outside(asked: argparse.Namespace, over: float) -> int:
    """Damage every byte of every sample; return the number of faults."""
    from tests.security import damage

    faults = 0
    for name, (make, use) in damage.samples().items():
        if asked.only not in name or time.monotonic() > over:
            continue
        tally = Tally()
        with tempfile.TemporaryDirectory() as place:
            path = make(Path(place))
            files = {file: file.read_bytes() for file in sorted(Path(place).rglob("*")) if file.is_file()}
            for file, whole in files.items():
                for byte in range(0, len(whole), asked.step):
                    for way in damage.WAYS:
                        file.write_bytes(damage.damaged(whole, way, byte))
                        began = time.process_time()
                        outcome = damage.tried(use, path)
                        tally.add(outcome, f"{name}: {file.name} {way} at {byte}", time.process_time() - began)
                    if time.monotonic() > over:
                        break
                file.write_bytes(whole)
        print(tally.said(name), flush=True)
        faults += tally.faults
    return faults


def inside(asked: argparse.Namespace, over: float) -> int:
    """Change studies and traces inside; return the number of faults."""
    from tests.security import damage
    from tests.security.samples import full_study
    from tests.traces.made import small
    from tests.traces.samples import pipeline
    from tests.traces.test_formats import written

    studies, traces = Tally(), Tally()
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        whole = full_study(place / "whole.sgstudy")
        own = [written(make(), place / f"{make.__name__}.sgtrace").read_bytes() for make in (small, pipeline)]
        for number in range(asked.seed, asked.seed + asked.inside):
            if time.monotonic() > over:
                break
            study, trace = place / "s.sgstudy", place / "t.sgtrace"
            shutil.copy(whole, study)
            damage.mutate_study(study, random.Random(number))
            began = time.process_time()
            outcome = damage.tried(damage.use_whole_study, study)
            studies.add(outcome, f"study of seed {number}", time.process_time() - began)
            trace.write_bytes(damage.mutate_trace(own[number % 2], random.Random(number)))
            began = time.process_time()
            outcome = damage.tried(damage.use_whole_trace, trace)
            traces.add(outcome, f"trace of seed {number}", time.process_time() - began)
    print(studies.said("studies changed inside"), traces.said("traces changed inside"), sep="\n", flush=True)
    return studies.faults + traces.faults


if __name__ == "__main__":
    sys.exit(main())
