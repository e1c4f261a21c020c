"""Predictions from a thread graph in a file: its times are formulas, so nothing is run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.toml import read_text
from scalegraph.predict import graph as graphs
from scalegraph.predict.graph import Graph, Step
from scalegraph.predict.instantiate import instantiate
from scalegraph.predict.predicting import Predicted, RegionShare
from scalegraph.predict.regions import Values
from scalegraph.predict.traverse import Traversal, traverse
from scalegraph.request.run.predicting import Point, Predictions

USUAL_COUNTS = (1, 8)  # the default N


def predict_graph(path: Path, targets: Sequence[Values], processors: Sequence[int] = ()) -> Predictions:
    """Return the times of the graph file at *path* for each of *targets*, its parameters, on each of *processors*.

    Raises `InputError` with every fault of the file, for unknown or missing parameters, and `DeadlockError` if its
    threads wait for each other.
    """
    graph = graphs.parse(read_text(path), str(path))
    for values in targets or [{}]:
        _check(graph, values)
    title = graph.title or path.name.removesuffix(".toml").removesuffix(".graph")
    found = Predictions(title, "a thread graph")
    for values in targets or [{}]:
        one = traverse(instantiate(graph, values, 1)).time_s
        found.points += [_point(graph, values, n, one) for n in processors or USUAL_COUNTS]
    found.notes.append("The graph gives its times by formulas: they are exact, so intervals have no width.")
    return found


def _check(graph: Graph, values: Values) -> None:
    unknown = [name for name in values if name not in graph.parameters]
    missing = [name for name in graph.parameters if name not in values]
    names = ", ".join(graph.parameters) or "none"
    if unknown:
        hint = near(unknown[0], graph.parameters) or f"; its parameters: {names}"
        raise InputError(Fault(f"the graph has no parameter '{unknown[0]}'{hint}", key="--at"))
    if missing:
        raise InputError(Fault(f"the graph needs a value of '{missing[0]}'; its parameters: {names}", key="--at"))


def _point(graph: Graph, values: Values, processors: int, one_s: float) -> Point:
    instance = instantiate(graph, values, processors)
    found = traverse(instance)
    threads = max(1, sum(len(cluster.codes) for cluster in instance.clusters))
    regions = tuple(_regions(graph, found, threads))
    events = sum(found.cost.values()) / threads
    waiting = max(found.time_s - events - sum(region.time_s for region in regions), 0.0)
    made = Predicted(
        processors, values, found.time_s, found.time_s, found.time_s, regions, events, waiting, events=found.events
    )
    return Point(processors, values, made, one_s=one_s)


def _regions(graph: Graph, found: Traversal, threads: int) -> Iterator[RegionShare]:
    """Yield each segment's contribution to the mean time of a thread, the largest first."""
    lists = [*(one.steps for one in graph.classes), *(part.steps for part in graph.parts)]
    steps: dict[str, Step] = {}
    for own in lists:
        for step in graph.walk(own):
            steps.setdefault(step.name, step)
    for name, spent in sorted(found.spent.items(), key=lambda item: -item[1]):
        place = steps[name].place if name in steps else ""
        file, _, line = place.rpartition(":")
        number = int(line) if line.isdecimal() else 0
        formula = steps[name].time if name in steps else ""
        yield RegionShare(name, file, number, threads > 1, spent / threads, 0.0, formula)
