"""Innermost loops of a function: cycles of chunks without a smaller loop inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from scalegraph.instrument.flow import Chunk


@dataclass(frozen=True)
class Loops:
    """Loops of a function, each as the starts of its chunks.

    *innermost*: loops without a smaller one inside, by their first chunk; *of*: for each chunk in a loop, the smallest
    loop around it.
    """

    innermost: tuple[frozenset[int], ...]
    of: Mapping[int, frozenset[int]]

    @classmethod
    def in_function(cls, chunks: Mapping[int, Chunk]) -> Loops:
        """Return the loops of a function's *chunks*."""
        every = list(_every_loop(chunks))
        smallest = sorted((loop for loop, is_innermost in every if is_innermost), key=min)
        return cls(tuple(smallest), {start: loop for loop, _ in every for start in loop})

    def calling(self, chunks: Mapping[int, Chunk]) -> tuple[frozenset[int], ...]:
        """Return the innermost loops that call functions, hooks aside."""
        calls = {at for at, one in chunks.items() if any(i.operation.is_call and not i.hook for i in one.instructions)}
        return tuple(loop for loop in self.innermost if loop & calls)

    def inside(self) -> frozenset[int]:
        """Return the starts of all chunks in innermost loops."""
        return frozenset().union(*self.innermost)


def joint(
    chunks: Mapping[int, Chunk], loop: frozenset[int], fits: Callable[[Chunk], bool] = lambda _chunk: True
) -> int | None:
    """Return the first chunk that lies on every path round *loop* and that *fits*; None if there is none."""
    for start in sorted(loop):
        rest = {one: set(chunks[one].successors) & (loop - {start}) for one in loop - {start}}
        if fits(chunks[start]) and not _goes_round(rest):
            return start
    return None


def _every_loop(chunks: Mapping[int, Chunk]) -> Iterator[tuple[frozenset[int], bool]]:
    """Yield every loop, outer before inner, and whether it has no loop inside.

    A loop is a strongly connected set of chunks; removing the edges to its entry leaves the inner loops.
    """
    pending = [{start: set(chunk.successors) for start, chunk in chunks.items()}]
    while pending:
        graph = pending.pop()
        for loop in _loops(graph):
            heads = {to for start, successors in graph.items() if start not in loop for to in successors & loop}
            heads = heads or {min(loop)}
            inside = {start: (graph[start] & loop) - heads for start in loop}
            is_outer = _goes_round(inside)
            yield frozenset(loop), not is_outer
            if is_outer:
                pending.append(inside)


def _goes_round(graph: Mapping[int, set[int]]) -> bool:
    """Whether *graph* has a cycle: much faster than finding the loops, and usually enough."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


def _loops(graph: Mapping[int, set[int]]) -> list[set[int]]:
    """Return the strongly connected sets of nodes, including single nodes with an edge to themselves."""
    if not _goes_round(graph):
        return []
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers = {start: number for number, start in enumerate(graph)}
    edges = [(numbers[start], numbers[to]) for start, successors in graph.items() for to in successors]
    rows, columns = zip(*edges, strict=True)
    shape = len(numbers), len(numbers)
    _, labels = connected_components(coo_array(([1] * len(edges), (rows, columns)), shape), connection="strong")
    parts: dict[int, set[int]] = {}
    for start, label in zip(graph, labels, strict=True):
        parts.setdefault(int(label), set()).add(start)
    return [part for part in parts.values() if len(part) > 1 or part & _reached(graph, part)]


def _reached(graph: Mapping[int, set[int]], part: Iterable[int]) -> set[int]:
    return {to for start in part for to in graph[start]}
