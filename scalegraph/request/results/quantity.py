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

    *view*: the view that shows it; if the quantity has no number, this view's empty state says what is missing and how
    to get it. *of_runs*: whether it needs runs; None: if its view does. *compares*: whether it compares runs rather
    than just reading numbers. *lacks*: returns a sentence on what the study's machines do not state for it; the command
    line then refuses it as bad input.
    """

    name: str
    description: str
    compute: Callable[[StudyData, int | None], pd.DataFrame]
    view: str = ""
    of_runs: bool | None = None
    compares: bool = True
    lacks: Callable[[StudyData], str] | None = None
