"""Layout of tracks, lanes and times of a timeline on the screen; free of Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from scalegraph.figures.figure import AreaTrack, LaneTrack, Timeline, Track

LEAST_LANE: Final = 2  # pixels; with more lanes than that allows one scrolls
MOST_LANE: Final = 200
_USUAL_MOST: Final = 96  # pixels of a lane that nobody made taller
AREA: Final = 74  # pixels of height of values over time
LEAST_AREA: Final = 40  # in which both ends of their axis can be read; with more of them than that allows one scrolls
_TALLEST_AREA: Final = 0.62  # of the height, for all such tracks together beside lanes
TITLE: Final = 17  # pixels above a track that has a title
GAP: Final = 6
AXIS: Final = 40  # pixels of the axis with its title, which a low picture does without
LOW_AXIS: Final = 24
_LOW: Final = 480


@dataclass(frozen=True)
class Band:
    """A track's place: *top* and *height* in pixels of the content (not scrolled), *lane* the height of a lane."""

    track: Track
    top: int
    height: int
    lane: int = 0


@dataclass
class Layout:
    """Places everything. *left* is where time begins, *width* what it takes; *begin* and *end* are the seconds shown.

    *zoom* is the height of a lane in pixels that the user chose, 0 for what fits.
    """

    left: int = 100
    width: int = 400
    height: int = 300  # of what is visible of the tracks, without the axis
    begin: float = 0.0
    end: float = 1.0
    zoom: int = 0
    scroll: int = 0
    bands: list[Band] = field(default_factory=list)

    def place(self, timeline: Timeline) -> None:
        """Give every track its place."""
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
        """How far one can scroll."""
        return max(0, self.content - self.height)

    def x(self, seconds: float) -> float:
        """Return the pixel of a moment."""
        return self.left + (seconds - self.begin) / (self.end - self.begin) * self.width

    def seconds(self, x: float) -> float:
        """Return the moment at a pixel."""
        return self.begin + (x - self.left) / max(1, self.width) * (self.end - self.begin)

    @property
    def pixel(self) -> float:
        """Seconds in a pixel."""
        return (self.end - self.begin) / max(1, self.width)

    def lane_y(self, band: Band, lane: float) -> float:
        """Return the pixel of the middle of a lane."""
        return band.top - self.scroll + (lane + 0.5) * band.lane

    def band_at(self, y: float) -> Band | None:
        """Return the track at a pixel."""
        at = y + self.scroll
        return next((band for band in self.bands if band.top <= at < band.top + band.height), None)

    def lane_at(self, y: float) -> tuple[Band, int] | None:
        """Return the track and the lane in it at a pixel."""
        band = self.band_at(y)
        if band is None or not band.lane:
            return None
        lane = int((y + self.scroll - band.top) // band.lane)
        return (band, lane) if 0 <= lane < len(_lanes(band.track)) else None

    def visible_lanes(self, band: Band) -> range:
        """Return the lanes of a track that are visible."""
        first = max(0, (self.scroll - band.top) // band.lane)
        last = min(len(_lanes(band.track)), (self.scroll + self.height - band.top) // band.lane + 1)
        return range(first, max(first, last))


def group_runs(track: LaneTrack) -> list[tuple[int, int, str]]:
    """Return first lane, the lane after the last, and name of each group of lanes that are together."""
    groups = track.groups
    cuts = [lane for lane in range(len(groups)) if not lane or groups[lane] != groups[lane - 1]]
    return [(a, b, groups[a]) for a, b in pairwise([*cuts, len(groups)])]


def short_name(track: LaneTrack, lane: int) -> str:
    """Return the name of a lane without that of its group, which is beside it."""
    name = track.names[lane]
    return name.removeprefix(track.groups[lane]).strip(" :") or name if track.groups else name


def tails(names: Sequence[str]) -> tuple[str, ...]:
    """Return what distinguishes *names*: each without the words that all of them begin with."""
    words = [name.split(" ") for name in names]
    shortest = min((len(parts) for parts in words), default=0)
    same = next((i for i in range(shortest) if len({parts[i] for parts in words}) > 1), max(0, shortest - 1))
    return tuple(" ".join(parts[same:]) for parts in words)


def axis_height(height: int) -> int:
    """Return the pixels for the axis of time below a picture of that *height*."""
    return AXIS if height >= _LOW else LOW_AXIS


def _lanes(track: Track) -> tuple[str, ...]:
    return track.names if isinstance(track, LaneTrack) else ()


def title_of(track: Track) -> str:
    """Return what is above a track."""
    return track.title if isinstance(track, LaneTrack) else track.name


def _titled(track: Track) -> bool:
    return bool(title_of(track))
