"""A place in a trace as the key of a table row: when, where, in what; a click on the row goes there.

Rows of waits, of segments of the critical path, of messages .. carry such a key (`Row.key`). The window selects the
interval, the location and the region, and the timeline shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_MARK: Final = "at"


@dataclass(frozen=True)
class Place:
    """A stretch of a trace: ticks (both ends), number of the location and of the region, -1 where there is none."""

    begin: int
    end: int
    location: int = -1
    region: int = -1

    @property
    def key(self) -> str:
        """The key of a table row that stands for this place."""
        return f"{_MARK}:{self.begin}:{self.end}:{self.location}:{self.region}"


def place_of(key: str) -> Place | None:
    """Return the place that a row's *key* names, ``None`` if it names something else.

    Behind the four numbers more may follow (``at:0:20:3:1:7``), so that two rows of one place have keys of their own.
    """
    mark, *numbers = key.split(":")
    if mark != _MARK or len(numbers) < 4:
        return None
    try:
        begin, end, location, region = map(int, numbers[:4])
    except ValueError:
        return None
    return Place(begin, end, location, region)
