"""Cost of messages by communicator."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze.messages import tables as messages
from scalegraph.request.results.quantity import Quantity
from scalegraph.request.results.run_choice import tables_of_runs
from scalegraph.subjects.study import StudyData


def _communicators(data: StudyData, processors: int | None) -> pd.DataFrame:
    return tables_of_runs(data, processors, messages.by_communicator)


QUANTITY = Quantity(
    "message-communicators",
    "what messages cost by communicator, cycles by category; they add up to the categories of the run",
    _communicators,
    view="message-costs",
    compares=False,
)
