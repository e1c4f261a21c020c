"""The decimal sign and the grouping of digits in a table's numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from scalegraph.measurements.mapping import Question
from scalegraph.measurements.table.layout import COMMA_NUMBER, GROUPED, GROUPED_POINT, NUMBER, is_missing

_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")  # a whole number with points between thousands


def numbers(
    columns: Sequence[Sequence[str]], said: str, whole: Sequence[bool], delimiter: str
) -> tuple[str, str, list[Question]]:
    """Return the decimal sign, the digit grouping character, and uncertainties about them.

    *columns*: the cells of each column of numbers; *said*: the decimal sign that the user gave; *whole*: which columns
    hold whole numbers by their names, as sizes; *delimiter*: of the cells, so that a comma in them is quoted.
    """
    cells = [cell for column in columns for cell in column]
    if said:
        return said, _grouping(cells, said, said=True), []
    if _german(columns):
        return ",", ".", []
    comma = _decimal_comma(cells)
    if comma == "unsure":
        example = next(cell for cell in cells if COMMA_NUMBER.fullmatch(cell))
        column = next(each for each in columns if example in each)
        likely = "." if delimiter == "," or whole[columns.index(column)] else ","
        return ".", "", [_question(f"'{example}' may have a decimal comma or a group of thousands", column, likely)]
    doubtful = next((each for each in columns if _point_groups(each)), None)
    if not comma and doubtful:
        example = next(cell for cell in doubtful if "." in cell)
        message = f"'{example}', beside whole numbers, may have a decimal point or a group of thousands"
        return ".", "", [_question(message, doubtful, ".")]
    counts = next((each for each, of_whole in zip(columns, whole, strict=True) if of_whole and _all_groups(each)), None)
    if not comma and counts:
        message = f"'{counts[0]}', a whole number by its name, may have a decimal point or a group of thousands"
        return ".", "", [_question(message, counts, ",")]
    decimal = "," if comma == "comma" else "."
    return decimal, _grouping(cells, decimal), []


def _all_groups(cells: Sequence[str]) -> bool:
    """Whether all numbers of a column are like ``1.000``."""
    there = [cell for cell in cells if not is_missing(cell)]
    return bool(there) and all(map(_GROUPS.fullmatch, there))


def _question(message: str, cells: Sequence[str], likely: str) -> Question:
    """Return the question; the guess is the sign with which the numbers of a column change least, else *likely*."""
    other = "," if likely == "." else "."
    steps = {sign: _steps(cells, sign) for sign in ".,"}
    one, two = (other, likely) if steps[other] < steps[likely] else (likely, other)
    clear = steps[one] != steps[two]
    because = "is likelier, as the numbers then change least from row to row" if clear else ""
    return Question("decimal", message, f"--decimal {one} or --decimal {two}", (one, two), because)


def _steps(cells: Sequence[str], decimal: str) -> float:
    """Return the sum of changes from row to row (absolute logarithms) of numbers read with the sign *decimal*."""
    thousands = "," if decimal == "." else "."
    found = []
    for cell in cells:
        text = cell.replace(thousands, "").replace(decimal, ".")
        if NUMBER.fullmatch(text) and (number := abs(_float(text))) > 0:
            found.append(math.log(number))
    return round(sum(abs(two - one) for one, two in pairwise(found)), 6)


def _german(columns: Sequence[Sequence[str]]) -> bool:
    """Whether points can only group thousands: ``1.234`` beside ``640,5``, or ``1.234.567``."""
    cells = [cell for column in columns for cell in column if not is_missing(cell)]
    pointed = [cell for cell in cells if "." in cell and "," not in cell]
    if not pointed or not all(map(_GROUPS.fullmatch, pointed)):
        return False
    return any(cell.count(".") > 1 for cell in pointed) or any(
        COMMA_NUMBER.fullmatch(cell) and not GROUPED.fullmatch(cell) for cell in cells
    )


def _decimal_comma(found: Sequence[str]) -> str:
    """Return ``comma`` if numbers have decimal commas, ``unsure`` if these may separate thousands, else empty."""
    if any("," in cell and GROUPED_POINT.fullmatch(cell) for cell in found):  # 8.100,5
        return "comma"
    with_comma = [cell for cell in found if COMMA_NUMBER.fullmatch(cell)]
    if with_comma and any(cell.count(",") > 1 and GROUPED.fullmatch(cell) for cell in found):
        return "thousands" if all(GROUPED.fullmatch(cell) for cell in with_comma) else "comma"
    if not with_comma or any("." in cell and NUMBER.fullmatch(cell) for cell in found):
        return "thousands" if with_comma and all(GROUPED.fullmatch(cell) for cell in with_comma) else ""
    if all(GROUPED.fullmatch(cell) for cell in with_comma):
        return "unsure"
    return "comma"


def _point_groups(found: Sequence[str]) -> bool:
    """Whether points may separate thousands: some of *found* are like ``2.300`` and the others, like ``950``, whole."""
    pointed = [cell for cell in found if "." in cell]
    whole = [cell for cell in found if "." not in cell and not is_missing(cell)]
    return (
        bool(pointed and whole)
        and all(re.fullmatch(r"[+-]?[1-9]\d{0,2}\.\d{3}", cell) for cell in pointed)
        and all(re.fullmatch(r"[+-]?\d{1,3}", cell) for cell in whole)
    )


def _grouping(cells: Sequence[str], decimal: str, *, said: bool = False) -> str:
    """Return the digit grouping character of *cells*; if the decimal comma was *said*, `1.500` is above a thousand."""
    pattern = GROUPED_POINT if decimal == "," else GROUPED
    for cell in cells:
        if said and decimal == "," and pattern.fullmatch(cell):
            return "."
        if pattern.fullmatch(cell) and not NUMBER.fullmatch(cell.replace(",", ".") if decimal == "," else cell):
            return next(
                character for character in cell.lstrip("+-") if not character.isdigit() and character != decimal
            )
    return ""


def _float(cell: str) -> float:
    """Return a number, with D in its exponent as Fortran writes it."""
    return float(cell.replace("D", "E").replace("d", "e"))
