"""External sort of text lines by time."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

RUN = 1 << 19  # lines held in memory, some 50 to 100 MB


class SortedLines:
    """Collects lines with their times in any order and returns them by time; equal times keep their order.

    Beyond *run* lines, sorted runs go to files in a temporary directory, which are merged.
    """

    def __init__(self, run: int = RUN) -> None:
        self._run = run
        self._held: list[tuple[int, str]] = []
        self._place: tempfile.TemporaryDirectory[str] | None = None
        self._files: list[Path] = []
        self.count = 0
        self.last = 0  # the greatest time so far

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._place is not None:
            self._place.cleanup()

    def add(self, lines: Sequence[tuple[int, str]]) -> None:
        """Add *lines*, each with its time; none contains a line feed."""
        self._held += lines
        self.count += len(lines)
        self.last = max(self.last, max((time for time, _ in lines), default=0))
        if len(self._held) >= self._run:
            self._spill()

    def _sort(self) -> None:
        self._held.sort(key=_time)  # the sort is stable

    def _spill(self) -> None:
        if self._place is None:
            self._place = tempfile.TemporaryDirectory(prefix="scalegraph-lines-", ignore_cleanup_errors=True)
        self._sort()
        path = Path(self._place.name) / str(len(self._files))
        with path.open("w", encoding="utf-8", newline="\n") as out:
            out.writelines(f"{time} {line}\n" for time, line in self._held)
        self._files.append(path)
        self._held.clear()

    def __iter__(self) -> Iterator[str]:
        self._sort()
        for _, line in heapq.merge(*map(_stored, self._files), self._held, key=_time):
            yield line


def _time(timed: tuple[int, str]) -> int:
    return timed[0]


def _stored(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        for text in lines:
            time, _, line = text.rstrip("\n").partition(" ")
            yield int(time), line
