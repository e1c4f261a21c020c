"""A directory of logs, a file per run, with parameters in the names: ``run_n1000_p16.log``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.filenames import pairs
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers import _outputs
from scalegraph.measurements.readers._files import read_text
from scalegraph.measurements.readers.program_output import collected

_ENDING = re.compile(r"(\.(log|out|txt|err|time|o\d*))?")  # also of batch systems: heat.o4711
_MOST = 4096  # files
_HEAD = 64 << 10
_TIME = re.compile(  # the user's own program's output: the last such line of each file
    r"^[^\n]{0,60}?\b(?:time|elapsed|runtime|wall ?clock|walltime|duration)\b[^\n\d]{0,40}?[:=]?\s*"
    r"(?P<value>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(?P<unit>s|sec|secs|seconds|ms|us|ns|min|minutes)\b",
    re.IGNORECASE | re.MULTILINE,
)


def _is_log(file: Path) -> bool:
    return _ENDING.fullmatch(file.suffix.lower()) is not None


def _files(path: Path) -> list[Path]:
    return sorted(file for file in path.iterdir() if _is_log(file) and file.name[0] != "." and file.is_file())


def _recognises(path: Path, _head: bytes) -> bool:
    return are_logs(_files(path))


def are_logs(files: Sequence[Path]) -> bool:
    """Whether *files*, two or more, are logs of one run each, judged by their names and the first one's content."""
    if not 2 <= len(files) <= _MOST or not all(map(_is_log, files)):
        return False
    with files[0].open("rb") as file:
        text = file.read(_HEAD).decode("utf-8", "replace")
    if not pairs([file.stem for file in files]):
        return any(run.numbers for run in _outputs.runs(text))
    return any(_outputs.runs(text)) or _TIME.search(text) is not None


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    try:
        files = _files(path)
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {error.strerror}", file=str(path))) from error
    if not files:
        raise InputError(Fault("holds no logs: run_p4.log, run_p8.log, .. were expected", file=str(path)))
    return read_files(files, path, cancel, progress)


def read_files(files: Sequence[Path], path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    """Return the set of *files*, a log per run, named after *path*; raise `InputError` if one cannot be read."""
    named = pairs([file.stem for file in files]) or [{} for _ in files]
    found = []
    kinds: Counter[str] = Counter()
    silent: list[str] = []
    for done, (file, said) in enumerate(zip(files, named, strict=True), 1):
        cancel.check()
        text = read_text(file)
        _outputs.refuse_cut_off(text, str(file))
        runs = list(_outputs.runs(text)) or (_own(text) if said else [])
        kinds.update(run.kind for run in runs)
        if not runs:
            silent.append(str(file))
        found += [(run, {key: value for key, value in said.items() if key not in run.numbers}) for run in runs]
        progress(done / len(files))
    made = collected(str(path), found)
    if silent:
        made.skip("files", len(silent), "no time is in them", silent[0])
    said_of_all = ", ".join(named[0]) or "nothing"
    note = f"{' and '.join(kinds)} of {len(files)} files; their names say {said_of_all}"
    notes = [note, *dict.fromkeys(run.note for run, _ in found if run.note)]
    return made.finish("log-directory", path.name, files=[str(file) for file in files], notes=notes)


def _own(text: str) -> list[_outputs.Found]:
    """Return the run in an unknown program's log: its last line with a time and a unit."""
    matches = list(_TIME.finditer(text))
    if not matches:
        return []
    last = matches[-1]
    value = {"time": (float(last["value"]), last["unit"].lower())}
    return [_outputs.Found("the last time in the log", {}, {}, value)]


READER = Reader(
    "log-directory",
    "Directory of logs, a file a run",
    (),
    recognises=_recognises,
    read=_read,
    order=90,
    directory=True,
    looks="run_n1000_p16.log, ..: output of time, perf stat, NPB, LULESH, HPCG, HPL, STREAM, or a time with its unit",
)
