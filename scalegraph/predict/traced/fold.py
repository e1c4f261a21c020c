"""Loops in a sequence of operations: repeated patterns become a loop with a count, as in ScalaTrace.

Source: Noeth, Ratn, Mueller, Schulz and de Supinski, J. Parallel Distrib. Comput. 69 (2009), 696: folding of repeats
within a rank; that the counts of inner loops may differ between passes is ScaleGraph's.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

LONGEST: Final = 400  # longest pattern found, in nodes


@dataclass(eq=False)
class Leaf:
    """An operation, executed *passes* times in all; *entries* counts only those that follow another operation."""

    symbol: Hashable
    number: int
    passes: int = 1
    entries: int = 1


@dataclass(eq=False)
class Loop:
    """Nodes that repeat: *passes* in all, over *entries* of the loop."""

    body: list[Node]
    passes: int
    entries: int = 1


Node: TypeAlias = Leaf | Loop


@dataclass
class Folded:
    """A folded sequence: its *nodes*, and for each operation of the sequence the number of its node."""

    nodes: list[Node]
    leaf_of: list[int] = field(default_factory=list)

    def leaves(self) -> Iterator[Leaf]:
        """Yield the operations in program order."""
        yield from _leaves(self.nodes)

    def shape(self) -> tuple[Hashable, ...]:
        """Return the structure without counts: equal for runs of other sizes with the same pattern."""
        return tuple(_shape(node) for node in self.nodes)


def fold(symbols: Sequence[Hashable], longest: int = LONGEST) -> Folded:
    """Return *symbols* with repeated patterns of at most *longest* nodes folded into loops. Unit: none (counts)."""
    return _Folding(longest).run(symbols)


def _leaves(nodes: Sequence[Node]) -> Iterator[Leaf]:
    for node in nodes:
        if isinstance(node, Leaf):
            yield node
        else:
            yield from _leaves(node.body)


def _shape(node: Node) -> Hashable:
    return (node.symbol,) if isinstance(node, Leaf) else ("loop", *(_shape(inner) for inner in node.body))


class _Folding:
    """A growing sequence whose end is folded after each operation.

    *codes*: a number for each node, equal for nodes of the same shape, so that patterns compare as lists.
    """

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.nodes: list[Node] = []
        self.codes: list[int] = []
        self.known: dict[Hashable, int] = {}
        self.merged: list[int] = []  # operation -> operation merged with
        self.ends: dict[int, frozenset[int]] = {}  # loop's code -> codes that may end one of its passes

    def run(self, symbols: Sequence[Hashable]) -> Folded:
        for number, symbol in enumerate(symbols):
            self.merged.append(number)
            self.nodes.append(Leaf(symbol, number))
            self.codes.append(self._code(symbol))
            while self._shorten():
                pass
        order = {leaf.number: place for place, leaf in enumerate(_leaves(self.nodes))}
        return Folded(self.nodes, [order[self._root(number)] for number in range(len(symbols))])

    def _code(self, shape: Hashable) -> int:
        return self.known.setdefault(shape, len(self.known))

    def _root(self, number: int) -> int:
        while self.merged[number] != number:
            self.merged[number] = self.merged[self.merged[number]]
            number = self.merged[number]
        return number

    def _shorten(self) -> bool:
        """Fold the end of the sequence once, shortest pattern first; return whether anything was folded."""
        codes = self.codes
        last, size = codes[-1], len(codes)
        for length in range(1, min(self.longest, size - 1) + 1):
            before = size - length - 1
            code = codes[before]
            if last in self.ends.get(code, ()) and self._extends(before):
                return True
            if code == last and length <= size // 2 and codes[size - 2 * length : size - length] == codes[-length:]:
                self._repeat(length)
                return True
        return False

    def _extends(self, at: int) -> bool:
        """Append all nodes after the loop at *at* to it if they form one more pass; return whether they did."""
        loop = self.nodes[at]
        if not isinstance(loop, Loop):
            return False
        pairs = self._matched(loop.body, at + 1)
        if pairs is None:
            return False
        for one, others in pairs:
            if isinstance(one, Loop) and not (len(others) == 1 and isinstance(others[0], Loop)):
                self._absorb(one.body, others)
                one.passes += 1
                one.entries += 1
            else:
                self._absorb([one], others)
        loop.passes += 1
        del self.nodes[at + 1 :], self.codes[at + 1 :]
        return True

    def _matched(self, body: Sequence[Node], at: int) -> list[tuple[Node, list[Node]]] | None:
        """Return the nodes from *at* to the end matched by each node of *body*; None if they are not a pass of it.

        An inner loop may have had a single pass, which is not a loop in the sequence, or none.
        """
        pairs: list[tuple[Node, list[Node]]] = []
        whole = 0
        for node in body:
            code = self._shape_code(node)
            if at < len(self.codes) and self.codes[at] == code:
                pairs.append((node, [self.nodes[at]]))
                at, whole = at + 1, whole + 1
            elif not isinstance(node, Loop):
                return None
            elif [self._shape_code(inner) for inner in node.body] == self.codes[at : at + len(node.body)]:
                pairs.append((node, self.nodes[at : at + len(node.body)]))
                at += len(node.body)
        return pairs if at == len(self.codes) and whole else None

    def _repeat(self, length: int) -> None:
        """Fold the last *length* nodes with those before into a loop, or count an operation that repeats itself."""
        body, again = self.nodes[-2 * length : -length], self.nodes[-length:]
        first = body[0]
        if length == 1 and isinstance(first, Leaf):
            self._absorb(body, again, repeated=True)
            del self.nodes[-1:], self.codes[-1:]
            return
        shape = ("loop", *self.codes[-length:])
        self._absorb(body, again)
        self.nodes[-2 * length :] = [Loop(body, 2)]
        self.codes[-2 * length :] = [self._code(shape)]
        self.ends[self.codes[-1]] = frozenset(self._last_codes(body))

    def _last_codes(self, body: Sequence[Node]) -> Iterator[int]:
        """Yield the codes that may end a pass through *body*: inner loops may have one pass, or none."""
        for node in reversed(body):
            yield self._shape_code(node)
            if isinstance(node, Leaf):
                return
            yield self._shape_code(node.body[-1])

    def _shape_code(self, node: Node) -> int:
        if isinstance(node, Leaf):
            return self._code(node.symbol)
        return self._code(("loop", *(self._shape_code(inner) for inner in node.body)))

    def _absorb(self, into: Sequence[Node], others: Sequence[Node], *, repeated: bool = False) -> None:
        for one, other in zip(into, others, strict=True):
            one.passes += other.passes
            if not repeated:
                one.entries += other.entries
            if isinstance(one, Leaf) and isinstance(other, Leaf):
                self.merged[other.number] = one.number
            elif isinstance(one, Loop) and isinstance(other, Loop):
                self._absorb(one.body, other.body)
