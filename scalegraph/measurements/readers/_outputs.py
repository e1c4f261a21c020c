"""Outputs of well-known programs: processors, sizes, times and rates, found by each program's wording."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import plain

_N = r"([\d.]+(?:[eE][+-]?\d+)?)"


@dataclass(frozen=True)
class Output:
    """A program's output, recognised by *mark*, which occurs once in each run's.

    *parameters* and *metrics*: patterns by name; for a metric with its unit; *texts*: those whose words become
    parameters.
    """

    name: str
    mark: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    failed: str = r"(?!)"  # its message for a failed run
    note: str = ""  # a note on its metrics for users
    grid: tuple[str, ...] = ()  # parameters whose product counts the processes


@dataclass(frozen=True)
class Found:
    """A run in an output: *numbers* and *texts* by parameter, values with their units by metric."""

    kind: str
    numbers: dict[str, float]
    texts: dict[str, str]
    values: dict[str, tuple[float, str]]
    failed: bool = False
    note: str = ""


OUTPUTS = (
    Output(
        "NAS Parallel Benchmarks",
        r"^ ?(?:[A-Z]{2}(?:-MZ)?) Benchmark Completed",
        {
            "processes": rf"^\s*Total processes\s*=\s*{_N}",
            "threads": rf"^\s*Total (?:number of )?threads\s*=\s*{_N}",
        },
        {
            "time": (rf"^\s*Time in seconds\s*=\s*{_N}", "s"),
            "Mop/s total": (rf"^\s*Mop/s total\s*=\s*{_N}", ""),
        },
        {"benchmark": r"^ ?([A-Z]{2}(?:-MZ)?) Benchmark Completed", "class": r"^\s*[Cc]lass\s*=\s*(\w)\b"},
        r"Verification\s*=\s*UNSUCCESSFUL",
    ),
    Output(
        "LULESH",
        r"^\s*FOM\s*=.*\(z/s\)",
        {
            "ranks": rf"^\s*(?:MPI tasks|Num processors)\s*[=:]\s*{_N}",
            "threads": rf"^\s*Num threads\s*[=:]\s*{_N}",
            "size": rf"^\s*(?:Problem size\s*=\s*|Running problem size ){_N}",
        },
        {
            "time": (rf"^\s*Elapsed time\s*=\s*{_N}", "s"),
            "FOM": (rf"^\s*FOM\s*=\s*{_N}", "z/s"),
        },
    ),
    Output(
        "HPCG",
        r"Final Summary::HPCG result is|^HPCG result is",
        {
            "processes": rf"Distributed Processes=\s*{_N}",
            "threads": rf"Threads per processes=\s*{_N}",
            "nx": rf"Global nx=\s*{_N}",
            "ny": rf"Global ny=\s*{_N}",
            "nz": rf"Global nz=\s*{_N}",
        },
        {
            "GFLOP/s": (rf"GFLOP/s rating of=\s*{_N}", ""),
            "time": (rf"Benchmark Time Summary::Total=\s*{_N}", "s"),
        },
        failed=r"HPCG result is INVALID",
    ),
    Output(
        "STREAM",
        r"^STREAM version",
        {"threads": rf"^Number of Threads (?:requested|counted)\s*=\s*{_N}", "n": rf"^Array size\s*=\s*{_N}"},
        {
            "time": (rf"^Triad:\s+[\d.]+\s+[\d.]+\s+{_N}", "s"),
            **{f"{name} [MB/s]": (rf"^{name}:\s+{_N}", "") for name in ("Copy", "Scale", "Add", "Triad")},
        },
        failed=r"^Failed Validation",
        note="the time is Triad's least; --rate 'Copy [MB/s]', say, takes another function's rate",
    ),
    Output(
        "BabelStream",
        r"^function,num_times,n_elements,sizeof,max_mi?bytes|^Function\s+Mi?Bytes/sec\s+Min \(sec\)",
        {"n": rf"^Triad,\d+,{_N},", "array_mb": rf"^Array size:\s*{_N} MB"},
        {
            "time": (rf"^Triad(?:,\d+,\d+,\d+,[\d.]+,|\s+[\d.]+\s+){_N}", "s"),
            **{
                f"{name} [MB/s]": (rf"^{name}(?:,\d+,\d+,\d+,|\s+){_N}", "")
                for name in ("Copy", "Mul", "Add", "Triad", "Dot")
            },
        },
        failed=r"^Validation failed",
        note="the time is Triad's least; --rate 'Copy [MB/s]', say, takes another function's rate",
    ),
    Output(
        "HPL",
        rf"^W[RC]\w+\s+\d+\s+\d+\s+\d+\s+\d+\s+{_N}\s+{_N}\s*$",
        {
            "N": rf"^W[RC]\w+\s+{_N}\s",
            "NB": rf"^W[RC]\w+\s+\d+\s+{_N}\s",
            "P": rf"^W[RC]\w+\s+\d+\s+\d+\s+{_N}\s",
            "Q": rf"^W[RC]\w+\s+\d+\s+\d+\s+\d+\s+{_N}\s",
        },
        {
            "time": (rf"^W[RC]\w+(?:\s+\d+){{4}}\s+{_N}\s", "s"),
            "Gflops": (rf"^W[RC]\w+(?:\s+\d+){{4}}\s+[\d.]+\s+{_N}", ""),
        },
        {"T/V": r"^(W[RC]\w+)\s+\d"},
        failed=r"\.\s+FAILED\s*$",
        grid=("P", "Q"),
    ),
    Output(
        "time",
        r"^real\s+\d+m[\d.,]+s\s*$",
        {},
        {"time": (r"^real\s+(\d+m[\d.,]+)s\s*$", "s")},
    ),
    Output(
        "GNU time -v",
        r"Elapsed \(wall clock\) time \(h:mm:ss or m:ss\):",
        {},
        {
            "time": (r"Elapsed \(wall clock\) time \(h:mm:ss or m:ss\):\s*([\d:.]+)", "s"),
            "max_rss": (rf"Maximum resident set size \(kbytes\):\s*{_N}", "KB"),
        },
        failed=r"Exit status: [1-9]|Command terminated by signal",
    ),
    Output(
        "perf stat",
        r"^ *Performance counter stats for ",
        {},
        {"time": (r"^\s*([\d.,]+) seconds time elapsed", "s")},
    ),
)


def runs(text: str) -> Iterator[Found]:
    """Yield the runs whose output is in *text*, in order; of several programs only the first one's."""
    for kind in OUTPUTS:
        places = [match.start() for match in re.finditer(kind.mark, text, re.MULTILINE)]
        if not places:
            continue
        for part in _parts(text, kind, places):
            numbers = {
                name: _number(found) for name, pattern in kind.parameters.items() if (found := _last(pattern, part))
            }
            texts = {name: found for name, pattern in kind.texts.items() if (found := _last(pattern, part))}
            if kind.grid and all(name in numbers for name in kind.grid):
                sides = [numbers.pop(name) for name in kind.grid]
                numbers["processes"] = math.prod(sides)
                texts["grid"] = "x".join(map(plain, sides))
            values = {
                name: (_number(found), unit)
                for name, (pattern, unit) in kind.metrics.items()
                if (found := _last(pattern, part))
            }
            failed = re.search(kind.failed, part, re.MULTILINE) is not None
            yield Found(kind.name, numbers, texts, values, failed, kind.note)
        return


def refuse_cut_off(text: str, file: str) -> None:
    """Refuse *text* that ends in the middle of a line, right after a number that `runs` would use: 133 of 1330.8."""
    if not text or text[-1] in "\r\n":
        return
    start = max(text.rfind("\n"), text.rfind("\r")) + 1
    line = text[start:]
    for kind in OUTPUTS:
        for pattern in (*kind.parameters.values(), *(pattern for pattern, _ in kind.metrics.values())):
            if any(match.end(1) == len(line) for match in re.finditer(pattern, line, re.MULTILINE)):
                words = f"ends in the middle of a line ('{line.strip()[-60:]}'): its last number may be cut off"
                raise InputError(Fault(f"{words}; a line end was expected", file=file, line=text.count("\n") + 1))


def _parts(text: str, kind: Output, places: list[int]) -> Iterator[str]:
    """Yield each run's part of the text: the metrics' lines are around its mark."""
    if len(places) == 1:
        yield text
        return
    patterns = [*kind.parameters.values(), *(pattern for pattern, _ in kind.metrics.values())]
    found = [match.start() for pattern in patterns if (match := re.search(pattern, text, re.MULTILINE))]
    before = min(found, default=places[0]) < places[0]  # the lines come before the mark, which then ends the run
    if before:
        ends = [text.find("\n", place) for place in places]
        bounds = [0, *ends[:-1], len(text)]
    else:
        bounds = [0, *places[1:], len(text)]
    for start, end in pairwise(bounds):
        yield text[start:end]


def _last(pattern: str, text: str) -> str:
    found = re.findall(pattern, text, re.MULTILINE)
    return found[-1] if found else ""


def _number(text: str) -> float:
    """Return a number, or the seconds of `1m2.5` and `1:02.5`."""
    seconds = 0.0
    for part in re.split(r"[m:]", text):
        seconds = seconds * 60 + float(part.replace(",", "." if part.count(",") == 1 and "." not in part else ""))
    return seconds
