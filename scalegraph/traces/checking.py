"""Checks of a trace: every violated rule, how often, and the first place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.base.units import thousands
from scalegraph.traces import relations
from scalegraph.traces.bounds import references
from scalegraph.traces.conservation import Conservation
from scalegraph.traces.kinds import KINDS, NO_TIME, NOBODY, Array, Columns, LockStep, Operation, TaskStep, Wait, What
from scalegraph.traces.lod.streams import by_location
from scalegraph.traces.model import Trace
from scalegraph.traces.nesting import match

# how a row breaks each rule, as the end of a sentence
RULES = {
    "numbers": "refers to a definition that is not there",
    "values": "has a value that the specification does not name",
    "clock": "is earlier than the event before it",
    "run": "lies outside the run",
    "interval": "ends before it begins",
    "leave_without_enter": "leaves a region that was not entered",
    "leave_of_other_region": "leaves another region than the one entered last",
    "enter_without_leave": "enters a region that is never left",
    "receive_before_send": "is received before it is sent",
    "send_without_receive": "is sent but never received",
    "receive_without_send": "is received but never sent",
    "collective_members": "took part in another number of collective operations than other members",
    "overlap": "begins before the one before it ends",
    "shares": "begins a stretch whose shares do not add up to its length",
    "release_without_acquire": "releases a lock that it does not hold",
    "task_without_creation": "runs or ends a task that was not created",
    "task_created_twice": "creates a task whose number is taken",
    "waits_for_itself": "waits for itself",
    "accounting": "has an accounting that cannot be read",
    "gap": "leaves time in no share, though there is an accounting",
    "conservation": "has other sums of shares than the accounting",
    "conservation_by_region": "has other sums of shares than the accounting",
    "released": "is released before it begins or after it ends",
}
_VALUES = {
    "calls": ("what", What),
    "waits": ("why", Wait),
    "tasks": ("what", TaskStep),
    "locks": ("what", LockStep),
    "collectives": ("operation", Operation),
}
_IN_ORDER = ("calls", "counters", "tasks", "locks", "marks", "states", "waits", "collectives", "shares")


@dataclass
class Violation:
    """A rule that *count* rows of *kind* break; *location*, *time* (ticks) and *row* are of the first.

    A violation by no single row has row -1, and a *text* of its own.
    """

    rule: str
    kind: str
    count: int
    location: str
    time: int
    row: int
    detail: str = ""
    text: str = ""

    def sentence(self) -> str:
        """Return the violation as a sentence."""
        more = f", and {thousands(self.count - 1)} more" if self.count > 1 else ""
        if self.text:
            return f"{self.kind}: {self.text}{more}"
        time = "an unknown time" if self.time == NO_TIME else f"tick {self.time}"
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.kind}: row {self.row} of {self.location} at {time} {RULES[self.rule]}{detail}{more}"


@dataclass
class Report:
    """The result of `check`; *checked*: number of rows examined, by kind."""

    violations: list[Violation] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether there are no violations."""
        return not self.violations


@dataclass
class Found:
    """Collects violations while the parts are examined in turn."""

    trace: Trace
    by_rule: dict[tuple[str, str], Violation] = field(default_factory=dict)

    def add(self, rule: str, kind: str, bad: Array, columns: Columns, first_row: int, detail: str = "") -> None:
        """Count the rows of *columns* where *bad* holds; *first_row* is the number of their first row."""
        count = int(np.count_nonzero(bad))
        if not count:
            return
        known = self.by_rule.get((rule, kind))
        if known is not None:
            known.count += count
            return
        at = int(np.argmax(bad))
        who = int(columns[KINDS[kind].whose[0]][at])
        time = int(columns[KINDS[kind].begin][at])
        self.one(rule, kind, who, time, first_row + at, count, detail)

    def one(self, rule: str, kind: str, who: int, time: int, row: int, count: int = 1, detail: str = "") -> None:
        """Count *count* rows, the first of which is *row* of location *who*."""
        known = self.by_rule.get((rule, kind))
        if known is not None:
            known.count += count
            return
        locations = self.trace.definitions.locations
        name = f"'{locations[who].name}'" if 0 <= who < len(locations) else f"location {who}"
        self.by_rule[rule, kind] = Violation(rule, kind, count, name, time, row, detail)

    def said(self, rule: str, kind: str, text: str, count: int, location: str, time: int | None, row: int) -> None:
        """Count *count* violations of *rule*; *text* describes the first."""
        known = self.by_rule.get((rule, kind))
        if known is not None:
            known.count += count
            return
        when = NO_TIME if time is None else time
        self.by_rule[rule, kind] = Violation(rule, kind, count, location, when, row, text=text)


def check(
    trace: Trace, cancel: CancelToken | None = None, progress: Callable[[float], None] = lambda _share: None
) -> Report:
    """Check every row of *trace* and return the violations of `RULES`. Memory is bounded by the size of a part."""
    found = Found(trace)
    report = Report()
    total = sum(trace.counts().values()) or 1
    done = 0
    for kind in KINDS:
        last = np.full(len(trace.definitions.locations), NO_TIME, np.int64)
        calls, relation = _Calls(found), relations.relation(kind, found)
        sums = Conservation(found) if kind == "shares" else None
        row = 0
        for columns in trace.chunks(kind):
            if cancel is not None:
                cancel.check()
            known = _plain(found, kind, columns, row)
            if kind in _IN_ORDER:
                _clock(found, kind, columns, row, last, known)
            if kind == "calls":
                calls.look(columns, row)
            relation.look(columns, row)
            if sums is not None:
                sums.look(columns, row)
            row += len(columns[KINDS[kind].begin])
            progress((done + row) / total)
        calls.end()
        relation.end()
        if sums is not None:
            sums.end()
        done += row
        if row:
            report.checked[kind] = row
    report.violations = sorted(found.by_rule.values(), key=lambda one: (-one.count, one.kind, one.rule))
    return report


def _plain(found: Found, kind: str, columns: Columns, row: int) -> Array:
    """Check each row by itself; return which rows name an existing location."""
    spec, definitions, meta = KINDS[kind], found.trace.definitions, found.trace.meta
    located = np.ones(len(columns[spec.begin]), bool)
    bad = np.zeros(len(located), bool)
    for name, limits in references(kind, definitions).items():
        outside = limits.broken(columns[name])
        bad |= outside
        if name == spec.whose[0]:
            located &= ~outside & (columns[name] >= 0)
    found.add("numbers", kind, bad, columns, row)
    if kind in _VALUES:
        name, values_known = _VALUES[kind]
        found.add("values", kind, ~np.isin(columns[name], [int(value) for value in values_known]), columns, row)
    outside = np.zeros(len(located), bool)
    for name in spec.times:
        times = columns[name]
        outside |= ((times < meta.begin) | (times > meta.end)) & ((times != NO_TIME) | (name not in spec.lacking))
    found.add("run", kind, outside, columns, row)
    if "end" in columns:
        found.add("interval", kind, columns["end"] < columns["begin"], columns, row)
    return located


def _clock(found: Found, kind: str, columns: Columns, row: int, last: Array, located: Array) -> None:
    """Check that time does not go back, and that states do not overlap; *last* carries over from part to part."""
    rows = np.flatnonzero(located)
    if not len(rows):
        return
    owner, time = columns["location"][rows], columns[KINDS[kind].begin][rows]
    order = by_location(owner)
    owner, time, rows = owner[order], time[order], rows[order]
    new = np.r_[True, owner[1:] != owner[:-1]]
    before = np.r_[np.int64(NO_TIME), time[:-1]]
    before[new] = last[owner[new]]
    bad = np.zeros(len(located), bool)
    bad[rows] = time < before
    found.add("clock", kind, bad, columns, row)
    ends = np.r_[owner[1:] != owner[:-1], True]
    last[owner[ends]] = time[ends]


class _Calls:
    """Nesting of enters and leaves; regions open at the end of a part carry over to the next."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._open: Columns = {}

    def look(self, columns: Columns, row: int) -> None:
        """Check a part whose first row has the number *row*."""
        count = len(columns["time"])
        now = {name: columns[name] for name in ("time", "location", "region")}
        now["row"] = np.arange(row, row + count, dtype=np.int64)
        enters = columns["what"] == What.ENTER
        if self._open:
            now = {name: np.concatenate([self._open[name], values]) for name, values in now.items()}
            enters = np.concatenate([np.ones(len(now["time"]) - count, bool), enters])
        partner, _ = match(now["location"], enters)
        carried = len(enters) - count
        lone = (partner < 0) & ~enters
        self._found.add("leave_without_enter", "calls", lone[carried:], columns, row)
        region, other = now["region"], now["region"][partner]
        wrong = (partner >= 0) & ~enters & (region != other) & (region != NOBODY)
        self._found.add("leave_of_other_region", "calls", wrong[carried:], columns, row)
        still = (partner < 0) & enters
        self._open = {name: values[still] for name, values in now.items()}

    def end(self) -> None:
        """Check what is open at the end of the trace."""
        if self._open and len(self._open["row"]):
            first = {name: int(values[0]) for name, values in self._open.items()}
            regions = self._found.trace.definitions.regions
            name = f"'{regions[first['region']].name}'" if 0 <= first["region"] < len(regions) else ""
            self._found.one(
                "enter_without_leave",
                "calls",
                first["location"],
                first["time"],
                first["row"],
                len(self._open["row"]),
                name,
            )
