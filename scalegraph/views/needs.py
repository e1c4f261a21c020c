"""What a view lacks that more runs bring: processor counts, or sizes with something held; each with its button."""

from __future__ import annotations

from typing import Final

from scalegraph.figures.way import Need
from scalegraph.views import ways

_MEASURE: Final = "These runs are measurements: measure what is missing, and import all of it together."
_SIZES: Final = "These runs are measurements: measure several sizes on each count, and import all of it together."


def counts(text: str) -> Need:
    """Return the need of *text* that runs on more processor counts meet."""
    return Need(text, ways.ADD_COUNTS, record=_MEASURE)


def sizes(text: str, *held: str) -> Need:
    """Return the need of *text* that runs of further sizes meet, at which *held* (kinds of bounds) stay constant."""
    return Need(text, ways.add_sizes(*held), record=_SIZES)


def simulated(text: str) -> Need:
    """Return the need of *text* that runs of the request of the study meet: they are simulated."""
    return Need(text, ways.START)
