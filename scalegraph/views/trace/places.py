"""A place in a trace as the key of a table row: time, location, region. A click on the row goes there.

Rows of waits, critical-path segments, messages .. have such a key (`Row.key`). The window then selects interval,
location and region, and the timeline shows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_MARK: Final = "at"


@dataclass(frozen=True)
class Place:
    """A place in a trace: first and last tick, and the numbers of location and region, -1 if none."""

    begin: int
    end: int
    location: int = -1
    region: int = -1

    @property
    def key(self) -> str:
        """The key of a table row for this place."""
        return f"{_MARK}:{self.begin}:{self.end}:{self.location}:{self.region}"


def place_of(key: str) -> Place | None:
    """Return the place named by a row's *key*, ``None`` if it names something else.

    More fields may follow (``at:0:20:3:1:7``), so that two rows of the same place have different keys.
    """
    mark, *numbers = key.split(":")
    if mark != _MARK or len(numbers) < 4:
        return None
    try:
        begin, end, location, region = map(int, numbers[:4])
    except ValueError:
        return None
    return Place(begin, end, location, region)
