"""Outputs of NPB, LULESH, HPCG, HPL and STREAM that state the number of processors: a file, with one run or several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector, Coordinate
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers import _outputs
from scalegraph.measurements.readers._files import read_text

PROGRAM = "program"
_SEARCHED = 256 << 10  # bytes at the end of a file searched for marks


_OTHERS = (".csv", ".json", ".jsonl", ".md", ".toml", ".tsv", ".xml")  # texts that may quote such an output


def _recognises(path: Path, head: bytes) -> bool:
    if path.suffix.lower() in _OTHERS or b"\0" in head:
        return False
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _SEARCHED))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return False
    return any(run.numbers for run in _outputs.runs(text))


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    text = read_text(path)
    _outputs.refuse_cut_off(text, str(path))
    found = list(_outputs.runs(text))
    cancel.check()
    made = collected(str(path), [(run, {}) for run in found])
    progress(1.0)
    return made.finish("program-output", path.stem, notes=told(found))


def told(found: Sequence[_outputs.Found]) -> list[str]:
    """Return the notes on outputs of one program."""
    return [f"the output of {found[0].kind}", *dict.fromkeys(run.note for run in found if run.note)]


def collected(file: str, found: list[tuple[_outputs.Found, dict[str, Coordinate]]]) -> Collector:
    """Return the runs *found*, each with the parameters in the name of its file added.

    Raises `InputError` if the runs state different parameters.
    """
    if not found:
        raise InputError(Fault("holds no run that ended", file=file))
    failed = [run for run, _ in found if run.failed]
    found = [(run, more) for run, more in found if not run.failed]
    if not found:
        raise InputError(Fault("holds no run that succeeded, by its own words", file=file))
    points = [{**run.numbers, **run.texts, **more} for run, more in found]
    names = list(points[0])
    for point in points:
        if set(point) != set(names):
            apart = ", ".join(sorted(set(point) ^ set(names)))
            raise InputError(Fault(f"some of its runs say {apart}, and some do not", file=file))
    made = Collector(file, names)
    if failed:
        made.skip("runs", len(failed), "failed, by their own words", file)
    for (run, _), point in zip(found, points, strict=True):
        if not run.values:
            made.skip("runs", 1, "without a time or rate", file)
        at = made.point(tuple(point[name] for name in names))
        path = made.child(None, PROGRAM)
        for name, (value, unit) in run.values.items():
            made.add(at, path, made.metric(name, unit), (value,))
    return made


READER = Reader(
    "program-output",
    "Output of NPB, LULESH, HPCG, HPL or STREAM",
    (".out", ".log", ".txt"),
    recognises=_recognises,
    read=_read,
    order=800,
    looks="what these programs print; several runs in one file, or several files",
)
