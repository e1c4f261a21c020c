"""The declaration of a quantity of a study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from scalegraph.subjects.study import StudyData


@dataclass(frozen=True)
class Quantity:
    """A named quantity. *compute* takes the study and a processor count (None: chosen from the data).

    *view* is the one that shows it: its empty state says what is missing where the quantity has no number, and how to
    get it. *of_runs*: whether a study without runs has nothing of it; None: as the needs of its view say. *compares*:
    whether its numbers are made by comparing runs, not only read. *lacks*: returns in a sentence what the study's
    machines do not state of it; the command line then refuses it as bad input.
    """

    name: str
    description: str
    compute: Callable[[StudyData, int | None], pd.DataFrame]
    view: str = ""
    of_runs: bool | None = None
    compares: bool = True
    lacks: Callable[[StudyData], str] | None = None
