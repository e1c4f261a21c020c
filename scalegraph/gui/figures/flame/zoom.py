"""The zoom of a flame graph with its history; independent of Qt."""

from __future__ import annotations

from scalegraph.figures.flame_geometry import WHOLE
from scalegraph.figures.flames import Flame


class Zoom:
    """The frame that fills the width (`WHOLE`: none) and the previous ones."""

    def __init__(self) -> None:
        self._past: list[int] = []
        self.frame = WHOLE

    @property
    def can_go_back(self) -> bool:
        """Whether there is a previous zoom."""
        return self.frame != WHOLE or bool(self._past)

    def into(self, frame: int, *, fills: bool = False) -> None:
        """Zoom into *frame*; if it *fills* the whole graph anyway, show the graph."""
        wanted = WHOLE if fills else frame
        if wanted != self.frame:
            self._past.append(self.frame)
            self.frame = wanted

    def back(self) -> bool:
        """Return to the previous zoom; return whether there was one."""
        if self._past:
            self.frame = self._past.pop()
            return True
        was, self.frame = self.frame, WHOLE
        return was != WHOLE

    def whole(self) -> None:
        """Show the whole graph."""
        self._past.clear()
        self.frame = WHOLE

    def carry(self, old: Flame, new: Flame) -> None:
        """Zoom into the frame of *new* with the same call path as in *old*; the history is dropped."""
        path = path_of(old, self.frame)
        self._past.clear()
        self.frame = find(new, path) if path else WHOLE


def path_of(flame: Flame, frame: int) -> tuple[str, ...]:
    """Return the names from the root to *frame*; empty for none."""
    names: list[str] = []
    while 0 <= frame < len(flame.frames):
        names.append(flame.frames[frame].name)
        frame = flame.frames[frame].parent
    return tuple(reversed(names))


def find(flame: Flame, path: tuple[str, ...]) -> int:
    """Return the frame with the call path *path*, `WHOLE` if there is none."""
    at = WHOLE
    for depth, name in enumerate(path):
        at = next(
            (
                i
                for i, frame in enumerate(flame.frames)
                if frame.depth == depth and frame.parent == at and frame.name == name
            ),
            WHOLE,
        )
        if at == WHOLE:
            return WHOLE
    return at
