"""Studies of measurements for the tests of views: times of runs, and times by call path."""

from __future__ import annotations

import pandas as pd

from scalegraph.request.imports import sets as imports
from scalegraph.request.results.data import study_data
from scalegraph.subjects.study import StudyData

COUNTS = (1, 2, 4, 8, 16)


def table() -> pd.DataFrame:
    """Return a typical table of times: two sizes, three repetitions each."""
    rows = []
    for n in (1000, 2000):
        for count in COUNTS:
            for repetition in range(3):
                time = n / 1000 * (0.05 + 0.95 / count) + 0.002 * count + 0.001 * repetition
                rows.append({"ranks": count, "n": n, "seconds": time})
    return pd.DataFrame(rows)


def times() -> StudyData:
    """Return the study of `table`."""
    return _study(table(), {"ranks": "parameter", "n": "parameter", "seconds": "metric"})


def call_paths() -> StudyData:
    """Return a study of three sibling regions, by processors."""
    rows = [
        {"ranks": count, "region": region, "seconds": share * (1 / count if region == "solve" else 1.0)}
        for count in COUNTS
        for region, share in (("setup", 0.1), ("solve", 2.0), ("output", 0.05))
    ]
    return _study(pd.DataFrame(rows), {"ranks": "parameter", "region": "region", "seconds": "metric"}, total="*")


def _study(rows: pd.DataFrame, columns: dict[str, str], **more: str) -> StudyData:
    measured, _ = imports.set_of(rows, "times", columns, "")
    said = {"processors": "ranks", "unit": "s", "scaling": "strong", **more}
    guess = imports.answered(measured, said)
    return study_data(imports.study_of(guess.measured, guess.mapping))
