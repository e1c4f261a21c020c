"""What a quantity of a study is."""

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

    *view* is the one whose empty state says what is missing where the quantity has no number, and how to get it.
    """

    name: str
    description: str
    compute: Callable[[StudyData, int | None], pd.DataFrame]
    view: str = ""
