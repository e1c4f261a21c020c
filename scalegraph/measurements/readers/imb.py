"""Outputs of the Intel MPI Benchmarks: times of each operation by number of processes and message size in bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector, as_number
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._files import read_text
from scalegraph.measurements.readers.program_output import PROGRAM

_MARK = re.compile(r"Intel ?\(R\) MPI Benchmark")
_NAME = re.compile(r"^#\s*Benchmarking\s+(\S+)")
_PROCESSES = re.compile(r"^#\s*#?processes\s*=\s*(\d+)")
_MODE = re.compile(r"^#\s*(?:MODE:\s*(?P<mode>\S+)|\(\s*(?P<groups>\d+ groups? of \d+ process))")
_HEAD = re.compile(r"^\s*#(?:bytes|repetitions)\b.*\[usec\]")
_TITLE = re.compile(r"^(?P<name>[^\[]+?)(?:\[(?P<unit>[^\]]+)\])?$")
_TIMES = ("t_avg", "t", "t_ovrl")  # the time of an operation: the first of these that is present
_STEP = 5000
_END, _TAIL = "entering MPI_Finalize", 64 << 10
NOTE = (
    "'time' is the average over processes and repetitions, as the benchmarks print it; time_min and time_max are theirs"
)


@dataclass
class _Table:
    """The lines of one benchmark: its name, processes and columns."""

    name: str = ""
    processes: int = 0
    mode: str = ""
    columns: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"{self.name} {self.mode}".strip()


def _recognises(path: Path, head: bytes) -> bool:
    return (
        path.suffix.lower() not in (".md", ".html", ".rst")
        and _MARK.search(head.decode("utf-8", "replace")) is not None
    )


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    return _together([path], cancel, progress)


def _together(paths: Sequence[Path], cancel: CancelToken, progress: Progress) -> MeasurementSet:
    """Return the set of *paths*: equal benchmark, processes and bytes mean repetitions."""
    made = Collector(str(paths[0]), ("benchmark", "processes", "bytes"))
    cut = []
    for number, path in enumerate(paths, 1):
        text = read_text(path)
        for line, (table, cells) in enumerate(_rows(text, path, made)):
            if line % _STEP == 0:
                cancel.check()
            _add(table, cells, made)
        if _END not in text[-_TAIL:]:
            cut.append(path)
        progress(number / len(paths))
    if not made.points:
        raise InputError(Fault("holds no line of times; a whole output of IMB was expected", file=str(paths[0])))
    words = [f"{path.name} does not end like IMB's outputs: its last part is missing" for path in cut]
    return made.finish("imb", paths[0].stem, files=[str(path) for path in paths], notes=(NOTE, *words))


def _rows(text: str, path: Path, made: Collector) -> Iterator[tuple[_Table, list[float]]]:
    """Yield the rows of every benchmark in a file with their table; raise `InputError` for one that is cut off."""
    table = _Table()
    endless = text.count("\n") + 1  # number of a line without an end
    for number, line in enumerate(text.splitlines(), 1):
        if found := _NAME.match(line):
            table = _Table(found[1])
        elif found := _PROCESSES.match(line):
            table = _Table(table.name, int(found[1]), table.mode)
        elif (found := _MODE.match(line)) and not table.columns:
            table.mode = (found["mode"] or found["groups"]).strip()
        elif _HEAD.match(line) and table.name:
            table = _Table(table.name, table.processes, table.mode, line.split())
        elif table.columns and line.strip() and not line.lstrip().startswith("#"):
            cells = line.split()
            numbers = [value for cell in cells if (value := as_number(cell)) is not None]
            if not numbers or as_number(cells[0]) is None:
                table.columns = []  # words of another kind end the table
                continue
            last = number == endless
            if len(numbers) != len(table.columns) or last:
                if any("MEM" in cell.upper() for cell in cells) and not last:
                    made.skip("lines", 1, "the benchmark had no memory or time for them", f"{path}:{number}")
                    continue
                words = f"has {len(numbers)} numbers of {len(table.columns)}" if not last else "has no end"
                raise InputError(Fault(f"{words}: the output was cut off", file=str(path), line=number))
            yield table, numbers


def _add(table: _Table, cells: Sequence[float], made: Collector) -> None:
    named = {
        (found := _TITLE.match(title)) and found["name"]: value
        for title, value in zip(table.columns, cells, strict=True)
    }
    point = made.point((table.title, table.processes, int(named.get("#bytes", 0))))
    path = made.child(None, PROGRAM)
    time = next((name for name in _TIMES if name in named), "")
    for title, value in zip(table.columns, cells, strict=True):
        found = _TITLE.match(title)
        if found is None or found["name"] in ("#bytes", "#repetitions"):
            continue
        name, unit = found["name"], (found["unit"] or "").replace("usec", "us")
        if name == time:
            name = "time"
        elif re.fullmatch(r"t_(min|max)", name):
            name = f"time_{name[2:]}"
        if value > 0 or unit != "us":
            made.add(point, path, made.metric(name, unit), (value,))


READER = Reader(
    "imb",
    "Output of the Intel MPI Benchmarks",
    (".out", ".log", ".txt"),
    recognises=_recognises,
    read=_read,
    order=790,
    looks="times by benchmark, processes and bytes",
    together=_together,
)
