"""The layout of a table in a file: delimiter, comments, header line, lines before it."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements import names as names_
from scalegraph.measurements.mapping import SECONDS
from scalegraph.measurements.table import durations

DELIMITERS = (";", "\t", ",", "|", " ")
DELIMITER_NAMES = {";": "semicolon", "\t": "tab", ",": "comma", "|": "bar", " ": "space"}
COMMENTS = ("#", "%", "//")
MISSING = frozenset(
    {
        "",
        "-",
        "--",
        "\u2013",
        "\u2014",
        "na",
        "n/a",
        "n.a.",
        "#n/a",
        "nan",
        "null",
        "none",
        "missing",
        "?",
        "-nan",
        "<na>",
        "#nv",
        "n.v.",
        "k.a.",
        "s/o",
    }
)
INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "-infinity", "+infinity"})
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eEdD][+-]?\d+)?")  # with D as Fortran writes it
COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
GROUPED = re.compile(r"[+-]?\d{1,3}([,' \u00a0\u202f\u2019]\d{3})+(\.\d+)?")
GROUPED_POINT = re.compile(r"[+-]?\d{1,3}((\.\d{3})+(,\d+)?|([' \u00a0\u202f\u2019]\d{3})+,\d+)")
_WITH_UNIT = re.compile(r"([+-]?[\d.,]*\d)\s*[^\s\d.,+\-][^\d]{0,11}")  # a number and its unit
_WIDE_GAP = re.compile(r"\s{2,}|\t")
_RULES = ("|", "-", "+", "=", ":")
_SAMPLE = 400  # lines
_MOST_TITLES = 12  # lines above the names


@dataclass(frozen=True)
class Layout:
    """Where the table is. Line numbers start at 1; *header* is 0 if no line has names.

    *rows*: the cells of the first lines of numbers, *names*: those of the header; *before*: number of lines ahead of
    it.
    """

    delimiter: str
    comment: str
    header: int
    names: tuple[str, ...]
    first: int
    rows: tuple[tuple[str, ...], ...]
    before: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    row_names: bool = False  # the first column has no name, as in R's row names
    lines: tuple[int, ...] = ()  # of the rows


def cells(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line, without quotes and surrounding space."""
    if '"' not in line:
        return line.split() if delimiter == " " else [cell.strip() for cell in line.split(delimiter)]
    if delimiter == " ":
        line = line.replace("\t", " ").strip()
    try:
        row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        row = line.split(delimiter)
    return [cell.strip() for cell in row]


def is_number(cell: str) -> bool:
    """Whether *cell* is a number in common notation, or with a decimal comma or groups of thousands."""
    return bool(
        NUMBER.fullmatch(cell)
        or COMMA_NUMBER.fullmatch(cell)
        or GROUPED.fullmatch(cell)
        or GROUPED_POINT.fullmatch(cell)
        or cell.lower() in INFINITE
    )


def is_missing(cell: str) -> bool:
    """Whether *cell* marks a missing value."""
    return cell.lower() in MISSING


def is_comment(line: str, comment: str = "") -> bool:
    """Whether *line* is a comment, or a rule below the names."""
    return line.lstrip().startswith(comment or COMMENTS) or (line.lstrip().startswith(_RULES) and is_rule(line))


def is_rule(line: str) -> bool:
    """Whether *line* is a rule: ``|---|:--|``, ``----- ----`` or ``+====+====+``."""
    return ("--" in line or "==" in line) and not line.strip("|:+-= \t\r")


def find(lines: Sequence[str], file: str, delimiter: str = "", comment: str = "", header: int | None = None) -> Layout:
    """Return where the table is; nonempty arguments (*header* not None) take precedence.

    Raises `InputError` if there is no table with at least two columns.
    """
    sample = _sample(lines, comment, header)
    written = [number for number, line in enumerate(lines, start=1) if line.strip()]
    if not sample and header and written:
        words = f"has no line {header} with names of columns and lines below it: it ends at line {written[-1]}"
        raise InputError(Fault(words, file=file, line=min(header, written[-1])))
    if not sample:
        raise InputError(Fault("is empty; a line with the names of the columns was expected", file=file, line=1))
    delimiter = delimiter or _delimiter([text for _, text in sample])
    if not delimiter:
        raise InputError(
            Fault(
                "is not a table: no comma, semicolon, tab, bar or space divides its lines into columns alike",
                file=file,
                line=sample[0][0],
            )
        )
    for line, text in sample:
        check_quotes(text, line, file)
    counted = [(line, cells(text, delimiter)) for line, text in sample]
    start = 0 if header else _start([len(row) for _, row in counted])
    start += 0 if header is not None else _titles([row for _, row in counted[start : start + _MOST_TITLES]])
    before = tuple(line for line, _ in counted[:start])
    table = counted[start:]
    has_names = header > 0 if header is not None else _is_header(table)
    found = Layout(delimiter, comment, 0, (), table[0][0], (), before)
    found = _named(found, table) if has_names else _unnamed(found, table, lines, look=header is None)
    if not found.rows:
        raise InputError(Fault("holds no row of numbers below the names of its columns", file=file, line=found.header))
    return found


def check_quotes(text: str, line: int, file: str) -> None:
    """Refuse a line with an unclosed quotation."""
    if '"' in text and text.count('"') % 2:
        message = "a quotation mark is not closed in its line; a cell of one line was expected"
        raise InputError(Fault(message, file=file, line=line))


def _named(found: Layout, table: list[tuple[int, list[str]]]) -> Layout:
    header, names = table[0]
    notes: tuple[str, ...] = ()
    names, used = _joined(names, [row for _, row in table[1:]])
    if used:
        notes = (f"the names of the columns stand in {used + 1} lines, from line {header} on",)
        table = [table[0], *table[1 + used :]]
    rows = tuple(tuple(row) for _, row in table[1:])
    first = table[1][0] if rows else header + 1
    made = replace(
        found,
        header=header,
        names=tuple(names),
        first=first,
        rows=rows,
        notes=notes,
        lines=tuple(line for line, _ in table[1:]),
    )
    if rows and all(len(row) == len(names) + 1 for row in rows):
        if all(is_missing(row[-1]) for row in rows):  # a superfluous delimiter at the end of each line
            return replace(made, names=(*names, ""))
        if not _are_row_names([row[0] for row in rows], found.delimiter):
            return made  # an extra cell in each row; the reader of the rows refuses them with their lines
        note = "the first column has no name: it was taken as the names of rows, as R writes them"
        return replace(made, names=("row name", *names), row_names=True, notes=(*notes, note))
    return made


def _joined(names: list[str], below: Sequence[Sequence[str]]) -> tuple[list[str], int]:
    """Return the column names combined with those of a second line, and the number of further lines with names.

    A line holds names if it has no number, and below each of its texts all lines have numbers: parts of a merged cell
    (`triad` over `mean` and `stddev`), units, or just the name of the rows, as in pandas.
    """
    if len(below) < 2 or len(below[0]) != len(names):
        return names, 0
    second, rest = below[0], below[1:]
    filled = [index for index, cell in enumerate(second) if not is_missing(cell)]
    if not filled or any(is_number(cell) or durations.seconds(cell) is not None for cell in second):
        return names, 0
    used = 1
    alone = [cell for cell in rest[0][1:] if cell]
    if rest[0] and rest[0][0] and not is_number(rest[0][0]) and not alone and len(rest) > 1:
        names = [names[0] if 0 in filled else rest[0][0], *names[1:]]
        rest, used = rest[1:], 2
    for index in filled:
        cells_below = [row[index] for row in rest if index < len(row) and not is_missing(row[index])]
        if not cells_below or not all(map(_is_value, cells_below)):
            return names, 0
    made, above = [], ""
    for index, name in enumerate(names):
        above = name or (above if index in filled else "")
        made.append(_under(above, second[index]) if index in filled else name)
    return made, used


def _is_value(cell: str) -> bool:
    """Whether *cell* is a number, perhaps with a unit (``1.92x``, ``96 %``), or a duration."""
    if durations.seconds(cell) is not None or is_number(cell):
        return True
    found = _WITH_UNIT.fullmatch(cell)
    return found is not None and is_number(found[1])


def _under(above: str, below: str) -> str:
    """Return the name of a column from those of two lines: a unit goes into brackets."""
    short = below.strip("[](){} ")
    name, unit = names_.without_unit(above)
    if unit and above.rstrip().endswith(("]", ")", "}", ">")):  # `Time [s]` over `mean` and `std`
        return f"{name} {below} [{unit}]".strip()
    whole = not set(short) & set("[](){}")  # `time (s)` below `MPI` is a name with its unit
    if above and whole and (short.lower() in SECONDS or "/" in short or short == "%" or short != below):
        return f"{above} [{short}]"
    return f"{above} {below}".strip()


def _are_row_names(first: Sequence[str], delimiter: str) -> bool:
    """Return whether the *first* cells name the rows, as in R's data frames: words, or 1, 2, 3 between spaces."""
    if not any(map(is_number, first)):
        return True
    return delimiter in (" ", "\t") and list(first) == [str(number) for number in range(1, len(first) + 1)]


def _unnamed(found: Layout, table: list[tuple[int, list[str]]], lines: Sequence[str], *, look: bool) -> Layout:
    """Return a layout with names from the last comment before the table, if their number fits, or without names."""
    rows = tuple(tuple(row) for _, row in table)
    first = table[0][0]
    made = replace(found, first=first, rows=rows, lines=tuple(line for line, _ in table))
    for number in range(first - 1, 0, -1) if look else ():
        text = lines[number - 1].strip()
        if text and is_comment(text, found.comment):
            words = text.lstrip("#%/ \t")
            for names in (cells(words, found.delimiter), _WIDE_GAP.split(words.strip()), words.split()):
                if len(names) == len(rows[0]) and not any(is_number(name) or name.endswith(":") for name in names):
                    note = f"the names of the columns were taken from the comment in line {number}"
                    return replace(made, header=number, names=tuple(names), notes=(note,))
        elif text:
            break
    return made


def _sample(lines: Sequence[str], comment: str, header: int | None) -> list[tuple[int, str]]:
    """Return the first lines that are neither empty nor comments, with their numbers."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if header and number < header:
            continue
        if line.strip() and (number == header or not is_comment(line, comment)):
            found.append((number, line.lstrip("#%/ ") if number == header else line))
            if len(found) == _SAMPLE:
                break
    return found


def _delimiter(sample: Sequence[str]) -> str:
    """Return the delimiter that splits most lines alike and leaves most cells numbers; empty if none does."""
    best, chosen = (0.0, 0.0, 0), ""
    for delimiter in DELIMITERS:
        rows = [cells(line, delimiter) for line in sample]
        count, alike = Counter(len(row) for row in rows).most_common(1)[0]
        if count < 2:
            continue
        share = alike / len(rows)
        body = [cell for row in rows[-max(1, len(rows) - 1) :] for cell in row[:1000]]
        numeric = sum(map(_plain, body)) / max(1, len(body))
        score = (round(share, 2) if share < 0.9 else 0.9, round(numeric, 2), count)
        if score[:2] > best[:2]:
            best, chosen = score, delimiter
    return chosen if best[0] >= 0.5 else ""


def _plain(cell: str) -> float:
    """Return how much *cell* looks like a single number."""
    if NUMBER.fullmatch(cell) or is_missing(cell):
        return 1.0
    return 0.95 if is_number(cell) or durations.seconds(cell) is not None else 0.0


def _start(counts: Sequence[int]) -> int:
    """Return the index of the first line of the table: the first with the most common number of cells."""
    most = Counter(counts).most_common(1)[0][0]
    for index, count in enumerate(counts):
        following = counts[index + 1] if index + 1 < len(counts) else most
        if (count == most and following == most) or (
            count == most - 1 and following == most and most > 2 and index == 0
        ):
            return index
    return counts.index(most)


def _titles(rows: Sequence[Sequence[str]]) -> int:
    """Return how many *rows* are a title of the table, as in spreadsheets: one cell, or a word and its value.

    They stand above a row of names, begin in its first column and fill fewer cells.
    """
    filled = [[index for index, cell in enumerate(row) if cell] for row in rows]
    most = max(map(len, filled), default=0)
    for at in range(1, len(rows) - 1):
        here, below = filled[at], filled[at + 1]
        words = here and not any(is_number(rows[at][index]) for index in here)
        numbers = any(is_number(rows[at + 1][index]) for index in below)
        if 1 < len(here) > 0.7 * most and words and numbers and 2 * len(below) > len(here):
            above = [each for each in filled[:at] if each]
            alone = all(each == [here[0]] or (each == here[:2] and len(here) > 2) for each in above)
            return at if alone and above else 0
    return 0


def _is_header(table: list[tuple[int, list[str]]]) -> bool:
    """Whether the first line has names: a nonnumeric cell above numbers, or above texts that differ from it."""
    names = table[0][1]
    below = [row for _, row in table[1:]]
    words = [index for index, name in enumerate(names) if name and not is_number(name) and not is_missing(name)]
    if words:
        texts = all(not is_number(row[index]) for index in words for row in below if index < len(row))
        numbers = [index for index, name in enumerate(names) if is_number(name)]
        # `a,1.5` above `b,1.7` is a row of a table without names, `n,1,2,4` a header with counts
        return not (texts and below and numbers and not _counts([names[index] for index in numbers]))
    rest = names[1:]
    return not names[0] and len(rest) > 1 and _counts(rest)


def _counts(texts: Sequence[str]) -> bool:
    """Whether *texts* are ascending whole numbers of 1 or more."""
    if not texts or not all(text.isascii() and text.isdigit() and len(text) < 10 for text in texts):
        return False
    numbers = [int(text) for text in texts]
    return numbers[0] >= 1 and all(one < two for one, two in pairwise(numbers))
