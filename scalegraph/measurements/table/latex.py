"""Tables of LaTeX as lines of CSV: the rows of the first ``tabular`` in a text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

_MOST_BEFORE = 10_000  # lines before the table
_BEGIN = re.compile(r"\\begin\s*\{(?P<name>(?:long)?tabular[xy*]?|longtable|tabu|array)\}")
_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot)\b|\\[ch]?line(?:\[[^]]*\])?|"
    r"\\c(?:line|midrule)\s*(?:\([^)]*\))?\s*\{[^}]*\}|\\(?:addlinespace|noalign|rowcolor)(?:\[[^]]*\])?(?:\{[^}]*\})?"
)
_END = re.compile(r"\\\\(?:\*)?(?:\s*\[[^]]*\])?|\\tabularnewline\b")
_MULTI = re.compile(r"\\multicolumn\s*\{\s*(\d+)\s*\}\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_MULTI_ROW = re.compile(r"\\multirow\s*\{[^}]*\}\s*\{[^}]*\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_QUANTITY = re.compile(r"\\(?:SI|qty)(?:\[[^]]*\])?\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_WRAPPED = re.compile(
    r"\\(?:textbf|textit|texttt|emph|mathbf|mathrm|text|num|bfseries|underline|textsc)\s*\{([^{}]*)\}"
)
_SPACE = re.compile(r"\\[,;:! ]|~|\\(?:quad|qquad|small|footnotesize|bfseries|itshape|centering)\b")
_UNITS = {r"\milli\second": "ms", r"\micro\second": "us", r"\nano\second": "ns", r"\second": "s", r"\minute": "min"}


def as_table(lines: Sequence[str]) -> list[str] | None:
    """Return *lines* with the rows of the first table as CSV, each in the line where it ends.

    None if there is no such table. Commands that only change the type are taken off their text; a cell over several
    columns is followed by empty ones.
    """
    begun = (number for number, line in enumerate(lines[:_MOST_BEFORE]) if r"\begin" in line)
    at = next((number for number in begun if _BEGIN.search(_plain(lines[number]))), None)
    if at is None:
        return None
    found = _BEGIN.search(_plain(lines[at]))
    closing = rf"\end{{{found['name']}}}" if found else ""
    made = [""] * len(lines)
    found_rows: list[tuple[int, str]] = []
    row = ""
    for number in range(at, len(lines)):
        text = _plain(lines[number])
        if number == at and found:
            text = _without_columns(text[found.end() :], found["name"])
        ended = closing in text
        row += " " + text.split(closing)[0]
        *whole, row = _END.split(row)
        if ended and row.strip():
            whole, row = [*whole, row], ""
        cells = [each for each in map(_cells, whole) if any(each)]
        found_rows += [(number, _line(each)) for each in cells]
        if ended:
            break
    if len(found_rows) < 2:
        return None
    if len({number for number, _ in found_rows}) < len(found_rows):  # several rows in one line of the text
        return [text for _, text in found_rows]
    for number, text in found_rows:
        made[number] = text
    return made


def _plain(line: str) -> str:
    """Return a line without its comment."""
    return re.sub(r"(?<!\\)%.*", "", line)


def _without_columns(text: str, name: str) -> str:
    r"""Return *text* without the arguments of ``\begin{tabular}``: places, widths and kinds of columns."""
    text = re.sub(r"^\s*\[[^]]*\]", "", text)
    for _ in range(2 if name[-1] in "xy*" else 1):
        depth = 0
        for place, character in enumerate(text):
            depth += (character == "{") - (character == "}")
            if not depth and character == "}":
                text = text[place + 1 :]
                break
            if not depth and not character.isspace():
                break
    return text


def _cells(row: str) -> list[str]:
    row = _RULE.sub(" ", row)
    row = _MULTI.sub(lambda found: found[2] + " &" * (int(found[1]) - 1) if int(found[1]) < 100 else found[2], row)
    return [_text(cell) for cell in re.split(r"(?<!\\)&", row)]


def _text(cell: str) -> str:
    cell = _MULTI_ROW.sub(r"\1", cell)
    cell = _QUANTITY.sub(lambda found: f"{found[1]} {_UNITS.get(found[2].strip(), found[2])}", cell)
    for long, short in _UNITS.items():
        cell = cell.replace(rf"\si{{{long}}}", short).replace(rf"\unit{{{long}}}", short)
    cell = re.sub(r"(?<=\d)(?:\\,|\{,\}|~)(?=\d{3})", "", cell)  # digits in groups
    for _ in range(3):
        cell = _WRAPPED.sub(r"\1", cell)
    cell = cell.replace(r"\times", "x").replace(r"\pm", "\u00b1").replace(r"\mu", "\u00b5").replace(r"\backslash", "\\")
    cell = _SPACE.sub(" ", cell).replace("$", "")
    cell = re.sub(r"\\([%&#_$])", r"\1", cell)
    return " ".join(cell.replace("{", "").replace("}", "").split())


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()
