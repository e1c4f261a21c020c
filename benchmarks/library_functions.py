"""Compare native and simulated times of library functions, with a machine file calibrated on this host.

::

    scalegraph machines calibrate -o host.toml
    python benchmarks/library_functions.py host.toml

`tests/runtime/programs/library_functions.c` times itself with its own clock, natively (the fastest of many repetitions)
and simulated. The table gives both times in nanoseconds and the ratio of simulated to native; its last line gives the
geometric mean error and the worst ratio. Nothing is fitted.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scalegraph import machine
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Job, Simulated
from scalegraph.machine import Machine

SOURCE = Path(__file__).parents[1] / "tests" / "runtime" / "programs" / "library_functions.c"


def times_of(text: str) -> dict[str, float]:
    """Return the nanoseconds of each function from the program's output."""
    return {name: float(value) for name, value in map(str.split, text.splitlines())}


def native(calls: int, goes: int, flags: list[str]) -> dict[str, float]:
    """Return the nanoseconds of each function on this host."""
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "native"
        subprocess.run(["gcc", *flags, str(SOURCE), "-o", str(program), "-lm"], check=True)
        done = subprocess.run([program, str(calls), str(goes)], capture_output=True, text=True, check=True)
    return times_of(done.stdout)


def simulated(on: Machine, calls: int, goes: int, flags: list[str]) -> dict[str, float]:
    """Return the nanoseconds of each function, simulated on the machine *on*."""
    record = Simulated().run(
        Job(build([SOURCE], cflags=flags, ldflags=["-lm"]), on, RunPoint(processors=1), (str(calls), str(goes)))
    )
    if record.status != "ok":
        raise SystemExit(f"{record.status}: {record.message}")
    return times_of(record.stdout)


def rows(real: dict[str, float], ours: dict[str, float]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{'function':15} {'native ns':>12} {'simulated ns':>12} {'ratio':>6}"
    ratios = {name: ours[name] / real[name] for name in real}
    yield from (f"{name:15} {real[name]:12.2f} {ours[name]:12.2f} {ratio:6.2f}" for name, ratio in ratios.items())
    worst = max(ratios, key=lambda name: abs(math.log(ratios[name])))
    mean = math.exp(sum(abs(math.log(ratio)) for ratio in ratios.values()) / len(ratios))
    yield f"mean error a factor of {mean:.2f}, the worst {ratios[worst]:.2f} ({worst})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", help="a machine file of this host, as `scalegraph machines calibrate` writes it")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--flags", default="-O1", help="compiler options for both builds")
    given = parser.parse_args()
    flags = given.flags.split()
    real = native(given.calls, 300, flags)
    print("\n".join(rows(real, simulated(machine.load(given.machine), given.calls, 3, flags))))


if __name__ == "__main__":
    main()
