"""A view for notebooks and scripts."""

from __future__ import annotations

import os
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from scalegraph.figures import render
from scalegraph.figures.figure import Figure
from scalegraph.figures.palette import Theme
from scalegraph.figures.render import numbers

PathLike: TypeAlias = str | os.PathLike[str]
_DPI = 110  # of pictures in a notebook


class Picture:
    """A view of a study: displayed by a notebook, or saved as a picture or its numbers.

    Example:
        >>> picture = data.view("speedup")
        >>> picture.save("speedup.pdf", size_cm=(12, 8))

    """

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    @property
    def sentence(self) -> str:
        """The message of the picture; if it is empty, what is missing and how to get it."""
        return self.figure.sentence or self.figure.told

    def frame(self) -> pd.DataFrame:
        """Return the numbers behind the picture, with units in the column names; missing values are NaN or None.

        Raises `InputError` if the picture is empty.

        Example:
            >>> table = data.view("speedup").frame()

        """
        return numbers.frame(self.figure)

    def save(
        self,
        path: PathLike,
        size_cm: tuple[float, float] | None = None,
        theme: Theme = "print",
        *,
        for_spreadsheets: bool = False,
    ) -> None:
        """Write the picture to *path*: .png .svg .pdf, or its numbers: .csv .tex .md .json .parquet (.folded).

        *size_cm* is (width, height). *for_spreadsheets*: in CSV, text that a spreadsheet would take for a formula gets
        a leading apostrophe. Raises `InputError` for another extension, `WorkError` if it cannot be written.

        Example:
            >>> data.view("time").save("time.csv")

        """
        render.save(self.figure, Path(path), size_cm=size_cm, theme=theme, for_spreadsheets=for_spreadsheets)

    def __repr__(self) -> str:
        return f"<Picture '{self.figure.title}': {self.sentence}>"

    @cached_property
    def png(self) -> bytes | None:
        """The picture as PNG bytes; None if it is empty.

        Example:
            >>> content = data.view("speedup").png

        """
        return None if self.figure.empty else render.content(self.figure, "png", dpi=_DPI)

    def _repr_png_(self) -> bytes | None:
        return self.png

    def _repr_svg_(self) -> str | None:
        return None if self.figure.empty else render.content(self.figure, "svg").decode()

    def _repr_html_(self) -> str | None:
        """Return the notes if there is no picture; notebooks prefer HTML to pictures."""
        if not self.figure.empty:
            return None
        return f"<p><b>{escape(self.figure.title)}</b></p><p>{escape(self.figure.told)}</p>"
