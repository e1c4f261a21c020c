"""mpiP's report (``app.4.1234.1.mpiP``): time of every rank and its share in MPI, by call, of one run."""

from __future__ import annotations

import re
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._files import read_text
from scalegraph.measurements.readers._names import named_point
from scalegraph.measurements.readers._ranks import NOTE, Locations, collect

PROGRAM = "program"
_TIMES = re.compile(r"\s*(?P<rank>\d+|\*)\s+(?P<app>[\d.eE+-]+)\s+(?P<mpi>[\d.eE+-]+)\s+[\d.eE+-]+(\s*<--.*)?\s*")
_SECTION = re.compile(r"@--- MPI Time \(seconds\) -+")


def _recognises(_path: Path, head: bytes) -> bool:
    return head.lstrip().startswith(b"@ mpiP") or b"\n@ mpiP" in head


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    text = read_text(path)
    lines = text.splitlines()
    begin = next((number for number, line in enumerate(lines) if _SECTION.match(line)), None)
    if begin is None:
        raise InputError(
            Fault("holds no section 'MPI Time (seconds)'; expected a whole report of mpiP", file=str(path))
        )
    ends = [number for number, line in enumerate(lines) if line.startswith("@--- End of Report")]
    if not ends or not text.endswith("\n") or not any(line.startswith("---") for line in lines[ends[-1] :]):
        raise InputError(Fault("is cut off: it has no 'End of Report'", file=str(path), line=len(lines)))
    rows: list[tuple[float, float]] = []
    ended = False
    for number, line in enumerate(lines[begin + 1 :], begin + 2):
        cancel.check()
        progress(number / len(lines))
        if line.startswith(("---", "Task ")):
            continue
        row = _TIMES.fullmatch(line)
        if row is None or line.startswith("@---"):
            break
        if row["rank"] == "*":
            ended = True
            break
        if int(row["rank"]) != len(rows):
            raise InputError(Fault(f"expected rank {len(rows)}", file=str(path), line=number))
        rows.append(_times(row, path, number))
    if not rows or not ended:
        message = "its times of the ranks are not whole; expected one of each rank and their sum (*)"
        raise InputError(Fault(message, file=str(path), line=begin + 1))
    where = named_point(path, "ranks", len(rows))
    found = Collector(str(path), list(where))
    ranks = Locations(len(rows))
    for rank, (whole, inside) in enumerate(rows):
        ranks.add(rank, (PROGRAM,), max(0.0, whole - inside))
        ranks.add(rank, (PROGRAM, "MPI_*"), inside)
    collect(found, found.point(tuple(where.values())), ranks)
    found.skip("sections", sum(line.startswith("@--- ") for line in lines) - 2, "call sites and sizes", str(path))
    return found.finish("mpip", path.stem, notes=[NOTE])


def _times(row: re.Match[str], path: Path, line: int) -> tuple[float, float]:
    """Return the seconds of a rank, and those in MPI."""
    try:
        return float(row["app"]), float(row["mpi"])
    except ValueError:
        raise InputError(Fault("expected AppTime, MPITime and MPI%", file=str(path), line=line)) from None


READER = Reader(
    "mpip",
    "mpiP report",
    (".mpip", ".mpiP"),
    recognises=_recognises,
    read=_read,
    order=40,
    looks="app.4.1234.1.mpiP, one run; several files make a set",
)
