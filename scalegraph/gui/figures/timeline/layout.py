"""Layout of a timeline's tracks, lanes and times; independent of Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from scalegraph.figures.figure import AreaTrack, LaneTrack, Timeline, Track

LEAST_LANE: Final = 2  # pixels; if more lanes than fit, the picture scrolls
MOST_LANE: Final = 400
_USUAL_MOST: Final = 200  # pixels of a lane that the user has not made taller
AREA: Final = 74  # pixels of height of a track of values
LEAST_AREA: Final = 40  # in which both ends of its axis are legible; if more such tracks than fit, the picture scrolls
_TALLEST_AREA: Final = 0.62  # of the height, for all such tracks together if there are lanes
TITLE: Final = 17  # pixels of a track's title
GAP: Final = 6
AXIS: Final = 40  # pixels of the time axis with its title, which a low picture omits
LOW_AXIS: Final = 24
_LOW: Final = 480


@dataclass(frozen=True)
class Band:
    """A track's position: *top* and *height* in pixels of the unscrolled content, *lane* the height of a lane."""

    track: Track
    top: int
    height: int
    lane: int = 0


@dataclass
class Layout:
    """The layout. *left* and *width* are the time axis in pixels; *begin* and *end* are the seconds shown.

    *zoom* is the lane height in pixels chosen by the user, 0 to fit.
    """

    left: int = 100
    width: int = 400
    height: int = 300  # of the visible tracks, without the axis
    begin: float = 0.0
    end: float = 1.0
    zoom: int = 0
    scroll: int = 0
    bands: list[Band] = field(default_factory=list)

    def place(self, timeline: Timeline) -> None:
        """Lay out every track."""
        lanes = sum(track.height for track in timeline.tracks if isinstance(track, LaneTrack))
        areas = [track for track in timeline.tracks if isinstance(track, AreaTrack)]
        titles = sum(TITLE for track in timeline.tracks if _titled(track)) + GAP * len(timeline.tracks)
        room = max(1, self.height - titles)
        area = self._area_height(areas, lanes, room)
        for_lanes = room - sum(round(area * track.weight) for track in areas)
        lane = self.zoom or max(LEAST_LANE, min(_USUAL_MOST, for_lanes // max(1, lanes)))
        self.bands = []
        top = 0
        for track in timeline.tracks:
            top += TITLE if _titled(track) else 0
            height = lane * track.height if isinstance(track, LaneTrack) else round(area * track.weight)
            self.bands.append(Band(track, top, height, lane if isinstance(track, LaneTrack) else 0))
            top += height + GAP
        self.scroll = min(self.scroll, self.most_scroll)

    def _area_height(self, areas: list[AreaTrack], lanes: int, room: int) -> int:
        if not areas:
            return 0
        weight = sum(track.weight for track in areas)
        if not lanes:
            return max(LEAST_AREA if len(areas) > 1 else 20, int(room / weight))
        return int(min(AREA, max(28.0, _TALLEST_AREA * room / weight)))

    @property
    def content(self) -> int:
        """Height of all tracks in pixels."""
        return self.bands[-1].top + self.bands[-1].height + GAP if self.bands else 0

    @property
    def most_scroll(self) -> int:
        """Largest scroll position in pixels."""
        return max(0, self.content - self.height)

    def x(self, seconds: float) -> float:
        """Return the pixel of a moment."""
        return self.left + (seconds - self.begin) / (self.end - self.begin) * self.width

    def seconds(self, x: float) -> float:
        """Return the moment at a pixel."""
        return self.begin + (x - self.left) / max(1, self.width) * (self.end - self.begin)

    @property
    def pixel(self) -> float:
        """Seconds per pixel."""
        return (self.end - self.begin) / max(1, self.width)

    def lane_y(self, band: Band, lane: float) -> float:
        """Return the vertical centre of a lane in pixels."""
        return band.top - self.scroll + (lane + 0.5) * band.lane

    def band_at(self, y: float) -> Band | None:
        """Return the track at a pixel."""
        at = y + self.scroll
        return next((band for band in self.bands if band.top <= at < band.top + band.height), None)

    def lane_at(self, y: float) -> tuple[Band, int] | None:
        """Return the track and lane at a pixel."""
        band = self.band_at(y)
        if band is None or not band.lane:
            return None
        lane = int((y + self.scroll - band.top) // band.lane)
        return (band, lane) if 0 <= lane < len(_lanes(band.track)) else None

    def visible_lanes(self, band: Band) -> range:
        """Return the visible lanes of a track."""
        first = max(0, (self.scroll - band.top) // band.lane)
        last = min(len(_lanes(band.track)), (self.scroll + self.height - band.top) // band.lane + 1)
        return range(first, max(first, last))


def group_runs(track: LaneTrack) -> list[tuple[int, int, str]]:
    """Return first lane, end (exclusive) and name of each run of lanes of one group."""
    groups = track.groups
    cuts = [lane for lane in range(len(groups)) if not lane or groups[lane] != groups[lane - 1]]
    return [(a, b, groups[a]) for a, b in pairwise([*cuts, len(groups)])]


def short_name(track: LaneTrack, lane: int) -> str:
    """Return a lane's name without its group's name, which is shown beside it."""
    name = track.names[lane]
    return name.removeprefix(track.groups[lane]).strip(" :") or name if track.groups else name


def tails(names: Sequence[str]) -> tuple[str, ...]:
    """Return *names* without the words that all of them begin with."""
    words = [name.split(" ") for name in names]
    shortest = min((len(parts) for parts in words), default=0)
    same = next((i for i in range(shortest) if len({parts[i] for parts in words}) > 1), max(0, shortest - 1))
    return tuple(" ".join(parts[same:]) for parts in words)


def axis_height(height: int) -> int:
    """Return the pixels of the time axis below a picture of that *height*."""
    return AXIS if height >= _LOW else LOW_AXIS


def _lanes(track: Track) -> tuple[str, ...]:
    return track.names if isinstance(track, LaneTrack) else ()


def title_of(track: Track) -> str:
    """Return the title of a track."""
    return track.title if isinstance(track, LaneTrack) else track.name


def _titled(track: Track) -> bool:
    return bool(title_of(track))
