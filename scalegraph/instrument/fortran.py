"""Region probes for Fortran: program units, outermost ``do`` loops and OpenMP constructs, found line by line.

A probe is a call of ``scalegraph_enter`` or ``scalegraph_leave`` on a line of its own, with a line marker after it, so
that the compiler reports the user's lines. Fortran has no scope variables: a region that is left by a jump is closed
with the enclosing one. Irregular code (loops that end at a label, unknown directives, units whose blocks do not pair
up) gets no probe; its cost goes to the enclosing region.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from scalegraph.base.errors import Fault
from scalegraph.base.source_regions import SourceRegion
from scalegraph.instrument.insertions import Insertion
from scalegraph.instrument.pragmas import FORTRAN
from scalegraph.instrument.syntax import Detail

_UNIT: Final = re.compile(
    r"^(?:(?:recursive|pure|elemental|impure|module|integer|real|logical|complex|character|double\s+precision|type\s*\([^)]*\)|non_recursive)"
    r"(?:\s*\*\s*\d+|\s*\([^)]*\))?\s+)*(program|subroutine|function)\s+(\w+)"
)
_PURE: Final = re.compile(r"\b(pure|elemental|attributes)\b")
_END: Final = re.compile(r"^end(\s*(program|subroutine|function|procedure)(\s+\w+)?)?$")
_DO: Final = re.compile(r"^(?:\w+\s*:\s*)?do(?:$|\s+(?!\d)|\s*,)")
_END_DO: Final = re.compile(r"^end\s*do\b")
_RETURN: Final = re.compile(r"^(\s*)(if\s*\(.*\))?\s*return\s*$", re.IGNORECASE)
_NESTED: Final = re.compile(r"^(abstract\s+)?interface\b|^enum\s*,|^type\s*(,[^:]*)?(::)?\s*\w+$")
_END_NESTED: Final = re.compile(r"^end\s*(interface|type|enum|structure)\b")
_SPECIFICATION: Final = re.compile(
    r"^(use|implicit|import|integer|real|double|complex|character|logical|type|class|parameter|dimension|allocatable|"
    r"save|common|data|equivalence|external|intrinsic|namelist|format|include|procedure|generic|target|pointer|intent|"
    r"optional|value|volatile|asynchronous|contiguous|bind|public|private|protected|entry)\b"
)
_FIXED_ROOM: Final = 30  # for a condition on the line of a call, which in fixed form ends at column 72
_DIRECTIVE: Final = re.compile(r"^[!c*]\$omp(?:\s+|&\s*)(.*)$", re.IGNORECASE)
_LOOPING: Final = {word for word, said in FORTRAN.items() if said.loop}
_KINDS: Final = {word: said.kind for word, said in FORTRAN.items() if said.kind and not said.silent and not said.alone}
_SILENT: Final = {word for word, said in FORTRAN.items() if said.silent}


@dataclass(slots=True)
class _Statement:
    """A statement, possibly on several lines: the first and last line (from 1), its text in lower case."""

    first: int
    last: int
    text: str
    directive: bool = False
    labelled: bool = False


@dataclass(slots=True)
class _Block:
    """A region that is currently open."""

    region: SourceRegion | None
    what: str  # unit, do, or the words of a directive
    loop: bool = False  # a directive that ends with its loop


@dataclass(slots=True)
class _Unit:
    """Insertions in a program unit, kept until its blocks have paired up."""

    depth: int
    before: list[tuple[int, str, int, bool]] = field(default_factory=list)  # line, text, region, opens
    executable: bool = False
    nested: int = 0
    silent: bool = False  # may call only pure functions
    broken: bool = False


def fortran_regions(
    text: str, filename: str, *, detail: Detail, fixed: bool
) -> tuple[list[SourceRegion], list[Insertion], list[Fault]]:
    """Return regions (from 1), their insertions, and remarks, for the Fortran source *text*."""
    return _Scan(text, filename, detail, fixed=fixed).run()


class _Scan:
    def __init__(self, text: str, filename: str, detail: Detail, *, fixed: bool) -> None:
        self.lines = text.split("\n")
        self.filename, self.detail, self.fixed = filename, detail, fixed
        self.regions: list[SourceRegion] = []
        self.faults: list[Fault] = []
        self.kept: list[tuple[int, str, int, bool]] = []
        self.units: list[_Unit] = []
        self.blocks: list[_Block] = []
        self.pending: _Block | None = None  # a directive that waits for its loop

    def run(self) -> tuple[list[SourceRegion], list[Insertion], list[Fault]]:
        for statement in _statements(self.lines, fixed=self.fixed):
            if statement.directive:
                self._directive(statement)
            else:
                self._statement(statement)
        kept = {region for _, _, region, _ in self.kept}
        regions = [region for region in self.regions if region.id in kept]
        return regions, list(self._insertions()), self.faults

    # -- statements --------------------------------------------------------------------------------------------

    def _statement(self, statement: _Statement) -> None:
        text = statement.text
        if (match := _UNIT.match(text)) is not None and not text.startswith("end"):
            self._open_unit(statement, match, silent=_PURE.search(text) is not None)
            return
        unit = self.units[-1] if self.units else None
        if unit is None:
            return
        if not unit.executable:
            if _NESTED.match(text):
                unit.nested += 1
            elif _END_NESTED.match(text):
                unit.nested -= 1
            elif not unit.nested and not _SPECIFICATION.match(text) and not _END.match(text) and text != "contains":
                self._begin(statement, unit)
        if _END.match(text) and not unit.nested:
            self._close_unit(statement)
        elif text == "contains" and unit.executable:
            self._leave_unit(statement)
            unit.executable = False
            unit.nested = 0
            self.blocks.append(_Block(None, "contains"))
        elif unit.executable:
            self._executable(statement, unit)

    def _executable(self, statement: _Statement, unit: _Unit) -> None:
        if _END_DO.match(statement.text):
            self._end_do(statement, unit)
        elif _DO.match(statement.text):
            self._do(statement, unit)
        elif statement.text.endswith("return"):
            self._return(statement, unit)
        if self.pending is not None and not _DO.match(statement.text):
            self.pending = None

    def _open_unit(self, statement: _Statement, match: re.Match[str], *, silent: bool) -> None:
        if self.units and self.units[-1].nested:
            self.units[-1].nested += 1  # the heading of an interface body; its end counts down
            return
        region = None
        if not silent:
            region = self._region("function", f"function {match[2]}", statement.first)
        self.units.append(_Unit(len(self.blocks), silent=silent))
        self.blocks.append(_Block(region, "unit"))

    def _begin(self, statement: _Statement, unit: _Unit) -> None:
        """Enter the unit's region before its first executable statement."""
        unit.executable = True
        block = self.blocks[unit.depth]
        if block.region is not None and not statement.labelled:
            unit.before.append((statement.first, "enter", block.region.id, True))
        else:
            block.region = None

    def _leave_unit(self, statement: _Statement) -> None:
        unit = self.units[-1]
        unit.broken |= len(self.blocks) != unit.depth + 1
        block = self.blocks[unit.depth]
        if block.region is not None and not statement.labelled:
            unit.before.append((statement.first, "leave", block.region.id, False))
            self._end_line(block.region, statement.last)

    def _close_unit(self, statement: _Statement) -> None:
        unit = self.units[-1]
        if self.blocks and self.blocks[-1].what == "contains":
            self.blocks.pop()
        elif unit.executable:
            self._leave_unit(statement)
        if unit.broken or len(self.blocks) != unit.depth + 1:
            message = "a program unit left without probes: its loops and constructs do not pair up"
            self.faults.append(Fault(message, self.filename, statement.first, severity="remark"))
        else:
            self.kept += unit.before
        del self.blocks[unit.depth :]
        self.units.pop()
        self.pending = None

    def _return(self, statement: _Statement, unit: _Unit) -> None:
        region = self.blocks[unit.depth].region
        if region is None or statement.first != statement.last:
            return
        match = _RETURN.match(self.lines[statement.first - 1])
        if match is None or statement.labelled:
            return
        if match[2] and self.fixed and len(match[2]) > _FIXED_ROOM:
            return
        if match[2]:
            unit.before.append((statement.first, f"if {match[2][2:].lstrip()} leave", region.id, False))
        else:
            unit.before.append((statement.first, "leave", region.id, False))

    # -- loops and constructs ----------------------------------------------------------------------------------

    def _do(self, statement: _Statement, unit: _Unit) -> None:
        inside = any(block.what == "do" for block in self.blocks[unit.depth :])
        region = None
        wanted = self.detail == "all" or (self.detail == "outer" and not inside)
        construct = self.pending
        if construct is None and wanted and not statement.labelled and not unit.silent:
            region = self._region("loop", f"loop {self._name(unit)}:{statement.first}", statement.first)
            unit.before.append((statement.first, "enter", region.id, True))
        if construct is not None:
            self.blocks.append(construct)
            self.pending = None
        self.blocks.append(_Block(region, "do"))

    def _end_do(self, statement: _Statement, unit: _Unit) -> None:
        if len(self.blocks) <= unit.depth + 1 or self.blocks[-1].what != "do":
            unit.broken = True
            return
        block = self.blocks.pop()
        if block.region is not None:
            self._close(block.region, statement, unit)
        if self.blocks[-1].loop:
            construct = self.blocks.pop()
            if construct.region is not None:
                last = self._matching_end(statement.last, construct.what)
                self._close(construct.region, _Statement(last, last, ""), unit)

    def _matching_end(self, line: int, words: str) -> int:
        """Return the line of the directive that ends a construct right after its loop, or *line* if there is none."""
        for number in range(line + 1, min(line + 4, len(self.lines)) + 1):
            text = self.lines[number - 1].strip().lower()
            match = _DIRECTIVE.match(text)
            if match is not None and match[1].startswith("end"):
                return number if words.split()[0] in match[1] else line
            if text and not text.startswith(("!", "c ", "*")):
                break
        return line

    def _directive(self, statement: _Statement) -> None:
        unit = self.units[-1] if self.units else None
        text = statement.text
        if unit is None or not unit.executable:
            if unit is None or unit.nested or text.startswith(("threadprivate", "declare", "requires", "end")):
                return
            self._begin(statement, unit)
        words = re.split(r"[^a-z]", text)
        if words[0] == "end" or text.startswith("end"):
            self._end_construct(statement, unit)
            return
        name = [word for word in re.match(r"[a-z ]*", text)[0].split() if word in (*_KINDS, *_SILENT, "barrier")]  # type: ignore[index]
        name = name[:3]
        if not name or self.detail == "functions":
            return
        if name[0] == "barrier":
            region = self._region("barrier", f"barrier {self._name(unit)}:{statement.first}", statement.first)
            unit.before.append((statement.first, "enter", region.id, True))
            self._close(region, statement, unit)
            return
        loop = bool(_LOOPING & set(name))
        if loop and self.pending is not None:
            return  # a directive from another reading, for the same loop
        silent = bool(_SILENT & set(name))
        if silent and not loop:
            return
        kind = next((kind for word, kind in _KINDS.items() if word in name), "")
        region_of = None
        if not silent and kind:
            title = " ".join(name)
            region_of = self._region(kind, f"{title} {self._name(unit)}:{statement.first}", statement.first)
            unit.before.append((statement.first, "enter", region_of.id, True))
        block = _Block(region_of, " ".join(name), loop=loop)
        if loop:
            self.pending = block
        else:
            self.blocks.append(block)

    def _end_construct(self, statement: _Statement, unit: _Unit) -> None:
        words = re.sub(r"^end\s*", "", statement.text)
        block = self.blocks[-1] if self.blocks else None
        if block is None or block.what in ("unit", "do", "contains") or block.loop or _LOOPING & set(words.split()):
            return  # the end of a loop's construct, closed with its loop
        if not words.startswith(block.what.split()[0]):
            unit.broken |= words.split(" ")[0] in _KINDS
            return
        self.blocks.pop()
        if block.region is not None:
            self._close(block.region, statement, unit)

    def _close(self, region: SourceRegion, statement: _Statement, unit: _Unit) -> None:
        unit.before.append((statement.last + 1, "leave", region.id, False))
        self._end_line(region, statement.last)

    # -- regions and text --------------------------------------------------------------------------------------

    def _name(self, unit: _Unit) -> str:
        region = self.blocks[unit.depth].region
        return region.name.removeprefix("function ") if region is not None else "?"

    def _region(self, kind: str, name: str, line: int) -> SourceRegion:
        parent = next((block.region.id for block in reversed(self.blocks) if block.region is not None), 0)
        made = SourceRegion(
            id=len(self.regions) + 1, kind=kind, name=name, file=self.filename, line=line, end_line=line, parent=parent
        )
        self.regions.append(made)
        return made

    def _end_line(self, region: SourceRegion, line: int) -> None:
        self.regions[region.id - 1] = region._replace(end_line=line)

    def _insertions(self) -> Iterator[Insertion]:
        starts = [0]
        for text in self.lines:
            starts.append(starts[-1] + len(text.encode("utf-8", "surrogateescape")) + 1)
        indent = "      "
        ordered = sorted(enumerate(self.kept), key=lambda item: (item[1][0], item[1][3], item[0]))
        for _, (line, words, number, opens) in ordered:
            call = words.replace("enter", "call scalegraph_enter").replace("leave", "call scalegraph_leave")
            marker = f'# {line} "{self.filename}"'
            code = f"{indent}{call}({number})\n{marker}\n"
            offset = min(starts[line - 1] if line <= len(self.lines) else starts[-1], starts[-1])
            yield Insertion(offset, code, number, line, opens=opens)


def _statements(lines: Sequence[str], *, fixed: bool) -> Iterator[_Statement]:
    """Yield statements and OpenMP directives; skip comments and preprocessor lines."""
    current: _Statement | None = None
    open_ = False  # the preceding free-form line ended in &
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        directive = _DIRECTIVE.match(stripped)
        if not stripped or line.startswith("#") or (directive is None and _is_comment(line, fixed=fixed)):
            continue
        text = directive[1] if directive is not None else _without_comment(stripped)
        continues = _continues(line, stripped, fixed=fixed, directive=directive is not None) if fixed else open_
        if continues and current is not None and current.directive == (directive is not None):
            current.text += " " + text.rstrip("&").strip().lstrip("&").lower()
            current.last = number
        else:
            if current is not None:
                yield from _parts(current)
            label = re.match(r"^(\d+)\s+", text) if directive is None else None
            body = text[label.end() :] if label is not None else text
            current = _Statement(
                number, number, body.rstrip("&").strip().lower(), directive is not None, label is not None
            )
        open_ = text.rstrip().endswith("&")
    if current is not None:
        yield from _parts(current)


def _parts(statement: _Statement) -> Iterator[_Statement]:
    """Split a line with semicolons into labelled statements, so that nothing is planted next to them."""
    parts = [part.strip() for part in statement.text.split(";")]
    if len(parts) == 1 or statement.directive or "'" in statement.text or '"' in statement.text:
        yield statement
        return
    for part in filter(None, parts):
        yield _Statement(statement.first, statement.last, part, labelled=True)


def _is_comment(line: str, *, fixed: bool) -> bool:
    return line.lstrip().startswith("!") or (fixed and line[:1] in "cC*dD!")


def _continues(line: str, stripped: str, *, fixed: bool, directive: bool) -> bool:
    if directive:
        return len(stripped) > 5 and stripped[5] not in " 0"
    return fixed and not line.startswith("\t") and len(line) > 5 and line[5] not in " 0" and line[:5].strip() == ""


def _without_comment(text: str) -> str:
    """Return a line without its trailing comment."""
    quote = ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "!":
            return text[:at].rstrip()
    return text
