"""Layout of a thread graph: a column per class of threads, a row per step.

As in the semi-empirical paper, Figs. 1 to 4: an arrow is a thread, a dot an event, an oval a communication, an arc a
loop. Threads that run one after the other share a column.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from scalegraph.figures.diagram import Diagram, DiagramKey, Item, Point, Shape
from scalegraph.predict.graph import Graph, Step, ThreadClass

COLUMN: Final = 16.0  # row heights between two columns
_FIRST: Final = (2.6, 1.6)  # position of the first column
_BULGE: Final = 0.75  # of the innermost arc, and the increment of each arc around it
_BESIDE: Final = 0.75  # between a line and its labels
_HALF: Final = 0.5
_PASSES: Final = 8  # until events that wait for each other are in one row
_LANE, _SEGMENT, _FRONT, _EVENT = range(4)  # drawing order


@dataclass(frozen=True)
class Looks:
    """The appearance of a step: *name*, *tip*, the *key* it selects, and for a segment colour and *width*.

    *front*: the step does not scale; it is drawn in front, with a border. *weight*: priority of its name.
    """

    name: str
    tip: str = ""
    key: str = ""
    role: str = "ink"
    width: float = 2.0
    front: bool = False
    weight: float = 0.0


LooksOf = Callable[[str, Step, ThreadClass], Looks]  # of the step at a path


@dataclass
class _Place:
    """What has been placed so far; *met*: rows of events by class and occurrence, to which others are aligned."""

    shapes: list[tuple[int, Shape]] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    free: dict[int, float] = field(default_factory=lambda: defaultdict(float))  # column -> row from which it is free
    ends: dict[str, Point] = field(default_factory=dict)  # of forked threads not yet joined
    met: dict[tuple[str, str, int], list[tuple[str, Point]]] = field(default_factory=lambda: defaultdict(list))
    seen: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    widest: int = 0


def diagram(graph: Graph, looks: LooksOf, titles: Mapping[str, str], key: Sequence[DiagramKey], title: str) -> Diagram:
    """Return *graph*, with its parts expanded, as a diagram; *titles* are its classes' names."""
    level: dict[tuple[str, str, str, int], float] = {}
    for _ in range(_PASSES):
        place = _Drawing(graph, looks, titles, level).draw()
        wanted = _level(place)
        if wanted == level:
            break
        level = wanted
    _communication(place)
    rows = max((y for _, shape in place.shapes for _, y in shape.points), default=1.0)
    shapes = tuple(shape for _, shape in sorted(place.shapes, key=lambda pair: pair[0]))
    size = (_FIRST[0] + COLUMN * (place.widest + 1), rows + 1.2)
    return Diagram(title, shapes, tuple(place.items), size, tuple(key))


def _level(place: _Place) -> dict[tuple[str, str, str, int], float]:
    """Return the least row of matching events: barriers are aligned, receives come after sends."""
    wanted: dict[tuple[str, str, str, int], float] = {}
    for (kind, name, number), where in place.met.items():
        if kind == "barrier" and len({one for one, _ in where}) > 1:
            row = max(at[1] for _, at in where)
            wanted |= {(one, kind, name, number): row for one, _ in where}
        if kind == "send":
            row = max(at[1] for _, at in where) + 1.0
            wanted |= {(one, "receive", name, number): row for one, _ in place.met.get(("receive", name, number), ())}
    return wanted


def _communication(place: _Place) -> None:
    """Add ovals around the dots of each barrier, and arrows from each send to its receive."""
    for (kind, name, number), where in place.met.items():
        points = tuple(at for _, at in where)
        if kind == "barrier":
            place.shapes.append((_EVENT, Shape("oval", points, "ink", 1.2)))
        for _, end in place.met.get(("receive", name, number), ()) if kind == "send" else ():
            begin = points[0]
            same = abs(begin[0] - end[0]) < _HALF
            way = (begin, (begin[0] + 1.2, (begin[1] + end[1]) / 2), end) if same else (begin, end)
            place.shapes.append((_EVENT, Shape("arrow", way, "communication", 1.4)))


class _Drawing:
    """One layout attempt; *level*: least rows of matching events."""

    def __init__(
        self,
        graph: Graph,
        looks: LooksOf,
        titles: Mapping[str, str],
        level: Mapping[tuple[str, str, str, int], float],
    ) -> None:
        self.graph, self.looks, self.titles, self.level = graph, looks, titles, level
        self.place = _Place()
        self.numbers = {one.name: number for number, one in enumerate(graph.classes)}

    def draw(self) -> _Place:
        """Return the positions of all parts."""
        forked = self.graph.forked
        for one in self.graph.classes:
            if one.name not in forked:
                self._thread(one, self._column(0, _FIRST[1]), _FIRST[1])
        return self.place

    def _column(self, after: int, row: float) -> int:
        """Return the first column from *after* on that is free from *row* on."""
        column = after
        while self.place.free[column] > row:
            column += 1
        self.place.widest = max(self.place.widest, column)
        return column

    def _thread(self, one: ThreadClass, column: int, row: float) -> Point:
        """Draw the threads of a class from *row* on; return the row where they end."""
        x = _FIRST[0] + COLUMN * column
        self.place.free[column] = 1e9  # until the thread has ended
        title = self.titles.get(one.name, one.name)
        self.place.items.append(Item(title, (x - _HALF, row - 0.1), room=COLUMN - 4, weight=2.0, side="above"))
        last = self._steps(one, column, str(self.numbers[one.name]), one.steps, row) + 0.9
        self._shape(_LANE, Shape("arrow", ((x, row), (x, last)), "muted", 1.2))
        if self.titles.get(one.name, one.name) != one.name and one.count not in ("", "1"):
            for step in (1, 2):  # more threads behind it
                aside = x + 0.2 * step
                self._shape(_LANE, Shape("line", ((aside, row + 0.2 * step), (aside, last - 0.5)), "muted", 0.7))
        self.place.free[column] = last + 1.6
        return (x, last)

    def _shape(self, level: int, shape: Shape) -> None:
        self.place.shapes.append((level, shape))

    def _item(self, looks: Looks, at: Point) -> int:
        room = COLUMN - 4.2
        role = "mark" if looks.front else "ink"
        self.place.items.append(
            Item(looks.name, at, looks.tip, looks.key, room, looks.weight + (1.0 if looks.front else 0.0), role=role)
        )
        return len(self.place.items) - 1

    def _steps(self, one: ThreadClass, column: int, path: str, steps: Sequence[Step], row: float) -> float:
        for number, step in enumerate(steps):
            row = self._step(one, column, f"{path}.{number}", step, row)
        return row

    def _step(self, one: ThreadClass, column: int, path: str, step: Step, row: float) -> float:
        looks = self.looks(path, step, one)
        if step.kind == "segment":
            return self._segment(looks, column, row)
        if step.kind in ("loop", "critical", "branch"):
            return self._holder(one, column, path, step, looks, row)
        if step.kind in ("fork", "cluster"):
            return self._fork(column, step, looks, row)
        if step.kind == "join" and step.name in self.place.ends:
            return self._join(column, self._item(looks, self._beside(column, row)), self.place.ends.pop(step.name), row)
        return self._event(one, column, step, looks, row)

    @staticmethod
    def _beside(column: int, row: float) -> Point:
        return (_FIRST[0] + COLUMN * column + _BESIDE, row + _HALF)

    def _segment(self, looks: Looks, column: int, row: float) -> float:
        x = _FIRST[0] + COLUMN * column
        item = self._item(looks, self._beside(column, row))
        ends = ((x, row + 0.06), (x, row + 0.94))
        if looks.front:
            self._shape(_FRONT, Shape("line", ((x, row), (x, row + 1.0)), "mark", looks.width + 3.2, item))
        self._shape(_FRONT if looks.front else _SEGMENT, Shape("line", ends, looks.role, looks.width, item))
        return row + 1.0

    def _event(self, one: ThreadClass, column: int, step: Step, looks: Looks, row: float) -> float:
        number = self.place.seen[one.name, step.kind, step.name]
        self.place.seen[one.name, step.kind, step.name] += 1
        row = max(row, self.level.get((one.name, step.kind, step.name, number), 0.0) - _HALF)
        at = (_FIRST[0] + COLUMN * column, row + _HALF)
        self._shape(_EVENT, Shape("dot", (at,), "ink", 2.0, self._item(looks, self._beside(column, row))))
        self.place.met[step.kind, step.name, number].append((one.name, at))
        return row + 1.0

    def _holder(self, one: ThreadClass, column: int, path: str, step: Step, looks: Looks, row: float) -> float:
        """Draw a loop or branch as an arc, a critical section as an oval around its content."""
        x = _FIRST[0] + COLUMN * column
        item = self._item(looks, self._beside(column, row))
        begin = (x, row + _HALF)
        last = self._steps(one, column, path, step.steps, row + 1.0)
        end = (x, last + 0.3)
        self._shape(_EVENT, Shape("dot", (begin, end), "ink", 1.6, item))
        if step.kind == "critical":
            oval = Shape("oval", (begin, end), "mark" if looks.front else "ink", 1.2, item)
            self._shape(_EVENT, oval)
        else:
            bulge = _BULGE * (1 + _deepest(step.steps))
            dashed = step.kind == "branch"
            self._shape(_EVENT, Shape("arc", (begin, end), "ink", 1.2, item, bulge, dashed))
        return last + 0.6

    def _fork(self, column: int, step: Step, looks: Looks, row: float) -> float:
        x = _FIRST[0] + COLUMN * column
        child = next(one for one in self.graph.classes if one.name == step.name)
        item = self._item(looks, self._beside(column, row))
        beside = self._column(column + 1, row)
        at = (x, row + 0.95)  # below its name
        begin = (_FIRST[0] + COLUMN * beside, row + 1.5)
        self._shape(_EVENT, Shape("dot", (at,), "ink", 2.0, item))
        self._shape(_LANE, Shape("arrow", (at, begin), "ink", 1.2, item))
        end = self._thread(child, beside, begin[1])
        if step.kind == "fork":
            self.place.ends[step.name] = end
            return row + 1.2
        return self._join(column, item, end, row + 1.2)

    def _join(self, column: int, item: int, end: Point, row: float) -> float:
        at = (_FIRST[0] + COLUMN * column, max(row, end[1]) + 0.6)
        self._shape(_EVENT, Shape("dot", (at,), "ink", 2.0, item))
        self._shape(_LANE, Shape("arrow", (end, at), "ink", 1.2, item))
        return at[1] + 0.4


def _deepest(steps: Sequence[Step]) -> int:
    """Return the nesting depth of arcs in *steps*."""
    return max((int(step.kind != "critical") + _deepest(step.steps) for step in steps if step.steps), default=0)
