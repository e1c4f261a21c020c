"""Rows below comments that say what they are of: ``# N=1000`` above some, ``# N=2000`` above the next."""

from __future__ import annotations

import re
from collections.abc import Sequence

_COMMENTS = ("#", "%", "//")
_PAIR = re.compile(r"(?P<key>[A-Za-z][\w .\-]{0,39}?)\s*[=:]\s*(?P<value>[\w.+\-]+)\s*(?:[,;]|\s|$)\s*")
_LABEL = re.compile(r"[A-Za-z][\w.+\-]{0,39}")
_MOST = 10_000  # lines


def as_table(lines: Sequence[str], delimiters: str = ";\t,|") -> list[str] | None:
    """Return *lines* with a column for each key in the comments above the rows; None if there are no such comments.

    They are comments of nothing but ``key = value``, with the same keys above every block of rows, whose values differ.
    Other comments stay, as do the numbers of the lines.
    """
    if len(lines) > _MOST:
        return None
    rows = [number for number, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(_COMMENTS)]
    comments = [
        (number, line.strip(" #%/\t")) for number, line in enumerate(lines) if line.lstrip().startswith(_COMMENTS)
    ]
    said = [(number, pairs) for number, text in comments if (pairs := _pairs(text))]
    if not said and rows:
        said = _labels(lines, rows, comments)
    blocks = [(number, pairs) for number, pairs in said if any(_below(number, row, said) for row in rows)]
    if len(blocks) < 2 or not rows or rows[-1] < blocks[-1][0]:
        return None
    keys = list(blocks[0][1])
    if any(list(pairs) != keys for _, pairs in blocks) or len({tuple(pairs.values()) for _, pairs in blocks}) < 2:
        return None
    header = _header(lines, rows, blocks[0][0])
    if header is None or (rows[0] < blocks[0][0] and rows[0] != header):
        return None
    between = next((sign for sign in delimiters if all(sign in lines[row] for row in rows)), " ")
    made = ["" if line.lstrip().startswith(_COMMENTS) else line for line in lines]
    made[header] = between.join([lines[header].strip().lstrip("#%/ \t"), *(key.replace(" ", "_") for key in keys)])
    for row in rows:
        if row != header:
            mine = [pairs for number, pairs in blocks if number < row][-1]
            made[row] = between.join([lines[row].strip(), *mine.values()])
    return made


def _labels(
    lines: Sequence[str], rows: Sequence[int], comments: Sequence[tuple[int, str]]
) -> list[tuple[int, dict[str, str]]]:
    """Return one-word comments (``# gcc``) above blocks of rows that begin alike, as the label of each."""
    if not _is_words(lines[rows[0]]) or len(comments) < 2 or comments[0][0] < rows[0] or comments[0][0] > rows[1]:
        return []
    starts: list[set[str]] = []
    for at, (number, text) in enumerate(comments):
        end = comments[at + 1][0] if at + 1 < len(comments) else len(lines)
        mine = {re.split(r"[;,|\t]|\s+", lines[row].strip())[0] for row in rows if number < row < end}
        if not _LABEL.fullmatch(text) or not mine:
            return []
        starts.append(mine)
    alike = all(len(one & starts[0]) > 1 for one in starts)
    return [(number, {"label": text}) for number, text in comments] if alike else []


def _below(number: int, row: int, said: Sequence[tuple[int, dict[str, str]]]) -> bool:
    """Whether *row* is below the comment in line *number*, and no other stands between them."""
    return number < row and not any(number < other < row for other, _ in said)


def _header(lines: Sequence[str], rows: Sequence[int], first: int) -> int | None:
    """Return the line of the names: one of words among the rows, or the comment above the first numbers; else None."""
    if _is_words(lines[rows[0]]):
        return rows[0]
    above = [number for number in range(rows[0]) if lines[number].lstrip().startswith(_COMMENTS) and number != first]
    cells = len(re.split(r"[;,|\t]|\s+", lines[rows[0]].strip()))
    fitting = [
        number
        for number in above
        if len(re.split(r"[;,|\t]|\s+", lines[number].strip().lstrip("#%/ \t"))) == cells and _is_words(lines[number])
    ]
    return fitting[-1] if fitting else None


def _is_words(line: str) -> bool:
    return all(
        re.match(r"[A-Za-z(\[]", cell) for cell in re.split(r"[;,|\t]|\s+", line.strip().lstrip("#%/ \t")) if cell
    )


def _pairs(text: str) -> dict[str, str]:
    """Return the pairs that a comment consists of, empty if it holds anything else."""
    made: dict[str, str] = {}
    at = 0
    while at < len(text):
        found = _PAIR.match(text, at)
        if found is None:
            return {}
        made[found["key"].strip()] = found["value"]
        at = found.end()
    return made
