"""The numbers of a figure as LaTeX that needs no package."""

from __future__ import annotations

from scalegraph.base.text import one_line, visible
from scalegraph.figures.figure import Figure, Grid
from scalegraph.figures.render import numbers


def latex(figure: Figure) -> str:
    """Return the figure as LaTeX that needs no package, a ``tabular`` for each of its `parts`.

    Reasons of empty cells are below it.

    Raises:
        InputError: the figure is empty.

    """
    comment = "".join(f"% {one_line(line)}\n" for line in (figure.title, figure.sentence) if line)
    return comment + "\\par\\medskip\n".join(map(_latex_table, numbers.parts(figure)))


def _latex_table(figure: Figure) -> str:
    panel = numbers.main_panel(figure)
    if isinstance(panel, Grid):
        return _grid_latex(panel)
    header, rows = numbers.for_page(figure)
    numeric = [all(numbers.missing(row[i]) or not isinstance(row[i], str) for row in rows) for i in range(len(header))]
    header, texts = numbers.written(figure, header, rows)
    lines = [" & ".join(_escape(name) for name in header)]
    lines += [" & ".join("--" if cell in ("", "–") else _escape(cell) for cell in row) for row in texts]
    return _tabular("".join("r" if right else "l" for right in numeric), lines)


def _grid_latex(grid: Grid) -> str:
    numbered = numbers.reasons(grid)
    lines = [" & ".join([f"{_escape(grid.row_label)} / {_escape(grid.column_label)}", *map(_escape, grid.columns)])]
    for name, row in zip(grid.rows, grid.cells, strict=True):
        cells = [_escape(name)]
        for cell in row:
            if cell is None:
                cells.append("")
                continue
            text = "/".join(map(_escape, numbers.cell_texts(cell.values)))
            marks = ",".join(str(numbered[reason]) for reason in numbers.cell_reasons(cell))
            cells.append(text + (f"$^{{{marks}}}$" if marks else ""))
        lines.append(" & ".join(cells))
    table = _tabular("r" + "c" * len(grid.columns), lines)
    what = " / ".join(grid.value_names)
    notes = [f"Values: {what}."] + [f"$^{{{number}}}$ {_escape(reason)}." for reason, number in numbered.items()]
    below = "\\\\\n".join(note if note.startswith("$") else _escape(note) for note in notes)
    return f"{table}\n\\par\\smallskip\n{{\\footnotesize\n{below}\\par}}\n"


def _tabular(columns: str, lines: list[str]) -> str:
    body = "\\\\\n".join(lines[1:])
    return f"\\begin{{tabular}}{{{columns}}}\n\\hline\n{lines[0]}\\\\\n\\hline\n{body}\\\\\n\\hline\n\\end{{tabular}}\n"


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


def _escape(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in visible(text.replace("\n", " ")))
