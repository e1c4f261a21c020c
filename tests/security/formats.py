"""Samples of the formats that are neither traces of other tools nor measurements: tables, executables, older files."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

from scalegraph.base.resources import resource_dir
from scalegraph.instrument import units
from scalegraph.instrument.units import Unit, assembler, read_units
from scalegraph.measurements.mapping import Unanswered
from scalegraph.measurements.model import check
from scalegraph.request import Session
from scalegraph.request.imports import sets
from scalegraph.store import Study
from scalegraph.traces.kinds import Wait, What
from tests.measurements.samples import SAMPLES, write
from tests.traces.made import build
from tests.traces.test_formats import written

Use: TypeAlias = Callable[[Path], object]
Sample: TypeAlias = tuple[Callable[[Path], Path], Use]
TESTS: Final = Path(__file__).parents[1]
SHOWN: Final[list[Callable[[Study], object]]] = []  # what else can be made from a study of measurements

WIDE: Final = """\
# strong scaling, node 7
threads;kind;size;"time [s], all";GFlop/s
1;a;100;8,5;1,0
2;a;100;4,6;1,9
4;a;100;2,9;3,0
1;b;200;17;1,0
2;b;200;9;1,9
"""
RUNS: Final = """\
program,machine,processors,param.n,repetition,status,time_s,time_cycles,clock_hz,work_ops,busy_s,idle_s,leaf.busy_int
ge1,ksr1,1,28,0,ok,0.5,10000000,2e7,640000,0.4,0,8000000
ge1,ksr1,2,28,0,ok,0.3,6000000,2e7,640000,0.4,0.1,8000000
ge1,ksr1,4,28,0,failed,,,2e7,,,,
"""
JOBS: Final = """JobID|JobName|AllocCPUS|Elapsed|State|ExitCode
41|heat|1|00:16:40|COMPLETED|0:0
41.batch|batch|1|00:16:40|COMPLETED|0:0
42|heat|4|00:04:22|COMPLETED|0:0
43|heat|16|1-00:01:16|TIMEOUT|0:1
44|heat|16|00:01:16|COMPLETED|0:0
"""
_UNIT: Final = Unit("/home/u", "a.c", "int main(void)\n{\n  return 0;\n}\n", "instrumented", (), ("a remark",))


def _study_shown(study: Study) -> None:
    """Make the run table of a study, whose measurements may have got a different meaning."""
    with study:
        data = Session().study_data(study)
        assert data.table is not None
        sets.notes(study)
        for show in SHOWN:
            show(study)


def _answered(study_of: Callable[[dict[str, Any]], Study]) -> None:
    """Show a study of measurements, taking the first answer to each question."""
    said: dict[str, Any] = {}
    for _ in range(5):
        try:
            return _study_shown(study_of(said))
        except Unanswered as asked:
            answers = {one.key: one.choices[0] for one in asked.questions if one.choices}
            answers |= {"clock_hz": 20e6} if any(one.key == "clock_hz" for one in asked.questions) else {}
            answers = {key: answer for key, answer in answers.items() if key not in said}
            if not answers:
                raise
            said |= answers
    return None


def _opened(path: Path) -> None:
    _answered(lambda said: sets.opened([path], said=said))


def measurement(name: str) -> Sample:
    """Return the measurement sample *name*: read with its own reader, and imported as a user would."""
    reader, _, _ = SAMPLES[name]

    def use(path: Path) -> None:
        measured = sets.read_set([path], name=reader)
        check(measured)

        def study(said: dict[str, Any]) -> Study:
            guess = sets.answered(measured, said)
            return sets.study_of(guess.measured, guess.mapping)

        _answered(study)

    return (lambda place: write(name, place)), use


def _text(name: str, text: str, use: Use) -> Sample:
    def make(place: Path) -> Path:
        (place / name).write_text(text, encoding="utf-8")
        return place / name

    return make, use


def _copied(source: Path, use: Use) -> Sample:
    return (lambda place: Path(shutil.copy(source, place))), use


def few_events(place: Path) -> Path:
    """Write an OTF2 archive of ours with calls, a wait and a mark; the other kinds are kept as they are."""
    calls = [(0, 0, What.ENTER, 0), (90, 0, What.LEAVE, 0), (5, 1, What.ENTER, 0), (80, 1, What.LEAVE, 0)]
    waits = [(20, 30, 0, 1, Wait.BARRIER, 7, 2, 28)]
    return written(build({"calls": calls, "waits": waits, "marks": [(70, 1, 2, 99)]}), place / "a.otf2")


def executable(units_of: bytes) -> bytes:
    """Return an ELF file of x86-64 that has a section of names and one with *units_of*, and no code."""
    names = f"\0.shstrtab\0{units.UNITS}\0".encode()
    head, size = 64, 64
    at = head + len(names)
    sections = (
        (0, 0, 0, 0),
        (1, 3, head, len(names)),
        (names.index(units.UNITS.encode()), 1, at, len(units_of)),
    )
    table = b"".join(struct.pack("<IIQQQQIIQQ", *one[:2], 0, 0, *one[2:], 0, 0, 1, 0) for one in sections)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    start = at + len(units_of)
    return (
        ident
        + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, start, 0, head, 0, 0, size, len(sections), 1)
        + names
        + units_of
        + table
    )


def unit_section(unit: Unit = _UNIT) -> bytes:
    """Return the bytes that the assembler would put into the section for *unit*."""
    lines = assembler(unit)
    text = "".join(line.split('"')[1] for line in lines if line.startswith(".ascii"))
    count = max((region.id for region in unit.regions), default=0)
    return struct.pack("<II", count, len(text)) + text.encode()


def _executable(place: Path) -> Path:
    path = place / "a.out"
    path.write_bytes(executable(unit_section()))
    return path


def _use_executable(path: Path) -> None:
    (one,) = read_units(path) or [None]
    assert one is None or isinstance(one.unit, Unit)


def samples() -> dict[str, Sample]:
    """Return the samples by name: a function that makes each in a directory, and one that uses it."""
    published = resource_dir("published")
    return {
        "table": _text("t.csv", WIDE, _opened),
        "table of jobs": _text("jobs.txt", JOBS, _opened),
        "table of runs": _text("runs.csv", RUNS, _opened),
        "published matrix": _copied(published / "latency-metric-table-2.csv", _opened),
        "published table": _copied(published / "isospeed-table-1.csv", _opened),
        "executable": (_executable, _use_executable),
    }
