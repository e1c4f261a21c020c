"""Falsely shared cache lines: which variables and bytes, and where they are written."""

from __future__ import annotations

from pathlib import PurePath

from scalegraph.base.measures import percent
from scalegraph.base.run import LinePart, LineUser, RunRecord, SharedLine
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.memory import cause_words
from scalegraph.views.view import View

_NO_MISS = Need("No miss of this run is due to false sharing.", met=needs.run_with("shared_lines"))
_TITLE = "False sharing"
_LINES, _USERS = 20, 8


def _make(data: StudyData, processors: object = None, size: object = None, lines: int = _LINES) -> Figure:
    run = common.the_run(data, size, processors)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {run.point.processors}",
        _sentence(run),
        (_table(run.shared_lines[:lines]),),
        notes=(
            (
                f"Run: {run.point.label()}. Words have four bytes. Misses by false sharing would not occur if each"
                " processor's data were on lines of its own."
            ),
        ),
        meta={"run": run.point.key},
    )


def _false(line: SharedLine) -> int:
    return line.classes.get("false_sharing", 0)


def _sentence(run: RunRecord) -> str:
    worst = run.shared_lines[0]
    whole = sum(part.get("false_sharing", 0) for part in run.classes.values())
    misses = sum(sum(part.values()) for part in run.classes.values())
    share = whole / misses if misses else 0.0
    names = list(dict.fromkeys(part.variable for part in _written(worst)))
    by = len([user for user in worst.users if user.written]) + worst.more_users
    return (
        f"False sharing makes {percent(share)} of the misses on {run.point.processors} processors; the worst line has"
        f" {_false(worst)} of them: {' and '.join(names[:3]) or 'what lies there'}, written by {by} processors."
    )


def _written(line: SharedLine) -> list[LinePart]:
    """Return the parts of the line that are written."""
    spans = [span for user in line.users for span in user.written]
    return [part for part in line.parts if any(at < part.at + part.bytes and part.at < at + size for at, size in spans)]


def _table(lines: tuple[SharedLine, ...]) -> Table:
    columns = (
        Column("line, processor"),
        Column("false sharing", "misses", "primitive"),
        Column("all misses"),
        Column("written"),
        Column("only read"),
        Column("written at"),
        Column("read at"),
    )
    rows: list[Row] = []
    for line in lines:
        names = [f"{part.variable}{_offset(part)} ({part.bytes} B)" for part in _written(line)]
        tip = "\n".join(
            f"byte {part.at}: {part.variable}{_offset(part)}, {part.bytes} B"
            + (f", {part.file}:{part.line}" if part.file else "")
            for part in line.parts
        )
        total = sum(line.classes.values())
        rows.append(
            Row((f"0x{line.address:x}", _false(line), total, ", ".join(names), "", "", ""), key=_key(line), tip=tip)
        )
        rows.extend(_user(user) for user in line.users[:_USERS])
        more = len(line.users) - _USERS + line.more_users
        if more > 0:
            rows.append(Row((f"and {more} more", None, None, "", "", "", ""), 1))
    return Table(columns, tuple(rows))


def _offset(part: LinePart) -> str:
    if part.element:
        return part.element
    return f" +{part.offset}" if part.offset else ""


def _key(line: SharedLine) -> str:
    place = next((user.writer for user in line.users if user.writer), "")
    return place or hex(line.address)


def _user(user: LineUser) -> Row:
    values = (
        f"processor {user.processor}",
        None,
        None,
        ", ".join(user.wrote) or _bytes(user.written),
        ", ".join(user.used),
        _short(user.writer),
        _short(user.reader),
    )
    tip = f"reads {_bytes(user.read)}, writes {_bytes(user.written)}"
    return Row(values, 1, key=user.writer or user.reader, tip=tip)


def _bytes(spans: tuple[tuple[int, int], ...]) -> str:
    return ", ".join(f"bytes {at} to {at + size - 1}" for at, size in spans) or "nothing"


def _short(place: str) -> str:
    return PurePath(place).name if place else ""


VIEW = View(
    "false-sharing",
    _TITLE,
    "Lines that move back and forth between processors that use different parts of them: the variables on each, who"
    " writes which, and where.",
    _make,
    (
        common.PROCESSORS,
        common.SIZE,
        Option("lines", "Lines", "int", _LINES, description="how many of the worst lines", minimum=1),
    ),
    needs=(cause_words.CLASSES_NEEDED, _NO_MISS),
)
