"""Roles of the columns of a table, guessed from names and first cells, each with its confidence and reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from scalegraph.measurements import grids, names, rates
from scalegraph.measurements.model import Metric
from scalegraph.measurements.table import (
    beside,
    copies,
    durations,
    jobs,
    numbered,
    remarks,
    series,
    slips,
    suffixes,
    unit_columns,
    unnamed,
    values,
)
from scalegraph.measurements.table.layout import is_missing, is_number

# parameter: a coordinate; metric: measured; wide: measured at the parameter value `at`; call_path: the place in the
# program; metric_name, value, unit: one measured value per row; repetition: its number; skip: left out, with a note
Role: TypeAlias = Literal[
    "parameter", "metric", "wide", "call_path", "metric_name", "value", "unit", "repetition", "skip"
]
Kind: TypeAlias = Literal["count", "number", "duration", "text", "empty"]
ROLES: tuple[str, ...] = get_args(Role)
SURE = 0.6  # below this, the user is asked
_SAME = 1.05  # maximum ratio between repetitions
_DIFFERENT = 2.0  # ratio in every row above which columns are hardly repetitions
SAID = "it was said"
UNITS = "numbers in several units"
_FRACTIONS = "its numbers are not whole"
_OF_ITS_OWN = "a text of its own in every row"
_INDEXED = re.compile(r"^\s*(.*?)[\s_.\-#=:]*(\d+)\s*$")
_ASSIGNED = re.compile(r"^\s*([A-Za-z][\w ]*?)\s*=\s*(\d+)\s*$")
_WHOLE = re.compile(r"^\s*(\d+)\.0+\s*$")
_COUNTED = re.compile(r"^\s*(\d+)[\s_\-]*([A-Za-z][A-Za-z_ ]*)$")


@dataclass(frozen=True)
class Column:
    """A column: its *title* in the file, its *name* (unique) and *unit*, and its role.

    *at*: for a wide column the parameter value, a number or a series' name; *repetition*: number from 0 among columns
    of one metric. *confidence*: 0 to 1; *why*: its reason. *suffix*: text after the number in every cell (``%`` of
    ``96%``). *unit_from*: the column whose cells are the units of this one's.
    """

    index: int
    title: str
    name: str
    unit: str = ""
    role: Role = "skip"
    at: int | str | None = None
    repetition: int | None = None
    confidence: float = 1.0
    why: str = ""
    kind: Kind = "text"
    suffix: str = ""
    unit_from: int | None = None
    mixed: bool = False  # numbers in other units than `suffix` are converted


def guess(titles: Sequence[str], rows: Sequence[Sequence[str]], *, across: str = "") -> tuple[tuple[Column, ...], str]:
    """Return the columns of a table and, for a wide one, the parameter of its columns.

    *across*: the parameter as stated by the user, or ``repetition``.
    """
    shown = rows[:100]
    corner, over = beside.corner(titles, shown)
    if over:  # `n \ p`: sizes down, processors across
        titles = [corner, *titles[1:]]
        across = across or over
    columns = [
        _alone(index, title, [row[index] for row in shown if index < len(row)]) for index, title in enumerate(titles)
    ]
    columns = _settle(_hosts(_labelled(_like_their_kin(columns), shown), shown))
    columns, parameter = _wide(numbered.turns(columns, rows), across, shown)
    columns = beside.wide(columns, parameter)
    if not parameter:
        columns, parameter = series.found(columns, shown, across)
    columns = copies.left_out(columns, shown)
    columns = _constant(unnamed.first(columns, shown, wide=bool(parameter)), shown)
    return tuple(_unique(_repeated(remarks.told(columns, rows)))), parameter


def _kind(found: Sequence[str], *, counted: bool = False, timed: bool = False) -> Kind:
    """Return the kind of cells; if the name says that it holds numbers (*counted*), half of them must be.

    ``15m`` are minutes if the name says that the column is *timed*.
    """
    there = [cell for cell in found if not is_missing(cell)]
    if not there:
        return "empty"
    numeric = slips.without(there)
    if len(numeric) < len(there) and (kind := _kind(numeric, counted=counted, timed=timed)) in (
        "count",
        "number",
        "duration",
    ):
        return "duration" if kind == "duration" else "number"  # reading the table reports the other cells
    if all(cell.isascii() and cell.isdigit() for cell in there):
        return "count"
    if durations.are_all(there, timed=timed):
        return "duration"
    if counted and 2 * sum(durations.seconds(cell, minutes=timed) is not None for cell in there) >= len(there):
        return "duration"
    numbers = sum(map(is_number, there))
    enough = numbers >= 0.5 * len(there) if counted else numbers > 1 and numbers >= 0.8 * len(there)
    return "number" if numbers == len(there) or enough else "text"


def _alone(index: int, title: str, found: Sequence[str]) -> Column:
    """Return the column judged by itself."""
    suffix = suffixes.of_all(slips.without(found)) or suffixes.of_hours(title, found)
    if names.counts_processors(names.without_unit(title)[0]):
        suffix = suffix or suffixes.of_thousands(slips.without(found))
    mixed = suffixes.are_mixed(slips.without(found), suffix)
    found = [suffixes.without(cell, suffix) for cell in found] if suffix else found
    kind = _kind(found, counted=_of_number(title), timed=names.is_time(names.without_unit(title)[0]))
    if kind == "number" and names.plain(title) in names.VERSIONS:
        kind = "text"  # 1.10 is not 1.1
    title = _WHOLE.sub(r"\1", title)  # pandas writes the columns 1.0, 2.0
    if title.isdigit() and kind == "duration":
        return Column(index, title, title, "s", "metric", None, None, 0.9, "its cells are times", kind)
    if title.isdigit() and kind in ("count", "number"):  # a wide table has thousands of them
        role, confidence, why = _of_numbers(title, counts=kind == "count", again=len(set(found)) < len(found))
        return Column(index, title, title, "", role, None, None, confidence, why, kind)
    if not title and index == 0 and kind == "count" and _rising(found):
        return Column(index, title, "row number", "", "skip", None, None, 0.9, "it numbers the rows", kind)
    name, unit = names.without_unit(title)
    unit = "s" if kind == "duration" else unit or suffixes.unit(suffix)
    if jobs.says_how_it_ended(title, found):
        return Column(index, title, name, "", "skip", None, None, 0.9, "says how runs ended", kind)
    size = bool(suffix) and suffixes.is_bytes(suffix)  # `4 MB` may also be a problem size
    role, confidence, why = _role(name, "" if size else unit, kind, found)
    why += f"; other units are converted to {suffix}" if mixed else ""
    return Column(index, title, name, unit, role, None, None, confidence, why, kind, suffix, None, mixed)


def _of_number(title: str) -> bool:
    """Whether a name implies numbers, so that a text below it is a slip: a time, a processor count, a metric."""
    name, unit = names.without_unit(title)
    short = names.plain(name)
    if short in names.REMARKS | names.REGIONS | names.METRIC_NAMES or short in ("mpi", "openmp", "omp"):
        return False
    return (
        names.metric_kind(name, unit) != "other"
        or names.counts_processors(name)
        or bool(rates.per(Metric(name, unit, "other")))
        or short in ("n", "m", "nx", "ny", "nz")
    )


def _rising(found: Sequence[str]) -> bool:
    """Whether cells count 0, 1, 2, .. or 1, 2, 3, .. like row numbers."""
    numbers = [int(cell) for cell in found if not is_missing(cell)]
    return len(numbers) > 1 and numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _role(name: str, unit: str, kind: str, found: Sequence[str]) -> tuple[Role, float, str]:
    short = names.plain(name)
    if kind == "empty":
        return "skip", 0.9, "has no cell filled"
    if short in names.REMARKS and not (short in names.TIMES and kind in ("number", "count")):
        return "skip", 0.8, "its name"
    if kind == "text":
        return _of_text(short, found)
    if kind == "duration":
        return "metric", 0.9, "its cells are times"
    counts = kind == "count" or (kind == "number" and all(_WHOLE.match(cell) for cell in found if not is_missing(cell)))
    for fits, role, confidence in (
        (names.counts_processors(name) and counts, "parameter", 0.95),
        (short in names.REPETITIONS and counts, "repetition", 0.9),
        (short in names.VALUES, "value", 0.8),
        (rates.per(Metric(name, unit, names.metric_kind(name, unit))) is not None, "metric", 0.9),
        (names.is_metric(name, unit) and short not in names.SIZES, "metric", 0.95),
        (short in names.SIZES | names.PROCESSORS or (counts and names.counts_processors(name)), "parameter", 0.9),
    ):
        if fits:
            return role, confidence, "its name"  # type: ignore[return-value]
    return _of_numbers(name, counts=kind == "count", again=len(set(found)) < len(found))


def _of_text(short: str, found: Sequence[str]) -> tuple[Role, float, str]:
    if unit_columns.are_units(short, found):
        return "unit", 0.9, "its cells are units"
    for known, role in ((names.REGIONS, "call_path"), (names.METRIC_NAMES, "metric_name"), (names.UNITS, "unit")):
        if short in known:
            return role, 0.9, "its name"  # type: ignore[return-value]
    if not short and (len(set(found)) == len(found) or unnamed.are_repetitions(found)):
        return "skip", 0.7, "it has no name"
    if grids.are_written([cell for cell in found if not is_missing(cell)]):
        return "parameter", 0.9, "its cells are grids, as 2x2"
    if suffixes.differ(found):
        return ("parameter", 0.7, UNITS) if short in names.SIZES else ("skip", 0.5, UNITS)
    if len(found) > 3 and len(set(found)) == len(found):
        return "skip", 0.5, _OF_ITS_OWN
    return "parameter", 0.7, "it holds texts"


def _of_numbers(name: str, *, counts: bool, again: bool) -> tuple[Role, float, str]:
    if not name:
        return "skip", 0.3, "it has no name"
    if not counts:
        return "metric", 0.7, _FRACTIONS
    return (
        ("parameter", 0.65, "whole numbers that come again")
        if again
        else ("parameter", 0.4, "whole numbers, each once")
    )


def _labelled(columns: list[Column], rows: Sequence[Sequence[str]]) -> list[Column]:
    """Return the columns, with texts that differ between rows only by the number of processors as parameters."""
    counting = [item.index for item in columns if item.role == "parameter" and names.counts_processors(item.name)]
    made = []
    for item in columns:
        if item.kind == "text" and item.role == "skip" and item.why == _OF_ITS_OWN:
            whole = [row for row in rows if len(row) > max([item.index, *counting])]
            texts = [row[item.index] for row in whole]
            if any(names.without_counts(texts, [row[index] for row in whole]) for index in counting if whole):
                item = replace(item, role="parameter", confidence=0.8, why="it names the number of processors")
        made.append(item)
    return made


def _hosts(columns: list[Column], rows: Sequence[Sequence[str]]) -> list[Column]:
    """Return the columns with names of hosts as a parameter if they tell runs apart, and unsure if they may."""
    keys = [item.index for item in columns if item.role in ("parameter", "call_path", "metric_name", "repetition")]
    made = []
    for item in columns:
        whole = [row for row in rows if len(row) > max([item.index, *keys])]
        texts = [row[item.index] for row in whole if not is_missing(row[item.index])]
        if names.plain(item.name) not in names.HOSTS or item.kind != "text" or len(set(texts)) < 2:
            made.append(item)
        elif len(set(texts)) < len(texts):
            made.append(replace(item, role="parameter", confidence=0.7, why="runs on different hosts"))
        elif len({tuple(row[index] for index in keys) for row in whole}) < len(whole):
            made.append(replace(item, confidence=0.5, why=_OF_ITS_OWN))  # another node for each repetition, or hosts
        else:
            made.append(item)
    return made


def _settle(columns: list[Column]) -> list[Column]:
    """Return the columns with roles that depend on the other columns."""
    roles = {column.role for column in columns}
    if "value" in roles and "metric_name" not in roles:
        return [replace(item, role="metric") if item.role == "value" else item for item in columns]
    if "metric_name" in roles and "value" not in roles:
        metrics = [item for item in columns if item.role == "metric"]
        if len(metrics) == 1:
            return [replace(item, role="value") if item is metrics[0] else item for item in columns]
        return [replace(item, role="parameter") if item.role == "metric_name" else item for item in columns]
    if _is_study(columns):  # whether these are sizes or results is asked, if it matters, for all at once
        return [
            replace(item, confidence=0.65, why=f"{item.why}, beside processors and times")
            if item.role == "parameter" and item.confidence < SURE
            else item
            for item in columns
        ]
    if "metric" not in roles and "value" not in roles:
        unsure = [item for item in columns if item.role == "parameter" and item.confidence < SURE]
        if len(unsure) == 1:
            only = replace(unsure[0], role="metric", confidence=0.65, why="nothing else is measured")
            return [only if item is unsure[0] else item for item in columns]
    return columns


def _constant(columns: list[Column], rows: Sequence[Sequence[str]]) -> list[Column]:
    """Return the columns, with those of fractions made parameters if they were set and another column is measured.

    A fraction was set if it is the same in all rows, or if each of its values comes once with every combination of the
    other parameters.
    """
    keys = [item.index for item in columns if item.role == "parameter"]
    made = []
    for item in columns:
        measured = any(other.role in ("metric", "wide", "value") for other in columns if other is not item)
        sized = names.metric_kind(item.name) == "bytes" and item.kind == "count"  # `bytes` of a message
        if (item.why == _FRACTIONS or sized) and item.role == "metric" and measured:
            whole = [row for row in rows if len(row) > max([item.index, *keys])]
            found: dict[str, list[tuple[str, ...]]] = {}
            for row in whole:
                found.setdefault(row[item.index], []).append(tuple(row[index] for index in keys))
            each = [sorted(rows_of) for rows_of in found.values()]
            if len(found) == 1 and len(whole) > 2 and not sized:
                item = replace(item, role="parameter", confidence=0.65, why="the same in every row")
            elif len(found) > 1 and len(each[0]) > 1 and all(one == each[0] for one in each):
                item = replace(item, role="parameter", confidence=0.65, why="comes with all other parameters")
        made.append(item)
    return made


def _is_study(columns: Sequence[Column]) -> bool:
    """Whether names clearly show which column counts processors and which is a time or a rate."""
    return any(
        item.role == "parameter" and names.counts_processors(item.name) and item.confidence >= 0.9 for item in columns
    ) and any(item.role == "metric" and item.confidence >= 0.9 for item in columns)


_NUMERIC = ("count", "number", "duration")


def _like_their_kin(columns: list[Column]) -> list[Column]:
    """Return the columns; one of texts among columns of one measurement counts as numbers: its bad cell is reported."""
    groups, assigned, many = _groups(columns)
    made = list(columns)
    for prefix, group in groups.items():
        members = [column for column, _ in group]
        kin = [column for column in members if column.kind in _NUMERIC]
        others = [column for column in members if column.kind == "text"]
        stands_for_values = (
            prefix in assigned or _across(many.get(prefix, prefix), [at for _, at in group], columns, "")[0]
        )
        if len(kin) > 1 and others and stands_for_values:
            like = max(kin, key=lambda column: (column.kind == "duration", column.kind == "number"))
            for column in others:
                made[column.index] = replace(
                    column,
                    kind="duration" if like.kind == "duration" else "number",
                    unit=column.unit or like.unit,
                    suffix=like.suffix,
                    role="metric",
                    confidence=0.7,
                    why="it belongs to columns of numbers",
                )
    return made


def _groups(
    columns: Sequence[Column],
) -> tuple[dict[str, list[tuple[Column, int]]], set[str], dict[str, str]]:
    """Return numbered columns (``T=4``, ``4 threads``) with their numbers, by the words beside the number.

    Also return the words that an equals sign follows, and by word its plural.
    """
    groups: dict[str, list[tuple[Column, int]]] = {}
    assigned: set[str] = set()  # `T=4`
    many: dict[str, str] = {}  # what is counted, as in the last column
    for column in columns:
        if column.role in ("repetition", "value"):
            continue
        if match := _ASSIGNED.match(column.name):
            assigned.add(match[1].strip())
            groups.setdefault(match[1].strip(), []).append((column, int(match[2])))
        elif match := _INDEXED.match(column.name):
            groups.setdefault(match[1].strip(), []).append((column, int(match[2])))
        elif match := _COUNTED.match(column.name):
            counted = match[2].strip()
            one = counted.removesuffix("s") if len(counted) > 2 else counted  # `1 thread`, `2 threads`
            many[one] = counted
            groups.setdefault(one, []).append((column, int(match[1])))
    return groups, assigned, many


def _wide(columns: list[Column], across: str, rows: Sequence[Sequence[str]]) -> tuple[list[Column], str]:
    """Return the columns, with one group marked as wide, and what its columns stand for: a parameter or repetitions."""
    groups, assigned, many = _groups([column for column in columns if column.kind in _NUMERIC])
    for prefix, group in groups.items():
        prefix = many.get(prefix, prefix)
        numbers = [number for _, number in group]
        if len(group) < 2 or len(set(numbers)) != len(numbers):
            continue
        if len({column.unit for column, _ in group} - {""}) > 1:
            continue  # columns in different units are different columns
        if prefix in assigned:
            word = "threads" if prefix.lower() == "t" else prefix
            meaning, confidence = (across or word), 0.9
        else:
            meaning, confidence = _across(prefix, numbers, columns, across)
            if confidence < SURE and _same(group, rows):
                meaning, confidence = "repetition", 0.8
            if meaning == "repetition" and not across and prefix not in names.REPETITIONS and _apart(group, rows):
                confidence = 0.4
        if not meaning:
            continue
        return _marked(columns, group, prefix, meaning, confidence)
    return columns, ""


def _across(prefix: str, numbers: Sequence[int], columns: Sequence[Column], said: str) -> tuple[str, float]:
    """Return what a group of columns is over (a parameter, or ``repetition``), empty if nothing."""
    short = names.plain(prefix)
    consecutive = list(numbers) == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] in (0, 1)
    counted = any(column.role == "parameter" and names.counts_processors(column.name) for column in columns)
    timed = short in names.TIMES or names.is_time(prefix)
    if short and not timed and short not in names.PROCESSORS | names.REPETITIONS:
        return "", 0.0  # level1, level2: separate columns
    if short == "p" and {95, 99, 999} & set(numbers):
        return "", 0.0  # p50, p95, p99: percentiles
    if said:
        return said, 1.0
    if short in names.REPETITIONS:
        return "repetition", 0.95
    if short in names.PROCESSORS and not (counted and short not in ("p", "np")):
        return prefix, 0.9
    if counted:
        return "repetition", 0.9 if consecutive else 0.4
    if not consecutive and numbers[0] >= 1 and all(b > a for a, b in pairwise(numbers)):
        return "processors", 0.85
    return ("repetition", 0.4) if consecutive else ("processors", 0.4)


def _same(group: Sequence[tuple[Column, int]], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the values in every row are nearly the same, as those of repetitions are."""
    found = values.numbers([column for column, _ in group], rows)
    return bool(found) and all(0 < max(each) < _SAME * min(each) for each in found)


def _apart(group: Sequence[tuple[Column, int]], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the values of every row are too far apart for repetitions."""
    return values.differ([column for column, _ in group], rows, _DIFFERENT)


def _marked(
    columns: list[Column], group: list[tuple[Column, int]], prefix: str, meaning: str, confidence: float
) -> tuple[list[Column], str]:
    numbers = {column.index: number for column, number in group}
    unit = next((column.unit for column, _ in group if column.unit), "")
    timed = names.is_time(prefix)
    rank = {number: place for place, number in enumerate(sorted(numbers.values()))}
    made = []
    for column in columns:
        if column.index not in numbers:
            made.append(column)
        elif meaning == "repetition":
            place = rank[numbers[column.index]]
            why = "one of several columns of one measurement"
            made.append(
                replace(
                    column,
                    name=prefix if timed else "time",
                    unit=unit,
                    role="metric",
                    repetition=place,
                    confidence=confidence,
                    why=why,
                )
            )
        else:
            why = f"one of several columns for values of {meaning}"
            made.append(
                replace(
                    column,
                    name=prefix if timed else "time",
                    unit=unit,
                    role="wide",
                    at=numbers[column.index],
                    confidence=confidence,
                    why=why,
                )
            )
    return made, "" if meaning == "repetition" else meaning


def _repeated(columns: list[Column]) -> list[Column]:
    """Return the columns with columns of the same metric name and unit as its repetitions."""
    seen: dict[tuple[str, str], int] = {}
    for column in columns:
        if column.role == "metric" and column.repetition is None:
            key = column.name, column.unit
            seen[key] = seen.get(key, 0) + 1
    number: dict[tuple[str, str], int] = {}
    made = []
    for column in columns:
        key = column.name, column.unit
        if column.role == "metric" and column.repetition is None and seen[key] > 1:
            at = number.get(key, 0)
            number[key] = at + 1
            column = replace(column, repetition=at, confidence=min(column.confidence, 0.8), why="its name comes again")
        made.append(column)
    return made


def _unique(columns: list[Column]) -> list[Column]:
    """Return the columns with unique names, except repetitions and wide columns of one metric."""
    taken: set[str] = set()
    made = []
    for column in columns:
        name = column.name or f"column {column.index + 1}"
        if column.role != "wide" and column.repetition is None:
            number = 2
            while name in taken:
                name = f"{column.name} ({number})"
                number += 1
            taken.add(name)
        made.append(replace(column, name=name))
    return made
