"""The numbers of a figure as LaTeX without packages, in tables that fit on a page."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from scalegraph.base.text import one_line, visible
from scalegraph.figures.figure import Cell, Figure, Grid
from scalegraph.figures.render import numbers

_WIDE = 88  # characters across a page, the gap between columns counting as two
_LONG = 44  # characters per line of text
_HIGH = 44  # rows per page
_BETWEEN = "\\par\\medskip\n"


def latex(figure: Figure) -> str:
    """Return the figure as LaTeX without packages, one ``tabular`` for each of its `parts`.

    A table too wide or too long for a page is continued in another, repeating the header and the first column. The
    reasons for empty cells are below it.

    Raises:
        InputError: the figure is empty.

    """
    comment = "".join(f"% {one_line(line)}\n" for line in (figure.title, figure.sentence) if line)
    said = (_escape(figure.estimated) + "\n",) if figure.estimated else ()
    return comment + _BETWEEN.join((*map(_latex_table, numbers.parts(figure)), *said))


def _latex_table(figure: Figure) -> str:
    panel = numbers.main_panel(figure)
    if isinstance(panel, Grid):
        return _grid_latex(panel)
    header, rows = numbers.for_page(figure)
    numeric = [all(numbers.missing(row[i]) or not isinstance(row[i], str) for row in rows) for i in range(len(header))]
    header, texts = numbers.written(figure, header, rows)
    made: list[str] = []
    widths = [max(len(name), *(len(row[i]) for row in texts), 0) for i, name in enumerate(header)]
    for columns in _across([min(width, _LONG) for width in widths]):
        letters = "".join("r" if numeric[i] else "l" for i in columns)
        head = " & ".join(_text(header[i]) for i in columns)
        for part in _down(texts):
            rows_ = [" & ".join(_text(row[i]) for i in columns) for row in part]
            made.append(_tabular(letters, [head, *rows_], further=bool(made)))
    return _BETWEEN.join(made)


def _text(cell: str) -> str:
    """Return a cell: a dash if unknown; long texts are wrapped."""
    if cell in ("", "–"):
        return "--"
    return _escape(cell) if len(cell) <= _LONG else f"\\parbox[t]{{{_LONG // 2}em}}{{\\raggedright {_escape(cell)}}}"


def _down(rows: Sequence[Sequence[str]]) -> list[list[Sequence[str]]]:
    """Return the rows of each table that fits down a page; long texts take several lines."""
    made: list[list[Sequence[str]]] = [[]]
    room = _HIGH
    for row in rows:
        lines = max((-(-len(cell) // _LONG) for cell in row), default=1)
        if lines > room and made[-1]:
            made.append([])
            room = _HIGH
        made[-1].append(row)
        room -= lines
    return made


def _across(letters: Sequence[int]) -> list[list[int]]:
    """Return the columns of each table that fits across a page; all start with the first column."""
    made: list[list[int]] = []
    room = 0
    for index, width in enumerate(letters):
        if not made or (width + 2 > room and len(made[-1]) > 1):
            first = [0] if made else []
            made.append(first)
            room = _WIDE - sum(letters[i] + 2 for i in first)
        made[-1].append(index)
        room -= width + 2
    return made


def _grid_latex(grid: Grid) -> str:
    numbered = numbers.reasons(grid)
    corner = f"{grid.row_label} / {grid.column_label}"
    texts = [[name, *(_cell_words(cell) for cell in row)] for name, row in zip(grid.rows, grid.cells, strict=True)]
    widths = [max(len(name), *(len(row[i]) for row in texts)) for i, name in enumerate((corner, *grid.columns))]
    tables: list[str] = []
    for columns in _across(widths):
        lines = [" & ".join(_escape((corner, *grid.columns)[i]) for i in columns)]
        for name, row in zip(grid.rows, grid.cells, strict=True):
            lines.append(" & ".join(_escape(name) if i == 0 else _cell(row[i - 1], numbered) for i in columns))
        tables.append(_tabular("r" + "c" * (len(columns) - 1), lines, further=bool(tables)))
    table = _BETWEEN.join(tables)
    what = " / ".join(grid.value_names)
    notes = [f"Values: {what}."] + [f"$^{{{number}}}$ {_escape(reason)}." for reason, number in numbered.items()]
    below = "\\\\\n".join(note if note.startswith("$") else _escape(note) for note in notes)
    return f"{table}\n\\par\\smallskip\n{{\\footnotesize\n{below}\\par}}\n"


def _cell_words(cell: Cell | None) -> str:
    return "" if cell is None else "/".join(numbers.cell_texts(cell.values))


def _cell(cell: Cell | None, numbered: Mapping[str, int]) -> str:
    if cell is None:
        return ""
    marks = ",".join(str(numbered[reason]) for reason in numbers.cell_reasons(cell))
    return _escape(_cell_words(cell)) + (f"$^{{{marks}}}$" if marks else "")


def _tabular(columns: str, lines: list[str], *, further: bool = False) -> str:
    """Return a tabular; continuations use its bare commands, so that the environment occurs once per table."""
    body = "\\\\\n".join(lines[1:])
    begin, end = ("{\\tabular", "\\endtabular}") if further else ("\\begin{tabular}", "\\end{tabular}")
    return f"{begin}{{{columns}}}\n\\hline\n{lines[0]}\\\\\n\\hline\n{body}\\\\\n\\hline\n{end}\n"


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "\u202f": r"\,",
    "\u00a0": "~",
    "\u2009": r"\,",
    "–": "--",
    "—": "---",
    "−": "$-$",
    "…": r"\ldots{}",
    "·": r"$\cdot$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "√": r"$\surd$",
    "²": r"$^2$",
    "³": r"$^3$",
    "ψ": r"$\psi$",
    "σ": r"$\sigma$",
    "φ": r"$\varphi$",
    "μ": r"$\mu$",
    "Δ": r"$\Delta$",
    "Σ": r"$\Sigma$",
    "µ": r"$\mu$",
    "×": r"$\times$",
    "∞": r"$\infty$",
}


# available in the fonts of pdflatex
_KNOWN = frozenset(
    "¡£§©®ª°º¶·¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿĀāĂăĆćĈĉĊċČčĎďĒēĔĕĖėĚěĜĝĞğĠġĢģĤĥĨĩĪīĬĭİıĲĳĴĵĶķ"
    "ĹĺĻļĽľŁłŃńŅņŇňŌōŎŏŐőŒœŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŨũŪūŬŭŮůŰűŴŵŶŷŸŹźŻżŽž‐‑‘’“”†‡•"
)
_GREEK = {  # Greek letters without a command, as they look like Latin ones
    "omicron": "o",
    "ALPHA": "A",
    "BETA": "B",
    "EPSILON": "E",
    "ZETA": "Z",
    "ETA": "H",
    "IOTA": "I",
    "KAPPA": "K",
    "MU": "M",
    "NU": "N",
    "OMICRON": "O",
    "RHO": "P",
    "TAU": "T",
    "CHI": "X",
}


def _escape(text: str) -> str:
    return "".join(_letter(character) for character in visible(text.replace("\n", " ")))


def _letter(character: str) -> str:
    """Return a character as pdflatex can set it; others by their number, for other engines."""
    if character in _LATEX:
        return _LATEX[character]
    if character.isascii() or character in _KNOWN:
        return character
    kind, _, name = unicodedata.name(character, "").partition(" LETTER ")
    name = {"FINAL SIGMA": "VARSIGMA", "LAMDA": "LAMBDA"}.get(name, name)
    if kind in ("GREEK SMALL", "GREEK CAPITAL") and name.isalpha():
        named = name.lower() if kind == "GREEK SMALL" else name
        if named in _GREEK:
            return f"${_GREEK[named]}$"
        return f"$\\{named if kind == 'GREEK SMALL' else named.capitalize()}$"
    # a skipped branch is not parsed; only Unicode engines define this command
    return f"\\ifdefined\\Umathcode {character}\\else U+{ord(character):04X}\\fi{{}}"
