"""The instrumentation preprocessor: C or C++ source in, the same program with region probes out.

After the Scale-Graph paper, section 4.1: a syntax analyser that plants trace code. A probe is a scope variable whose
clean-up leaves the region (see runtime/csrc/core/sg_probe.h), so ``return``, ``break`` and ``goto`` need no care.
Braces go on existing lines; where a directive forbids that, a ``#line`` keeps the numbers right.

No probe, so that the cost goes to the enclosing region, is given to functions with neither loop nor call nor OpenMP
construct and at most `tree.SMALL_FUNCTION_STATEMENTS` statements; to loops that are the target of a jump from outside;
and to anything the parser is not sure of (with a remark).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from scalegraph.base.errors import Fault
from scalegraph.base.source_regions import SourceRegion
from scalegraph.instrument.conditionals import Conditionals
from scalegraph.instrument.conditionals import Reading as Branches
from scalegraph.instrument.insertions import Insertion, Place, Places, Probe, apply, line_directive
from scalegraph.instrument.lexer import scan
from scalegraph.instrument.phases import find_phases
from scalegraph.instrument.pragmas import phase_mark
from scalegraph.instrument.syntax import Detail, Reader, Reading, Site
from scalegraph.runtime.languages import FIXED_FORM, Language, language_of

if TYPE_CHECKING:
    from scalegraph.base.run import Region

_PROGRAM = SourceRegion(0, "program", "program")


@dataclass(frozen=True, slots=True)
class Instrumented:
    """Result of the preprocessor.

    *text* compiles as a file of its own: its first line is a ``#line`` that names the original. *marked* are the
    regions, of which the first is the program (id 0). *faults*: errors in phase marks, and remarks on code left without
    probes.
    """

    text: str
    marked: list[SourceRegion]
    faults: list[Fault] = field(default_factory=list)
    insertions: list[Insertion] = field(default_factory=list)
    original: str = ""

    @property
    def regions(self) -> list[Region]:
        """The regions as those of a run."""
        from scalegraph.base.run import Region

        return [Region(**region._asdict()) for region in self.marked]

    @property
    def errors(self) -> list[Fault]:
        """Faults that are more than remarks."""
        return [fault for fault in self.faults if fault.severity != "remark"]


def instrument_source(
    text: str,
    filename: str,
    *,
    detail: Detail = "outer",
    language: Language | None = None,
    working: frozenset[str] = frozenset(),
    hiding: frozenset[str] = frozenset(),
) -> Instrumented:
    """Plant region probes in the source *text*, named *filename* in diagnostics and for its language if none is given.

    *detail*: ``functions`` only; ``outer`` adds OpenMP constructs, barriers and loops that are outermost or contain
    constructs; ``all`` adds every loop. Region ids count from 1 in every file; the linker makes them unique in a
    program (see ``units.py``). *working*: functions of the program's headers whose calls are regions
    (`headers.working`), except with ``functions``; *hiding*: macros defined elsewhere that hide braces
    (`headers.hiding`): functions that use them are left alone. User phases are always planted.
    Never raises for a bad source.
    """
    language = language or language_of(filename)
    if language == "fortran":
        return _fortran(text, filename, detail)
    cplusplus = language == "c++"
    data = text.encode("utf-8", "surrogateescape")
    lexed = scan(data, cplusplus=cplusplus)
    conditionals = Conditionals(lexed, cplusplus=cplusplus)
    comments = [(c, mark) for c in lexed.comments if (mark := phase_mark(c)) is not None]
    marks = [mark for d in lexed.directives if (mark := phase_mark(d)) is not None] + [m for _, m in comments]
    marks.sort(key=lambda mark: mark.start)
    places = Places(lexed, conditionals, filename, [(comment.end, comment.is_line) for comment, _ in comments])
    readings: list[tuple[Branches, Reading]] = []
    for view in conditionals.readings():
        reader = Reader(
            lexed, conditionals, view, filename, detail, cplusplus=cplusplus, working=working, hiding=hiding
        )
        readings.append((view, reader.read()))
    sites, faults = _agreed(readings, conditionals)
    probes = [probe for site in sites if (probe := _probe(site, places, conditionals)) is not None]
    phases, phase_faults = find_phases(marks, readings, conditionals, places, filename)
    probes = _nested([*probes, *phases])
    regions, insertions = _number(probes, places, filename)
    body = apply(data, insertions)
    faults = sorted([*phase_faults, *faults], key=lambda fault: fault.line or 0)
    return Instrumented(f"{line_directive(1, filename)}\n{body}", regions, faults, insertions, text)


def _fortran(text: str, filename: str, detail: Detail) -> Instrumented:
    from scalegraph.instrument.fortran import fortran_regions

    fixed = PurePath(filename).suffix in FIXED_FORM
    regions, insertions, faults = fortran_regions(text, filename, detail=detail, fixed=fixed)
    body = apply(text.encode("utf-8", "surrogateescape"), insertions)
    marked = f'# 1 "{filename}"\n{body}'
    return Instrumented(marked, [_PROGRAM, *regions], faults, insertions, text)


def _agreed(readings: Sequence[tuple[Branches, Reading]], conditionals: Conditionals) -> tuple[list[Site], list[Fault]]:
    """Return the sites that no reading containing their place contradicts, and all remarks."""
    sites: list[Site] = []
    faults: list[Fault] = []
    known: dict[int, list[Site]] = {}  # by their starts
    for _, reading in readings:
        for site in reading.sites:
            same = known.setdefault(site.start, [])
            seen = [other for view, other in readings if conditionals.is_read(site.start, view)]
            if site not in same and all(site.end in other.extents.get(site.start, ()) for other in seen):
                sites.append(site)
                same.append(site)
        faults += [fault for fault in reading.remarks if fault not in faults]
    # A loop may have a pragma in only one of the readings; nothing may come between the two.
    glued = {site.start for site in sites if site.lead is not None}
    return [site for site in sites if site.kind != "loop" or site.lead is not None or site.start not in glued], faults


def _probe(site: Site, places: Places, conditionals: Conditionals) -> Probe | None:
    """Return the probe for *site*, None if its braces would be in different branches."""
    if site.inner:
        return Probe(site, Place(site.start + 1))
    if site.tail is not None:
        opening, closing = places.before(site.tail, site.start), places.after(site.tail)
    else:
        opening = Place(site.start) if site.lead is None else places.before(site.lead, site.start)
        closing = Place(site.end)
    inside = conditionals.context(site.start)
    ends = {conditionals.context(site.end - 1), conditionals.context(opening.offset)}
    ends.add(conditionals.context(closing.offset))
    return Probe(site, opening, closing) if ends == {inside} else None


def _nested(probes: list[Probe]) -> list[Probe]:
    """Return *probes*, outer before inner, without those that overlap another only partly."""
    kept: list[Probe] = []
    stack: list[Probe] = []
    for probe in sorted(probes, key=lambda p: (p.site.start, -p.site.end, p.site.order, p.site.line)):
        while stack and stack[-1].site.end <= probe.site.start:
            stack.pop()
        if not stack or probe.site.end <= stack[-1].site.end:
            kept.append(probe)
            stack.append(probe)
    return kept


def _number(probes: Sequence[Probe], places: Places, filename: str) -> tuple[list[SourceRegion], list[Insertion]]:
    """Assign ids in source order and write the insertions."""
    regions = [_PROGRAM]
    keyed: list[tuple[tuple[int, int, int], Insertion]] = []
    stack: list[tuple[int, int]] = []  # (end, id) of the enclosing regions
    line = places.lexed.line
    for number, probe in enumerate(probes, 1):
        site = probe.site
        while stack and stack[-1][0] <= site.start:
            stack.pop()
        parent = stack[-1][1] if stack else _PROGRAM.id
        stack.append((site.end, number))
        regions.append(
            SourceRegion(
                id=number,
                kind=site.kind,
                name=site.name,
                file=filename,
                line=site.line,
                end_line=line(site.end - 1),
                parent=parent,
            )
        )
        opening, closing = probe.code(number)
        text = places.text(probe.opening, opening)
        at = probe.opening.offset
        keyed.append(((at, 1, number), Insertion(at, text, number, line(at), opens=True)))
        if probe.closing is not None:
            text = places.text(probe.closing, closing)
            at = probe.closing.offset
            keyed.append(((at, 0, -number), Insertion(at, text, number, line(at), opens=False)))
    all_places = [place for probe in probes for place in (probe.opening, probe.closing) if place is not None]
    for at in {turn for place in all_places for turn in places.resynchronised(place)}:
        text = f"{line_directive(line(at), filename)}\n"
        keyed.append(((at, -1, 0), Insertion(at, text, _PROGRAM.id, line(at), opens=False)))
    return regions, [insertion for _, insertion in sorted(keyed, key=lambda pair: pair[0])]
