"""Long programs with and without sampling by itself: the speedup, the error, and whether the intervals hold the truth.

    python benchmarks/sampling.py [--asked] [--fetched DIRECTORY] [--program NAME ...] [--keep DIRECTORY]

Runs the twelve programs of `speed_and_size.py`, in sizes with enough repetitions, on 64 processors of ksr1, and ten
public programs on 64 processors of server-2x32, which is the machine for a program of one's own. The ten were chosen
before any was sampled: six of NPB in C++ (github.com/GMAP/NPB-CPP), LULESH (LLNL), HPCCG (Mantevo), STREAM
(jeffhammond) and Rodinia's hotspot (yuhc/gpu-rodinia). `FETCHED` says how each is built, with ``{cc}`` and ``{cxx}``
for our compilers, and run; their sources are in folders of *--fetched*, of the repositories' names. Programs
repeat as often as they do by themselves; only mg gets a grid that is smaller, with more cycles, from a file.

One row for each program:

- the host's processor time (user and system) of one full and one sampled run, and the ratio; 1 if nothing was skipped;
- the share of phase visits that were skipped, of those since sampling began;
- the error of the simulated time in per cent, and half the width of its 95 % interval; the same for the misses;
- how many cases lie in their intervals: time, misses, and each category with more than 1 % of the processors' time.

The last lines sum up. *--asked*: with sampling from the beginning, as by ``--sample``. *--keep*: keeps the records of
full runs in that directory, and uses those that are there; they must be of this state of the simulator.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from scalegraph import machine
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.sampling import SAMPLES, SAMPLES_WHEN_LONG
from scalegraph.control import adopt, build
from scalegraph.link import Build, Job, Limits, Simulated

ROOT = Path(__file__).parent.parent
SCRIPTS = Path(sys.executable).parent
PROCESSORS = 64
_MATTERS = 0.01  # share of the processors' time from which a category counts
_LONG_S = 30.0  # full runs for which the speed counts


@dataclass(frozen=True)
class Program:
    """A program: one of ours by its source, or a fetched one by its folder, commands that build it, and its file."""

    source: str
    arguments: tuple[str, ...] = ()
    folder: str = ""
    commands: str = ""
    files: dict[str, str] = field(default_factory=dict)

    @property
    def machine(self) -> str:
        """The machine on which it runs."""
        return "server-2x32" if self.folder else "ksr1"


PROGRAMS = {
    "ge2-owner": Program("ge-owner.c", ("1000",)),
    "billiard": Program("billiard.c", ("20000", "10000")),
    "apsp": Program("apsp.c", ("500", "parallel")),
    "adjoint": Program("adjoint.c", ("110",)),
    "quicksort": Program("quicksort.c", ("2000000", "5000")),
    "cholesky": Program("cholesky.c", ("191",)),
    "closure": Program("closure.c", ("600", "random")),
    "jacobi": Program("jacobi.c", ("1024", "300")),
    "matmul": Program("matmul.c", ("256",)),
    "rarefied": Program("rarefied.c", ("40000", "80")),
    "sor": Program("sor.c", ("1024", "100")),
    "water": Program("water.c", ("512", "60")),
}


def _npb(name: str, size: str, **files: str) -> Program:
    return Program(
        f"bin/{name}.{size}",
        folder="NPB-CPP/NPB-OMP",
        commands=f'mkdir -p bin; make -s {name.upper()} CLASS={size} CC="{{cxx}} -std=c++14"',
        files={name.replace("_", "."): text for name, text in files.items()},
    )


FETCHED = {
    "cg": _npb("cg", "S"),
    "ft": _npb("ft", "S"),
    "mg": _npb("mg", "W", mg_input="6\n64 64 64\n18\n0 0 0 0 0 0 0 0\n"),
    "bt": _npb("bt", "W"),
    "sp": _npb("sp", "W"),
    "lu": _npb("lu", "W"),
    "lulesh": Program("lulesh2.0", ("-s", "12"), "LULESH", 'make -s clean; make -s CXX="{cxx} -DUSE_MPI=0"'),
    "hpccg": Program(
        "test_HPCCG",
        ("20", "20", "20"),
        "HPCCG",
        "make -s clean; make -s CXX={cxx} LINKER={cxx} USE_OMP=-DUSING_OMP OMP_FLAGS=-fopenmp CPP_OPT_FLAGS=-O3",
    ),
    "stream": Program(
        "stream", (), "STREAM", "{cc} -O2 -fopenmp -DSTREAM_ARRAY_SIZE=400000 -DNTIMES=200 stream.c -o stream"
    ),
    "hotspot": Program(
        "hotspot",
        ("256", "256", "300", "64", "heat", "heat", "out"),
        "gpu-rodinia/openmp/hotspot",
        "{cxx} -w -O3 -fopenmp hotspot_openmp.cpp -o hotspot",
        {"heat": "".join(f"{323 + i % 17 / 17:.4f}\n" for i in range(256 * 256))},
    ),
}


@dataclass(frozen=True)
class Compared:
    """A full run and a sampled run of the same program."""

    whole: RunRecord
    sampled: RunRecord

    @property
    def times_as_fast(self) -> float:
        """Host processor time of the full run over that of the sampled run; 1 if nothing was skipped."""
        if not self.sampled.estimated:
            return 1.0
        return (self.whole.host_cpu_s or math.nan) / (self.sampled.host_cpu_s or math.nan)

    def error(self, name: str) -> tuple[float, float]:
        """Return the error of *name*'s estimate and half the interval's width, in per cent of the full run's value."""
        width = self.sampled.sampled.intervals.get(name, 0.0) if self.sampled.sampled else 0.0
        real, found = _value(self.whole, name), _value(self.sampled, name)
        return (100 * (found / real - 1), 100 * width / real) if real else (0.0, 0.0)

    def outside(self) -> list[str]:
        """Return the cases that do not lie in their intervals."""
        return [name for name in self.cases() if abs(self.error(name)[0]) > self.error(name)[1]]

    def cases(self) -> list[str]:
        """Return the numbers that are compared."""
        least = _MATTERS * self.whole.processor_cycles
        return ["time_cycles", "misses", *(name for name, cycles in self.whole.categories.items() if cycles >= least)]


def _value(record: RunRecord, name: str) -> float:
    if name == "time_cycles":
        return float(record.time_cycles or 0)
    return float(record.categories.get(name, record.counters.get(name, 0)))


def _built(program: Program, fetched: Path | None) -> tuple[Build, Path | None]:
    """Return the build of *program*, and the directory where it runs."""
    if not program.folder:
        return build([ROOT / "resources" / "programs" / program.source], ldflags="-lm"), None
    assert fetched is not None
    place = fetched / program.folder
    compilers = {name: str(SCRIPTS / f"scalegraph-{tool}") for name, tool in (("cc", "gcc"), ("cxx", "g++"))}
    subprocess.run(program.commands.format(**compilers), shell=True, cwd=place, check=True, stdout=subprocess.DEVNULL)
    for name, text in program.files.items():
        (place / name).write_text(text, encoding="utf-8")
    return adopt(place / program.source), place


def compared(name: str, program: Program, fetched: Path | None, token: str, kept: Path | None) -> Compared:
    """Run *program* in full, unless its record is in *kept*, and sampled."""
    made, place = _built(program, fetched)
    found = []
    for collect in ((), (token,)):
        file = kept / f"{name}.json" if kept and not collect else None
        if file is not None and file.exists():
            found.append(RunRecord.model_validate_json(file.read_text(encoding="utf-8")))
            continue
        job = Job(
            made,
            machine.load(program.machine),
            RunPoint(processors=PROCESSORS),
            program.arguments,
            cwd=place,
            limits=Limits(time_s=7200, memory_bytes=8 * 2**30),
            collect=collect,
        )
        record = Simulated().run(job)
        if not record.ok:
            raise SystemExit(f"{name}: {record.message}")
        found.append(record)
        if file is not None:
            left = record.model_copy(update={"lines": (), "variables": (), "regions": ()})
            file.write_text(left.model_dump_json(), encoding="utf-8")
    return Compared(*found)


def _row(name: str, pair: Compared) -> str:
    sampled = pair.sampled.sampled
    cells = [name, f"{pair.whole.host_cpu_s:.1f}", f"{pair.sampled.host_cpu_s:.1f}", f"{pair.times_as_fast:.1f}"]
    if sampled is not None and sampled.skipped:
        cells += [f"{100 * sampled.skipped / sampled.visits:.0f} %"]
        cells += [text for case in ("time_cycles", "misses") for text in _error(*pair.error(case))]
        cells += [f"{len(pair.cases()) - len(pair.outside())} of {len(pair.cases())}"]
    else:
        same = pair.whole.time_cycles == pair.sampled.time_cycles
        cells += ["0 %", "0" if same else "differs", "–", "0" if same else "differs", "–", "–"]
    return f"| {' | '.join(cells)} |"


def _error(error: float, width: float) -> tuple[str, str]:
    return f"{error:+.2f}", f"{width:.2f}"


def _summed_up(pairs: dict[str, Compared]) -> list[str]:
    """Return sentences on all programs."""
    estimated = {name: pair for name, pair in pairs.items() if pair.sampled.estimated}
    cases = sum(len(pair.cases()) for pair in estimated.values())
    outside = [f"{name} {case}" for name, pair in estimated.items() for case in pair.outside()]
    exact = sum(len(pair.cases()) for name, pair in pairs.items() if name not in estimated)
    lines = []
    if cases:
        lines.append(
            f"{cases - len(outside)} of {cases} cases of sampled programs lie in their intervals "
            f"({100 * (1 - len(outside) / cases):.1f} %); {exact} more, of programs that were not sampled, are exact"
        )
        lines.append(f"outside: {', '.join(outside) or 'none'}")
    long = [pair.times_as_fast for pair in pairs.values() if (pair.whole.host_cpu_s or 0) > _LONG_S]
    if long:
        lines.append(
            f"the median of the {len(long)} programs above {_LONG_S:.0f} s: {statistics.median(long):.1f} times"
        )
    for name, pair in pairs.items():
        if pair.sampled.sampled and pair.sampled.sampled.why:
            lines.append(f"{name}: {pair.sampled.sampled.why}")
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--asked", action="store_true")
    parser.add_argument("--fetched", type=Path)
    parser.add_argument("--program", action="append", choices=[*PROGRAMS, *FETCHED], dest="programs")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    everything = {**PROGRAMS, **(FETCHED if options.fetched else {})}
    print(f"{PROCESSORS} processors; host processor time in seconds, one run each")
    print("| program | full s | sampled s | x | skipped | time % | ± | misses % | ± | cases inside |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    token = SAMPLES if options.asked else SAMPLES_WHEN_LONG
    pairs: dict[str, Compared] = {}
    for name in options.programs or everything:
        program = everything[name]
        pairs[name] = compared(name, program, options.fetched, token, options.keep)
        print(_row(" ".join((name, *program.arguments)), pairs[name]), flush=True)
    print("\n".join(_summed_up(pairs)))


if __name__ == "__main__":
    main()
