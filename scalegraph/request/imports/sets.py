"""Users' measurements: files become a set; a set and the meaning of its names become a study."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.measurements import asking, foreign, naming
from scalegraph.measurements.filenames import with_names
from scalegraph.measurements.guessing import NONE, Guess, guess_mapping, unused
from scalegraph.measurements.mapping import SECONDS, Question, Unanswered
from scalegraph.measurements.mapping import Mapping as Meaning
from scalegraph.measurements.merging import merged
from scalegraph.measurements.model import MeasurementSet, beyond
from scalegraph.measurements.reader import Progress, Reader, readers, recognised
from scalegraph.measurements.readers import log_directory
from scalegraph.measurements.runs import make_runs, serial_times
from scalegraph.measurements.table import TableChoices, guess_table, idle, read_table, records
from scalegraph.measurements.table.series import SEPARATE
from scalegraph.request.imports import tables
from scalegraph.request.imports.kinds import is_study, refuse_another
from scalegraph.store import Manifest, Study

_TABLE = "table"
_CHECKED = 16 << 20  # bytes of a file checked for damage


def _quiet(_share: float) -> None:
    """Show no progress."""


def reader_of(path: Path, name: str = "") -> Reader:
    """Return the reader called *name*, or the one most likely to accept *path*.

    Raises `InputError` for an unknown name, a missing file, and one that no reader accepts, listing the alternatives.
    """
    if name:
        if name not in readers():
            hint = near(name, readers()) or f"; known: {', '.join(readers())}"
            raise InputError(Fault(f"unknown format '{name}'{hint}", key="--format"))
        return readers()[name]
    if not path.exists():
        raise InputError(Fault("no such file", file=str(path)))
    if not path.is_file() and not path.is_dir():
        raise InputError(
            Fault("is neither a file nor a directory; keep what comes through it in a file", file=str(path))
        )
    found = recognised(path)
    if (not found or found[0].name == _TABLE) and path.is_file() and (what := foreign.told(_head(path), str(path))):
        raise InputError(Fault(what, file=str(path)))
    if found:
        return found[0]
    refuse_another(path, "measurements")
    _check_whole(path)
    endings = sorted({ending for reader in readers().values() for ending in reader.endings})
    if path.is_dir():
        kinds = ", ".join(reader.title for reader in readers().values() if reader.directory) or "none"
        raise InputError(Fault(f"holds nothing that is read from a directory ({kinds})", file=str(path)))
    if path.suffix.lower() in records.ENDINGS:
        raise InputError(Fault(f"is JSON of no known tool; {records.EXPECTED}", file=str(path)))
    raise InputError(
        Fault(
            f"is not a format that can be imported: {' '.join(endings)} and studies (.sgstudy) can; "
            "`scalegraph import --list-formats` says more",
            file=str(path),
        )
    )


def _head(path: Path) -> bytes:
    """Return the beginning of a file, empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(16 << 10)
    except OSError:
        return b""


def _check_whole(path: Path) -> None:
    """Refuse a file that no reader accepts because it is damaged, with the place if its kind shows that."""
    if path.is_dir():
        return
    fault = None
    if path.stat().st_size == 0:
        fault = Fault("is empty", file=str(path))
    elif path.suffix.lower() == ".json" and path.stat().st_size < _CHECKED:
        try:
            json.loads(path.read_bytes())
        except json.JSONDecodeError as error:
            fault = Fault(f"is not complete JSON: {error.msg.lower()}", file=str(path), line=error.lineno)
        except (UnicodeDecodeError, RecursionError):
            fault = Fault("is not JSON: it is not text, or nested too deeply", file=str(path))
    elif path.suffix.lower() in (".cubex", ".extra-p"):
        kind = (
            "Cube4 profile (a tar archive)" if path.suffix.lower() == ".cubex" else "Extra-P experiment (a zip archive)"
        )
        fault = Fault(f"is not a complete {kind}: it is cut off, damaged or something else", file=str(path))
    if fault is not None:
        raise InputError(fault)


def are_logs(paths: Sequence[Path]) -> bool:
    """Return whether *paths* are logs of one run each, which together form one set, like their directory."""
    return all(path.is_file() for path in paths) and log_directory.are_logs(paths)


def read_set(
    paths: Sequence[Path],
    *,
    name: str = "",
    choices: TableChoices | None = None,
    cancel: CancelToken | None = None,
    progress: Progress = _quiet,
) -> MeasurementSet:
    """Return the content of *paths* as one set: several files with the same parameters are merged.

    Differences between names of tables become a parameter (`with_names`). *name*: the format, guessed if empty;
    *choices*: for tables. Raises `InputError` with every fault of the first faulty file.
    """
    token = cancel or CancelToken()
    if not name and choices in (None, TableChoices()) and are_logs(paths):
        return log_directory.read_files(paths, paths[0].parent, token, progress)
    found = [reader_of(path, name) for path in paths]
    together = found[0].together
    if len(paths) > 1 and together is not None and all(reader.together is together for reader in found):
        _not_for_tables(paths[0], found[0], choices)
        return together(paths, token, progress)
    made = []
    for number, (path, reader) in enumerate(zip(paths, found, strict=True)):
        token.check()

        def share(done: float, number: int = number) -> None:
            progress((number + done) / len(paths))

        if reader.name == _TABLE:
            made.append(read_table(path, choices, token, share))
        else:
            _not_for_tables(path, reader, choices)
            made.append(reader.read(path, token, share))
        if (fault := beyond(made[-1])) is not None:
            raise InputError(fault if fault.file else replace(fault, file=str(path)))
    return merged(with_names(made, paths) if all(reader.name == _TABLE for reader in found) else made)


def _not_for_tables(path: Path, reader: Reader, choices: TableChoices | None) -> None:
    """Refuse *choices* for a file that is not a table, for which they have no effect."""
    if choices is not None and choices != TableChoices():
        message = f"is not read as a table but as {reader.title}: --format table if it is"
        raise InputError(Fault(message, file=str(path)))


def set_of(
    table: pd.DataFrame, name: str, roles: Mapping[str, str], across: str = ""
) -> tuple[MeasurementSet, dict[str, str]]:
    """Return a table in memory as a set, read like one in a file, and the names of its columns in the set.

    A named index counts as columns; time spans become seconds. *roles* and *across* as in `TableChoices`; *name*: of
    the table in faults.
    """
    plain = table.reset_index() if any(level is not None for level in table.index.names) else table.copy()
    plain.columns = pd.Index([str(title).strip() for title in plain.columns])
    for place, kind in enumerate(plain.dtypes):
        if kind.kind == "m":
            plain.isetitem(place, plain.iloc[:, place].dt.total_seconds())
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "table.csv"
        plain.to_csv(path, index=False, encoding="utf-8")
        choices = TableChoices(
            encoding="utf-8", delimiter=",", decimal=".", header=1, columns=dict(roles), across=across
        )
        try:
            titles = {column.title: column.name for column in guess_table(path, choices).columns}
            measured = read_table(path, choices)
        except Unanswered as error:
            raise Unanswered(error.questions, name) from None
        except InputError as error:
            raise InputError([_in_frame(fault, name) for fault in error.faults]) from None
        skipped = [replace(item, place=_place(item.place, name)) for item in measured.skipped]
    return replace(measured, files=(), title=name, skipped=tuple(skipped)), titles


def _in_frame(fault: Fault, name: str) -> Fault:
    """Return a fault of the temporary file of a table, with its place in the table itself."""
    return replace(fault, file=_place(f":{fault.line or ''}", name), line=None, column=None)


def _place(place: str, name: str) -> str:
    """Return ``file:line`` as a row of the table written to the file; rows count from 0."""
    line = place.rpartition(":")[2]
    return f"{name}, row {int(line) - 2}" if line.isdigit() and int(line) > 1 else name


def study_of(
    measured: MeasurementSet,
    mapping: Meaning,
    *,
    cancel: CancelToken | None = None,
    progress: Progress = _quiet,
) -> Study:
    """Return a study in memory with the set and its runs; there are none without a time or processors."""
    runs, memory = make_runs(measured, mapping, cancel, progress)
    title = measured.title or "measurements"
    study = Study.memory(Manifest.new(title=title, program=title, machine="unknown"))
    study.add_runs(runs)
    study.set_measurements(measured, mapping)
    for fact, values in ((tables.MEMORY, memory), (tables.SERIAL, serial_times(measured, mapping, runs))):
        if values:
            study.set_facts(fact, values)
    return study


def answered(
    measured: MeasurementSet, said: Mapping[str, Any] | None = None, before: Mapping[str, Any] | None = None
) -> Guess:
    """Return the meaning of the names in *measured*; raise `Unanswered` with every question still open.

    *said* takes precedence over what was said *before*; raises `InputError` if some of *said* has no effect.
    """
    guess, _ = asking.complete(measured, {**(before or {}), **(said or {})})
    if faults := unused(said or {}, guess):
        raise InputError(faults)
    if guess.questions:
        file = measured.files[0] if measured.files else measured.title
        raise Unanswered(guess.questions, file)
    return guess


def opened(
    paths: Sequence[Path],
    *,
    name: str = "",
    choices: TableChoices | None = None,
    said: Mapping[str, Any] | None = None,
    cancel: CancelToken | None = None,
    progress: Progress = _quiet,
) -> Study:
    """Return *paths* as a study: the study itself, a table of runs, or measurements as a study in memory.

    *name* (the format) and *choices* (for tables) as in `read_set`; *said* as in `answered`, which also reinterprets
    the measurements of a study. Raises `Unanswered`, saying what has to be stated, and how.
    """
    studies = [path for path in paths if is_study(path)]
    if studies and len(paths) > 1:
        message = "is a study; of several files only measurements are put together"
        raise InputError(Fault(message, file=str(studies[0])))
    if studies:
        if name or choices not in (None, TableChoices()):
            message = "is a study: options for reading a file have no effect, only those for its names and times"
            raise InputError(Fault(message, file=str(studies[0])))
        return _study(studies[0], said or {})
    plain = not name and not said and choices in (None, TableChoices())
    if len(paths) == 1 and plain and is_run_table(paths[0]):
        return tables.read_runs(paths[0])
    guess = understood(paths, name=name, choices=choices, said=said, cancel=cancel, progress=progress)
    return study_of(guess.measured, guess.mapping, cancel=cancel)


def understood(
    paths: Sequence[Path],
    *,
    name: str = "",
    choices: TableChoices | None = None,
    said: Mapping[str, Any] | None = None,
    cancel: CancelToken | None = None,
    progress: Progress = _quiet,
) -> Guess:
    """Return the content of *paths* and the meaning of its names, as `read_set` and `answered` do.

    Raises `Unanswered` with everything that has to be stated for both, each with a guess.
    """
    asked: list[Question] = []
    file, chosen = "", with_roles(choices or TableChoices(), said or {}, paths[0], name)
    said = named(chosen, said or {}, paths[0], name)
    while True:
        try:
            measured = read_set(paths, name=name, choices=chosen, cancel=cancel, progress=progress)
            guess = answered(measured, said)
            refuse_idle(paths, choices)
            break
        except Unanswered as error:
            new = [one for one in error.questions if all(one.key != other.key for other in asked)]
            file = file or error.file
            further = asking.assumed(chosen, new)
            if further is None:
                raise Unanswered(asking.distinct([*asked, *new]), file) from None
            asked, chosen = [*asked, *new], further
        except InputError:
            if not asked:
                raise
            break
    if asked:
        raise Unanswered(asking.distinct(asked), file)
    return guess


def refuse_idle(paths: Sequence[Path], choices: TableChoices | None) -> None:
    """Refuse *choices* for reading tables that have no effect."""
    if choices not in (None, TableChoices()) and (faults := idle(paths, choices)):
        raise InputError(faults)


def with_roles(choices: TableChoices, said: Mapping[str, Any], path: Path, name: str) -> TableChoices:
    """Return *choices* with the roles that follow for columns named in *said*.

    A rate is measured, although whole numbers may pass for a parameter; what counts processors is a parameter.
    """
    asked = (("rate", "metric"), ("time", "metric"), ("processors", "parameter"))
    roles = {str(said.get(key) or NONE): role for key, role in asked}
    roles = {word: role for word, role in roles.items() if word != NONE and word not in choices.columns}
    if not roles or not path.is_file() or reader_of(path, name).name != _TABLE:
        return choices
    columns = guess_table(path, choices).columns
    if any(isinstance(column.at, str) and said.get("time") in (column.title, column.at) for column in columns):
        choices = choices.model_copy(update={"across": SEPARATE})  # one of the series is the time
        columns = guess_table(path, choices).columns
    for column in columns:
        if said.get("processors") in (column.title, column.name) and column.unit.lower() in SECONDS:
            message = f"'{said['processors']}' is a time in {column.unit}, not a number of processors"
            raise InputError(Fault(message, file=str(path), key="--processors"))
    known = {word for column in columns for word in (column.title, column.name, f"column {column.index + 1}")}
    unknown = str(said.get("rate") or NONE)
    made = {word: role for word, role in roles.items() if word in known or word == unknown}
    return choices.model_copy(update={"columns": {**choices.columns, **made}}) if made else choices


def named(choices: TableChoices, said: Mapping[str, Any], path: Path, name: str) -> Mapping[str, Any]:
    """Return the answers *said* with the names in the set for columns that were named by title or number."""
    if not said or not path.is_file() or reader_of(path, name).name != _TABLE:
        return said
    return naming.by_column(said, [(column.title, column.name) for column in guess_table(path, choices).columns])


def _study(path: Path, said: Mapping[str, Any]) -> Study:
    """Return the study itself, or if something is *said*, one of its measurements with that meaning."""
    study = Study.open(path)
    if not said:
        return study
    with study:
        measured, mapping = study.measurements(), study.mapping()
        if measured is None:
            raise InputError(Fault("was not made of measurements, so no option applies to them", file=str(path)))
        before = (
            {} if mapping is None else mapping.model_dump(exclude={"sizes", "columns", "follow"}, exclude_defaults=True)
        )
        if mapping is not None and "processors" not in said:
            before["sizes"] = _told_apart(measured, mapping)
        guess = answered(measured, said, before)
        return study_of(guess.measured, guess.mapping)


def notes(study: Study) -> list[str]:
    """Return notes for the user on the measurements in *study*: remarks from their files, and guesses."""
    measured = study.measurements()
    if measured is None:
        return []
    again = _again(study)
    return list(dict.fromkeys([*measured.notes, *measured.remarks, *(again.notes if again else ())]))


def why_no_runs(study: Study) -> list[str]:
    """Return why the measurements in *study* have no runs, empty if that was not a guess."""
    again = _again(study)
    return list(again.no_runs) if again else []


def _again(study: Study) -> Guess | None:
    """Return the guess for a study's measurements with its mapping as answers, None without a mapping."""
    measured, mapping = study.measurements(), study.mapping()
    if measured is None or mapping is None:
        return None
    said = mapping.model_dump(include={"processors", "time", "unit", "clock_hz", "total", "scaling"})
    return guess_mapping(measured, {**said, "sizes": _told_apart(measured, mapping)})


def _told_apart(measured: MeasurementSet, mapping: Meaning) -> tuple[str, ...] | str:
    """Return the parameters that distinguish problems, in the form of answers: sizes, and texts that are kept."""
    texts = [name for name in measured.parameters if not pd.api.types.is_numeric_dtype(measured.points[name].dtype)]
    return (*mapping.sizes, *(name for name in texts if name not in mapping.follow)) or NONE


def is_run_table(path: Path) -> bool:
    """Return whether *path* is a table of runs in ScaleGraph's own columns, apart from a slip in a name."""
    return path.suffix.lower() == ".csv" and path.is_file() and tables.are_runs(path)


def formats() -> Iterable[Reader]:
    """Return every readable format, in the order in which they are tried."""
    return readers().values()
