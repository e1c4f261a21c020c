"""Grids: the scalability matrix as numbers on a heat map, with numbered reasons for missing values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, to_hex
from matplotlib.patches import Rectangle

from scalegraph.base.units import thousands
from scalegraph.figures.figure import Cell, Grid, Origin
from scalegraph.figures.palette import colour, legible_on
from scalegraph.figures.render.numbers import cell_reasons, cell_texts, reasons
from scalegraph.figures.render.text import measure

if TYPE_CHECKING:
    from scalegraph.figures.render.picture import Brush

_MAP = "viridis"
_LARGEST, _SMALLEST = 8.5, 4.0  # points; anything smaller would be illegible


def draw(brush: Brush, axes: Axes, grid: Grid) -> None:
    """Draw *grid* on *axes*: rows down, columns across, coloured by one of the values."""
    rows, columns = len(grid.rows), len(grid.columns)
    axes.set_xlim(0, max(1, columns))
    axes.set_ylim(max(1, rows), 0)
    axes.set_xticks(np.arange(columns) + 0.5, grid.columns)
    axes.set_yticks(np.arange(rows) + 0.5, grid.rows)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(grid.column_label, color=brush.ink)
    axes.set_ylabel(grid.row_label, color=brush.ink, rotation=0, ha="right", va="center")
    axes.tick_params(length=0, colors=brush.ink)
    for spine in axes.spines.values():
        spine.set_visible(False)
    norm = Normalize(*grid.limits, clip=True)
    shades = mpl.colormaps[_MAP]
    marked = bool(origins(grid))
    for r, row in enumerate(grid.cells):
        for c, cell in enumerate(row):
            if cell is not None:
                _square(brush, axes, grid, cell, (c, r), norm(_value(cell, grid.colour_by) or 0.0), shades)
                value = _value(cell, grid.colour_by)
                if marked and value is not None:
                    _origin(axes, cell, (c, r), _legible(shades(norm(value))))
    bar = axes.figure.colorbar(mpl.cm.ScalarMappable(norm, shades), ax=axes, pad=0.02, fraction=0.05, aspect=30)
    name = grid.value_names[grid.colour_by] if grid.value_names else ""
    bar.set_label(f"scale, {name}" if name else "", color=brush.ink)
    bar.ax.tick_params(colors=brush.ink, length=2)
    bar.outline.set_visible(False)
    brush.later.append(lambda: _numbers(brush, axes, grid, norm))


_SIGNS: dict[Origin, str] = {
    "simulated": "○ simulated",
    "measured": "● measured",
    "imported": "● imported",
    "computed": "unmarked: computed from these",
    "predicted": "dashed frame: predicted",
}


def origins(grid: Grid) -> list[str]:
    """Return the signs for the origin of cells, if origins differ (ignoring the diagonal)."""
    found = {
        cell.origin
        for r, row in enumerate(grid.cells)
        for c, cell in enumerate(row)
        if cell is not None and grid.rows[r] != grid.columns[c] and any(value is not None for value in cell.values)
    }
    return [sign for origin, sign in _SIGNS.items() if origin in found] if len(found) > 1 else []


def _origin(axes: Axes, cell: Cell, at: tuple[int, int], shade: str) -> None:
    """Mark a cell's origin by a frame or a ring in its corner."""
    if cell.origin == "predicted":
        axes.add_patch(
            Rectangle(
                (at[0] + 0.05, at[1] + 0.07),
                0.9,
                0.86,
                fill=False,
                edgecolor=shade,
                linewidth=0.7,
                linestyle=(0, (3, 2)),
            )
        )
    elif cell.origin != "computed":
        filled = cell.origin in ("measured", "imported")
        axes.plot(
            at[0] + 0.92,
            at[1] + 0.13,
            marker="o",
            markersize=2.6,
            markeredgecolor=shade,
            markeredgewidth=0.6,
            markerfacecolor=shade if filled else "none",
        )


def _value(cell: Cell, index: int) -> float | None:
    return cell.values[index] if index < len(cell.values) else None


def _square(
    brush: Brush, axes: Axes, grid: Grid, cell: Cell, at: tuple[int, int], share: float, shades: mpl.colors.Colormap
) -> None:
    known = _value(cell, grid.colour_by) is not None
    axes.add_patch(
        Rectangle(
            at,
            1,
            1,
            facecolor=shades(share) if known else brush.paper,
            edgecolor=brush.paper if known else colour("grid", brush.theme),
            hatch=None if known else "////",
            linewidth=0.8,
        )
    )


def _numbers(brush: Brush, axes: Axes, grid: Grid, norm: Normalize) -> None:
    """Write the values into the cells, in the largest size that fits everywhere."""
    extent = axes.get_window_extent()
    pixel = 72 / brush.sheet.dpi
    room = extent.width * pixel / max(1, len(grid.columns)) - 4
    high = extent.height * pixel / max(1, len(grid.rows)) - 2
    _thin(axes, grid, room + 4, high + 2)
    numbered = reasons(grid)
    texts = {
        (r, c): (cell, _texts(grid, cell, r, c), "˒".join(_superscript(numbered[one]) for one in cell_reasons(cell)))
        for r, row in enumerate(grid.cells)
        for c, cell in enumerate(row)
        if cell is not None
    }
    if not texts:
        return
    forms = _forms(grid, texts)
    sizes = [_size(list(form.values()), room, high) for form in forms]
    large = sizes[0] >= min(sizes[1], 6.0)  # side by side if legible, otherwise stacked
    kept = 0 if large else max(range(2), key=lambda at: sizes[at])
    # if not all fit: only the value shown by the colour, then with fewer digits, then none
    best = next((at for at in (kept, 2, 3) if sizes[at] >= _SMALLEST), None)
    if best is None:
        return
    form, size = forms[best], sizes[best]
    for (r, c), (cell, _, _) in texts.items():
        value = _value(cell, grid.colour_by)
        text = axes.text(
            c + 0.5,
            r + 0.5,
            form[(r, c)],
            size=size,
            ha="center",
            va="center",
            linespacing=1.05,
            color=_legible(mpl.colormaps[_MAP](norm(value))) if value is not None else brush.ink,
        )
        if value is None:
            text.set_bbox({"facecolor": brush.paper, "edgecolor": "none", "pad": 0.8})


def _thin(axes: Axes, grid: Grid, room: float, high: float) -> None:
    """Drop row and column labels that would overlap: keep every second, third, ..."""
    points = float(axes.xaxis.get_ticklabels()[0].get_fontsize()) if grid.columns else 8.0
    wide = max((measure(str(name), points) for name in grid.columns), default=0.0) + points / 2
    for axis, names, step in (
        (axes.xaxis, grid.columns, math.ceil(wide / max(room, 1e-9))),
        (axes.yaxis, grid.rows, math.ceil(points / max(high, 1e-9))),
    ):
        if step > 1:
            axis.set_ticks(np.arange(0, len(names), step) + 0.5, names[::step])


def _forms(
    grid: Grid, texts: dict[tuple[int, int], tuple[Cell, list[str], str]]
) -> tuple[dict[tuple[int, int], str], ...]:
    """Return the variants of cell texts: values side by side, stacked, only that of the colour, and with one digit."""
    one = {
        place: values[min(grid.colour_by, len(values) - 1)] if values else "" for place, (_, values, _) in texts.items()
    }
    return (
        {place: "/".join(values) + note for place, (_, values, note) in texts.items()},
        {place: "\n".join(values) + note for place, (_, values, note) in texts.items()},
        one,
        {place: _short(text) for place, text in one.items()},
    )


def _short(text: str) -> str:
    """Return a number with one digit: `.7` for `0.66`."""
    try:
        value = float(text)
    except ValueError:
        return text
    return thousands(value, 1).removeprefix("0") if 0 <= value < 10 else thousands(value)


def _texts(grid: Grid, cell: Cell, r: int, c: int) -> list[str]:
    texts = cell_texts(cell.values)
    on_diagonal = grid.rows[r] == grid.columns[c]
    return ["1"] if on_diagonal and all(value == 1 for value in cell.values) else texts


def _size(texts: list[str], room: float, high: float) -> float:
    """Return the largest font size in points at which all *texts* fit, at most `_LARGEST`."""
    wide = max(measure(line, 1.0) for text in texts for line in text.split("\n"))
    lines = max(text.count("\n") + 1 for text in texts)
    return min(_LARGEST, room / max(wide, 1e-9), high / (1.2 * lines))


def _legible(shade: tuple[float, float, float, float]) -> str:
    return legible_on(to_hex(shade))


def _superscript(number: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(number))


def footnotes(grid: Grid) -> list[str]:
    """Return the numbered reasons, one per line."""
    signs = origins(grid)
    numbered = [f"{_superscript(number)} {reason}." for reason, number in reasons(grid).items()]
    return [*([", ".join(signs) + "."] if signs else []), *numbered]
