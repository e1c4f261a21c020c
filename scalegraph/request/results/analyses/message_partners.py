"""Cost of messages by rank and partner."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze.messages import tables as messages
from scalegraph.request.results.quantity import Quantity
from scalegraph.request.results.run_choice import tables_of_runs
from scalegraph.subjects.study import StudyData


def _partners(data: StudyData, processors: int | None) -> pd.DataFrame:
    return tables_of_runs(data, processors, messages.by_partner)


QUANTITY = Quantity(
    "message-partners",
    "what messages cost each rank by partner, cycles by category; they add up to the categories of the run",
    _partners,
    view="message-costs",
    compares=False,
)
