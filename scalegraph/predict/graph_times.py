"""Times of the segments and events of a thread graph at given parameters and N, and which segments do not scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from scalegraph.base.errors import InputError
from scalegraph.predict.graph import Graph, Step, ThreadClass
from scalegraph.predict.instantiate import KIND_NAMES, instantiate
from scalegraph.predict.traverse import traverse

Growth: TypeAlias = Literal["serial", "in turn", "grows", "stays", "scales", "not known"]
_SAME = 0.9  # share of the time on fewer processors above which a segment does not share its work
_MORE = 1.05


@dataclass(frozen=True)
class StepTimes:
    """Times of a graph in s. *spent*: by segment path, for one thread of the class, all passes together.

    *cost* of each event, by kind and name, and how long threads *waited* there, both averaged over the participating
    threads; *sizes*: threads of each class.
    """

    processors: int
    time_s: float
    events: int
    spent: Mapping[str, float]
    cost: Mapping[tuple[str, str], float] = field(default_factory=dict)
    waited: Mapping[tuple[str, str], float] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    def share(self, path: str) -> float | None:
        """Return the share of the parallel time taken by a segment, None if it does not run."""
        spent = self.spent.get(path)
        return None if spent is None or not self.time_s else spent / self.time_s


@dataclass(frozen=True)
class Placed:
    """A segment with its *path*, its class, and whether it is inside a critical section."""

    path: str
    step: Step
    thread_class: str
    exclusive: bool


def expanded(graph: Graph) -> Graph:
    """Return *graph* with its parts replaced by their steps: the same threads, events and times."""
    classes = tuple(one.model_copy(update={"steps": tuple(_expanded(graph, one.steps))}) for one in graph.classes)
    return graph.model_copy(update={"classes": classes, "parts": ()})


def _expanded(graph: Graph, steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        inside = tuple(_expanded(graph, graph.inside(step)))
        if step.kind != "part":
            yield step.model_copy(update={"steps": inside}) if inside else step
        elif not step.when:
            yield from inside
        else:
            yield Step(branch=step.name, share="1", when=step.when, steps=inside)


def segments(graph: Graph) -> list[Placed]:
    """Return all segments of an `expanded` graph, in the order of its classes and their steps."""
    found: list[Placed] = []

    def walk(one: ThreadClass, steps: Sequence[Step], path: str, *, exclusive: bool) -> None:
        for number, step in enumerate(steps):
            here = f"{path}.{number}"
            if step.kind == "segment":
                found.append(Placed(here, step, one.name, exclusive))
            walk(one, step.steps, here, exclusive=exclusive or step.kind == "critical")

    for number, one in enumerate(graph.classes):
        walk(one, one.steps, str(number), exclusive=False)
    return found


def step_times(graph: Graph, values: Mapping[str, float], processors: int) -> StepTimes:
    """Return the times of an `expanded` *graph*.

    Raises `InputError` as `instantiate` does, `DeadlockError` for a graph that deadlocks.
    """
    named = graph.model_copy(
        update={
            "classes": tuple(
                one.model_copy(update={"steps": _named(one.steps, str(number))})
                for number, one in enumerate(graph.classes)
            )
        }
    )
    instance = instantiate(named, values, processors)
    found = traverse(instance)
    codes = [len(cluster.codes) for cluster in instance.clusters]
    sizes = {cluster.name: cluster.size for cluster in instance.clusters}
    spent = {path: time / max(1, codes[int(path.partition(".")[0])]) for path, time in found.spent.items()}
    parts = _taking_part(graph, {one.name: codes[i] for i, one in enumerate(graph.classes)})
    cost = {key: time / max(1, parts.get(key, 1)) for key, time in found.cost.items()}
    waited = {key: time / max(1, parts.get(key, 1)) for key, time in found.waited.items()}
    return StepTimes(processors, found.time_s, found.events, spent, cost, waited, sizes)


def _named(steps: Sequence[Step], path: str) -> tuple[Step, ...]:
    """Return *steps* with each segment named by its path, so that their times stay separate."""
    made = []
    for number, step in enumerate(steps):
        here = f"{path}.{number}"
        if step.kind == "segment":
            made.append(step.model_copy(update={"segment": here}))
        else:
            made.append(step.model_copy(update={"steps": _named(step.steps, here)}) if step.steps else step)
    return tuple(made)


def _taking_part(graph: Graph, codes: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Return how many threads the traversal counts at each event."""
    found: dict[tuple[str, str], int] = {}
    for one in graph.classes:
        for key in {(kind, step.name) for step in graph.walk(one.steps) for kind in KIND_NAMES}:
            found[key] = found.get(key, 0) + codes[one.name]
    return found


def growth(placed: Placed, times: StepTimes, fewer: StepTimes | None) -> Growth:
    """Return how the time of a segment changes with N; *fewer*: the times on fewer processors, if known.

    ``serial``: one thread runs it while all others wait; ``in turn``: one thread at a time; ``grows``; ``stays``: takes
    equally long on any N; ``scales``: threads share it.
    """
    now = times.spent.get(placed.path)
    if now is None:
        return "not known"
    before = fewer.spent.get(placed.path) if fewer is not None else None
    if before is not None and now > _MORE * before and now > 0:
        return "grows"
    if placed.exclusive and times.sizes.get(placed.thread_class, 1) > 1:
        return "in turn"
    if times.sizes.get(placed.thread_class, 1) == 1 and max(times.sizes.values(), default=1) > 1:
        return "serial"
    if before is None:
        return "not known"
    return "stays" if now > _SAME * before else "scales"


def values_for(graph: Graph, given: Mapping[str, float]) -> dict[str, float]:
    """Return the parameters of *graph* from *given*; raise `InputError` naming missing ones."""
    missing = [name for name in graph.parameters if name not in given]
    if missing:
        raise InputError(f"the thread graph needs a value of {' and '.join(missing)}")
    return {name: given[name] for name in graph.parameters}
