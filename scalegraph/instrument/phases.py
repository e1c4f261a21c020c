"""User phases: pairs of marks in a program, checked for nesting and placement."""

from __future__ import annotations

from collections.abc import Sequence

from scalegraph.base.errors import Fault
from scalegraph.instrument.conditionals import Conditionals
from scalegraph.instrument.conditionals import Reading as Branches
from scalegraph.instrument.insertions import Place, Places, Probe
from scalegraph.instrument.lexer import Directive
from scalegraph.instrument.pragmas import PhaseMark
from scalegraph.instrument.syntax import Reading, Site


def find_phases(
    marks: Sequence[PhaseMark],
    readings: Sequence[tuple[Branches, Reading]],
    conditionals: Conditionals,
    places: Places,
    filename: str,
) -> tuple[list[Probe], list[Fault]]:
    """Pair the *marks* (in order of place); return a probe for each phase and a fault for each wrong mark."""
    faults: list[Fault] = []
    probes: list[Probe] = []
    open_: list[PhaseMark] = []

    def refuse(mark: PhaseMark, message: str) -> None:
        faults.append(Fault(message, filename, _line(places, mark)))

    for mark in marks:
        if mark.problem:
            refuse(mark, mark.problem)
        if mark.name is not None:
            open_.append(mark)
        elif mark.problem:
            continue
        elif not open_:
            refuse(mark, "phase end without a phase before it")
        else:
            begin = open_.pop()
            made = _phase(begin, mark, readings, conditionals, places)
            if isinstance(made, Probe):
                probes.append(made)
            elif not begin.problem:
                refuse(begin, made)
    for mark in open_:
        refuse(mark, f"phase '{mark.name}' has no end")
    return probes, faults


def _line(places: Places, mark: PhaseMark) -> int:
    data, at = places.lexed.data, mark.start
    while at < mark.end and data[at] in b" \t":
        at += 1
    return places.lexed.line(at)


def _phase(
    begin: PhaseMark,
    end: PhaseMark,
    readings: Sequence[tuple[Branches, Reading]],
    conditionals: Conditionals,
    places: Places,
) -> Probe | str:
    """Return the probe of a pair of marks, or a sentence saying why there is none."""
    what = f"phase '{begin.name}'"
    if conditionals.context(begin.start) != conditionals.context(end.start):
        return f"{what} begins and ends in different #if branches"
    reading = next((r for view, r in readings if conditionals.is_read(begin.start, view)), readings[0][1])
    for mark, does in ((begin, "begins"), (end, "ends")):
        if directive := _awaiting(reading, mark):
            return f"{what} {does} between the directive on line {places.lexed.line(directive.start)} and its statement"
    block = _block(reading, begin)
    if block is None:
        return f"{what} does not begin between statements of a function"
    if block != _block(reading, end):
        return f"{what} does not end in the block it begins in: its end is on line {_line(places, end)}"
    if label := _entered(reading, begin.start, end.start):
        return f"{what} is entered by a jump to '{label}' from outside"
    within = [span for span in reading.declarations if begin.start < span[0] < end.start]
    declares = any(_smallest(reading.blocks, start) == block for start, _ in within)
    jumps = [at for at in reading.jumps if begin.start < at < end.start]
    if declares and jumps:
        return (
            f"{what} declares variables and is left by a jump (line {places.lexed.line(jumps[0])}); "
            "put the phase into braces of its own"
        )
    site = Site("phase", f"phase {begin.name}", begin.start, end.end, line=_line(places, begin), order=-1)
    return Probe(site, _place(places, begin), _place(places, end), calls=declares)


def _entered(reading: Reading, start: int, end: int) -> str:
    """Return a label between two offsets that is the target of a jump from outside, "" if there is none."""
    from_outside = {name for name, at in reading.gotos if not start < at < end}
    return next((name for name, at in reading.labels if start < at < end and from_outside & {name, "*"}), "")


def _place(places: Places, mark: PhaseMark) -> Place:
    if isinstance(mark.source, Directive):
        return places.before(mark.source, mark.start)
    return Place(mark.start)


def _block(reading: Reading, mark: PhaseMark) -> tuple[int, int] | None:
    """Return the statement list that contains *mark*, None inside a statement or outside functions."""
    block = _smallest(reading.blocks, mark.start)
    if block is None:
        return None
    nested = [span for span in reading.statements if span not in reading.blocks and block[0] < span[0] <= mark.start]
    return None if any(mark.start < end for _, end in nested) else block


def _awaiting(reading: Reading, mark: PhaseMark) -> Directive | None:
    """Return the directive whose statement comes only after *mark*."""
    return next((s.lead for s in reading.sites if s.lead and s.lead.start < mark.start < s.start), None)


def _smallest(spans: Sequence[tuple[int, int]], offset: int) -> tuple[int, int] | None:
    around = [span for span in spans if span[0] < offset < span[1]]
    return min(around, key=lambda span: span[1] - span[0], default=None)
