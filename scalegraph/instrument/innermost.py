"""Innermost loops of a function: sets of chunks that control goes round in without a smaller loop inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scalegraph.instrument.flow import Chunk


def innermost(chunks: Mapping[int, Chunk]) -> list[frozenset[int]]:
    """Return the innermost loops of a function's *chunks*, each as the starts of its chunks, by their first one."""
    found: list[frozenset[int]] = []
    pending = [{start: set(chunk.successors) for start, chunk in chunks.items()}]
    while pending:
        graph = pending.pop()
        for loop in _loops(graph):
            heads = {to for start, successors in graph.items() if start not in loop for to in successors & loop}
            heads = heads or {min(loop)}
            inside = {start: (graph[start] & loop) - heads for start in loop}
            if _loops(inside):
                pending.append(inside)
            else:
                found.append(frozenset(loop))
    return sorted(found, key=min)


def _loops(graph: Mapping[int, set[int]]) -> list[set[int]]:
    """Return the sets of nodes of which each reaches every other, or itself."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers = {start: number for number, start in enumerate(graph)}
    edges = [(numbers[start], numbers[to]) for start, successors in graph.items() for to in successors]
    if not edges:
        return []
    rows, columns = zip(*edges, strict=True)
    shape = len(numbers), len(numbers)
    _, labels = connected_components(coo_array(([1] * len(edges), (rows, columns)), shape), connection="strong")
    parts: dict[int, set[int]] = {}
    for start, label in zip(graph, labels, strict=True):
        parts.setdefault(int(label), set()).add(start)
    return [part for part in parts.values() if len(part) > 1 or part & _reached(graph, part)]


def _reached(graph: Mapping[int, set[int]], part: Iterable[int]) -> set[int]:
    return {to for start in part for to in graph[start]}
