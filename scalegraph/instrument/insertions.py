"""Puts probes into text: where a brace may go so that every line keeps its number."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scalegraph.base.source_regions import LIBRARY
from scalegraph.instrument.conditionals import Conditionals
from scalegraph.instrument.lexer import Directive, Lexed
from scalegraph.instrument.syntax import Site


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to put before the byte at *offset* of the original; *region*: the id it belongs to.

    Region 0 is not a region: a ``#line`` alone.
    """

    offset: int
    text: str
    region: int
    line: int
    opens: bool


@dataclass(frozen=True, slots=True)
class Place:
    """An offset and whether the inserted text needs a line of its own there (before a directive)."""

    offset: int
    own_line: bool = False


@dataclass(frozen=True, slots=True)
class Probe:
    """A region to be planted: without *closing* its scope ends with the enclosing block.

    *calls* writes plain calls instead of a scope, for a phase whose declarations must stay visible after it.
    """

    site: Site
    opening: Place
    closing: Place | None = None
    calls: bool = False

    def code(self, region: int) -> tuple[str, str]:
        """Return the text for entering and the text for leaving."""
        library = "LIBRARY_" if self.site.kind == LIBRARY else ""
        if self.calls or self.site.declares:
            return f"SCALEGRAPH_{library}ENTER({region});", f"SCALEGRAPH_LEAVE({region});"
        if self.closing is None:
            return f"SCALEGRAPH_SCOPE({region});", ""
        return f"{{ SCALEGRAPH_{library}SCOPE({region});", "}"


class Places:
    """Finds places around statements and directives of one file."""

    def __init__(
        self, lexed: Lexed, conditionals: Conditionals, filename: str, fixed: Iterable[tuple[int, bool]] = ()
    ) -> None:
        self.lexed, self.conditionals, self.filename = lexed, conditionals, filename
        # Ends of what text must not be moved across: tokens, directives, phase comments; True if text cannot follow on
        # the same line.
        self._ends = sorted(
            [(token.end, False) for token in lexed.tokens]
            + [(directive.end, True) for directive in lexed.directives]
            + list(fixed)
        )
        self._heads = {d.start: d for d in lexed.directives if not d.is_operator}

    def before(self, directive: Directive, target: int) -> Place:
        """Return where to put text before *directive*, in the branch that *target* is in."""
        if directive.is_operator:
            return Place(directive.start)
        start = self._group_start(directive, target)
        previous, is_directive = self._end_before(start)
        same_branch = self.conditionals.context(max(previous - 1, 0)) == self.conditionals.context(target)
        if previous > 0 and not is_directive and same_branch:
            return Place(previous)
        return Place(start, own_line=True)

    def after(self, directive: Directive) -> Place:
        """Return where to put text right after *directive*."""
        if directive.is_operator:
            return Place(directive.end)
        end = directive.end
        if end in self._heads or self.lexed.data[end - 1 : end] != b"\n" or end >= len(self.lexed.data):
            return Place(end, own_line=True)
        while self.lexed.data[end : end + 1] in (b" ", b"\t"):
            end += 1
        return Place(end)

    def _group_start(self, directive: Directive, target: int) -> int:
        """Return the start of *directive*, or of the outermost #if around it that does not contain *target*."""
        outside = self.conditionals.context(target)
        for group, branch in self.conditionals.context(directive.start):
            if (group, branch) not in outside:
                return self.conditionals.groups[group].start
        return directive.start

    def _end_before(self, offset: int) -> tuple[int, bool]:
        at = bisect.bisect_right(self._ends, (offset, True))
        return self._ends[at - 1] if at else (0, True)

    def resynchronised(self, place: Place) -> list[int]:
        """Return offsets where the line number must be set again because a line was inserted at *place*.

        The compiler ignores a ``#line`` in a branch that it skips, but counts the lines.
        """
        if not place.own_line:
            return []
        groups = self.conditionals.groups
        return [
            turn
            for group, branch in self.conditionals.context(place.offset)
            for turn in groups[group].turns[branch:]
            if turn < len(self.lexed.data)
        ]

    def text(self, place: Place, code: str) -> str:
        """Return *code* as it must be written at *place*."""
        if not place.own_line:
            data, at = self.lexed.data, place.offset
            before = "" if at == 0 or data[at - 1 : at].isspace() else " "
            after = "" if data[at : at + 1].isspace() else " "
            return f"{before}{code}{after}"
        line = self.lexed.line(place.offset)
        newline = "" if place.offset == 0 or self.lexed.data[place.offset - 1 : place.offset] == b"\n" else "\n"
        return f"{newline}{code}\n{line_directive(line, self.filename)}\n"


def line_directive(line: int, filename: str) -> str:
    """Return the ``#line`` directive that makes the next line *line* of *filename*."""
    escaped = filename.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'#line {line} "{escaped}"'


def apply(data: bytes, insertions: Sequence[Insertion]) -> str:
    """Return *data* with *insertions* applied, in the given order where offsets are equal."""
    pieces: list[bytes] = []
    at = 0
    for insertion in sorted(insertions, key=lambda i: i.offset):
        pieces += [data[at : insertion.offset], insertion.text.encode("utf-8", "surrogateescape")]
        at = insertion.offset
    pieces.append(data[at:])
    return b"".join(pieces).decode("utf-8", "surrogateescape")
