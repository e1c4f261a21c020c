"""Figures as files: pictures by matplotlib (imported only to draw one), and their numbers as text and columns."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.errors import InputError, near
from scalegraph.base.files import write_atomic
from scalegraph.figures.figure import Figure
from scalegraph.figures.flames import Flame
from scalegraph.figures.palette import Theme
from scalegraph.figures.render import folded, latex, numbers

PICTURES = ("png", "svg", "pdf")
DATA = ("csv", "tex", "md", "json", "parquet")
FORMATS = (*PICTURES, *DATA)  # of every figure
STACKS = ("folded",)  # of flame graphs only
ENDINGS = (*FORMATS, *STACKS)


def formats(figure: Figure) -> tuple[str, ...]:
    """Return the file extensions that *figure* can be written with."""
    stacks = any(isinstance(panel, Flame) for panel in figure.panels)
    return ENDINGS if stacks else FORMATS


def save(
    figure: Figure,
    path: str | Path,
    *,
    size_cm: tuple[float, float] | None = None,
    theme: Theme = "print",
    dpi: int = 200,
    caption: bool = True,
    for_spreadsheets: bool = False,
) -> None:
    """Write *figure* to *path* in the format of its extension, atomically.

    *size_cm* is (width, height) of a picture, by default 16 cm wide and as high as its content needs; *dpi* is for PNG.
    *caption* adds title, sentence and notes to the picture; without it only the panels are drawn. *for_spreadsheets*:
    for CSV, see `numbers.csv`. The same figure always gives the same bytes (with the same version of matplotlib).

    Raises:
        InputError: an unknown extension, a size too small for a picture, numbers of an empty figure in a format other
            than JSON, or folded stacks of something other than a flame graph.
        WorkError: the file cannot be written.

    """
    path = Path(path)
    ending = path.suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        known = ", ".join(f".{name}" for name in ENDINGS)
        raise InputError(f"{path}: cannot write '{path.suffix}' files{near(ending, ENDINGS)}; known endings: {known}")
    made = content(
        figure, ending, size_cm=size_cm, theme=theme, dpi=dpi, caption=caption, for_spreadsheets=for_spreadsheets
    )
    write_atomic(path, made)


def content(
    figure: Figure,
    ending: str,
    *,
    size_cm: tuple[float, float] | None = None,
    theme: Theme = "print",
    dpi: int = 200,
    caption: bool = True,
    for_spreadsheets: bool = False,
) -> bytes:
    """Return the bytes that `save` would write for a file with *ending* (one of `ENDINGS`).

    Raises:
        InputError: as `save`.

    """
    if ending == "parquet":
        return numbers.parquet(figure)
    if ending in STACKS:
        return folded.folded(figure).encode("utf-8", "backslashreplace")
    if ending == "csv":
        return numbers.csv(figure, for_spreadsheets=for_spreadsheets).encode("utf-8", "backslashreplace")
    if ending in DATA:
        texts = {"tex": latex.latex, "md": numbers.markdown, "json": numbers.as_json}
        return texts[ending](figure).encode("utf-8", "backslashreplace")
    from scalegraph.figures.render import picture

    return picture.render(figure, ending, size_cm, theme, dpi, caption=caption)
