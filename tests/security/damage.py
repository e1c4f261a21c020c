"""Damages samples of every format, outside (any byte) and inside (values, with correct checksums), and uses the result.

Whatever is damaged, a command must end with one of ScaleGraph's sentences or with a result. Any other error, an endless
loop and high memory use are failures.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import sqlite3
import struct
import traceback
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from scalegraph import machine
from scalegraph.base.errors import Fault, InputError, MissingTool, ScaleGraphError
from scalegraph.base.resources import resource_dir
from scalegraph.request import Session
from scalegraph.request.model import programs
from scalegraph.request.model.origin import of_study
from scalegraph.request.results import quantities, trace_quantities
from scalegraph.store import Study
from scalegraph.traces.checking import check as check_trace
from tests.measurements.samples import SAMPLES
from tests.security import formats
from tests.security.formats import TESTS, Sample, Use
from tests.security.samples import full_study
from tests.traces.test_damage import TRACES, attempt

LONGEST_S: Final = 20  # processor time of one use; a case that takes longer counts as an endless loop
WAYS: Final = ("cut", "flip", "zero", "zeros")
_HEADER: Final = struct.Struct("<4s4sQI4x16sQqq")  # header of a block in our own traces: docs/TRACES.md


def _text(name: str, source: Path, use: Use) -> Sample:
    def make(place: Path) -> Path:
        (place / name).write_bytes(source.read_bytes())
        return place / name

    return make, use


def _program(place: Path) -> Path:
    for name in ("ge1.toml", "ge1.c"):
        (place / name).write_bytes((programs.directory() / name).read_bytes())
    return place / "ge1.toml"


def _use_trace(path: Path) -> None:
    rows, sentences = attempt(path, partial=False)
    attempt(path, partial=True)
    if rows < 0:
        raise InputError([Fault(sentence) for sentence in sentences])


def _use_study(path: Path) -> None:
    """Open a study and read its whole content."""
    with Study.open(path) as study:
        study.runs(output=True)
        study.variants()
        study.facts("searches")
        data = Session().study_data(study)
        assert data.table is not None
        if study.manifest.request.get("program"):
            Session().check(of_study(study.manifest.request, path.name))


def _use_request(path: Path) -> None:
    session = Session()
    request = session.load(path)
    session.plan(request)
    session.consent(request)


def samples() -> dict[str, Sample]:
    """Return every sample by name: a function that makes it in a directory, and one that uses it."""
    own = resource_dir("machines")
    found: dict[str, Sample] = {f"trace {name}": (make, _use_trace) for name, make in TRACES.items()}
    found |= {f"measurements {name}": formats.measurement(name) for name in SAMPLES}
    found["trace own a.otf2"] = (formats.few_events, _use_trace)
    found |= formats.samples()
    found["study"] = (lambda place: full_study(place / "s.sgstudy"), _use_study)
    found["study of format 2"] = _text("old.sgstudy", TESTS / "store" / "format2.sgstudy", _use_study)
    found["request"] = _text("r.toml", resource_dir("requests") / "demo.toml", _use_request)
    found["machine"] = _text("m.toml", own / "ksr1.toml", lambda path: machine.load(str(path)))
    found["program"] = (_program, lambda path: programs.load(str(path)))
    for slowest in ("measurements cube-file", "measurements cube-attached", "measurements cube", "trace own a.otf2"):
        found[slowest] = found.pop(slowest)  # last, so that a run that ends early has covered most formats
    return found


def damaged(data: bytes, way: str, place: int) -> bytes:
    """Return *data* damaged at *place*."""
    made = bytearray(data)
    if way == "cut":
        del made[place:]
    elif way == "flip":
        made[place] ^= 0x55
    elif way == "zero":
        made[place] = 0
    else:
        made[place : place + 512] = bytes(len(made[place : place + 512]))
    return bytes(made)


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raise `TimeoutError` in the block after `LONGEST_S` of processor time."""

    def over(_number: int, _frame: object) -> None:
        raise TimeoutError(f"took more than {LONGEST_S} s")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def tried(use: Use, path: Path) -> str:
    """Return "read", "refused", or what went wrong, from using *path*."""
    try:
        with limited():
            use(path)
    except InputError as error:
        wrong = [fault for fault in error.faults if "\n" in str(fault) or not fault.message]
        return f"no sentence: {wrong[0]!r}" if wrong or not error.faults else "refused"
    except MissingTool:
        return "refused"
    except ScaleGraphError as error:
        return "refused" if str(error).strip() else "no sentence"
    except Exception as error:  # noqa: BLE001 - any other error is what is looked for
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "scalegraph" in frame.filename]
        where = "; ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-3:])
        return f"{type(error).__name__}: {error} ({where})"
    return "read"


# damage inside files, with correct checksums --------------------------------------------------------------------------

ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 2, 3.5, 2**31, 2**32, 2**63 - 1, -(2**63), 2**63, 2**64, 10**40, 1e308, -1e308, 1e-320,
    "", "x", "0", "\x1b[2J", "a\nb", "\u202e", "\0", "x" * 5000, "../../x", "/etc/passwd", "{n}", "1e999", [], {}, [[]],
    [None], [1, "x"], {"a": 1}, [[[[[[[[[[]]]]]]]]]], ["x"] * 300, {str(n): n for n in range(50)}, "line:a.c:1", "nan",
)  # fmt: skip


def _places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _places(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree[:40]):
            yield from _places(value, (*path, index))


def mutated(tree: Any, chance: random.Random) -> Any:
    """Return a copy of a JSON document with one to three values replaced, left out, doubled or renamed."""
    tree = json.loads(json.dumps(tree))
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(tree))
        if not places:
            return chance.choice(ODD)
        *above, last = chance.choice(places)
        here = tree
        for part in above:
            here = here[part]
        what = chance.random()
        if what < 0.75:
            here[last] = chance.choice(ODD)
        elif what < 0.85:
            del here[last]
        elif isinstance(here, list):
            here.append(here[last])
        else:
            here[f"{last}x"] = here.pop(last)
    return tree


def _bytes(data: bytes, chance: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 4, 16))):
        if made:
            made[chance.randrange(len(made))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    return bytes(made)


def blocks_of(data: bytes) -> list[list[Any]]:
    """Return the blocks of a trace in our format: type, kind, rows, first, last and payload of each."""
    blocks, offset = [], 64
    while offset + _HEADER.size <= len(data):
        mark, what, length, _crc, kind, rows, first, last = _HEADER.unpack_from(data, offset)
        if mark != b"sgBK":
            break
        start = offset + _HEADER.size
        blocks.append([what, kind, rows, first, last, data[start : start + length]])
        offset = start + length + -length % 64
    return blocks


def mutate_trace(data: bytes, chance: random.Random) -> bytes:
    """Return a trace in our format with a block, its definitions or its index changed, and correct checksums."""
    blocks = blocks_of(data)
    chosen = chance.choice([block for block in blocks if block[0] != b"INDX"])
    if chosen[0] in (b"DEFS", b"LODX") and chance.random() < 0.9:
        chosen[5] = json.dumps(mutated(json.loads(chosen[5]), chance)).encode()
    elif chance.random() < 0.25:
        chosen[chance.choice((2, 3, 4))] = chance.choice((0, 1, 2**31, 2**62, chosen[2] + 1))
    else:
        chosen[5] = _bytes(chosen[5], chance)
    changed = (lambda index: mutated(index, chance)) if chance.random() < 0.2 else None
    return assembled(data[:64], blocks, changed)


def assembled(head: bytes, blocks: list[list[Any]], changed: Callable[[Any], Any] | None = None) -> bytes:
    """Return a trace of *blocks* with correct checksums and an index, which *changed* may modify."""
    out, rows = bytearray(head), []
    for what, kind, count, first, last, payload in blocks:
        if what == b"INDX":
            continue
        crc = zlib.crc32(payload)
        out += _HEADER.pack(b"sgBK", what, len(payload), crc, kind, count, first, last)
        names = what.decode(), kind.rstrip(b"\0").decode("latin-1")
        rows.append([names[0], len(out), len(payload), crc, names[1], count, first, last])
        out += payload + bytes(-len(payload) % 64)
    index: Any = {"version": 2, "blocks": rows}
    if changed is not None:
        index = changed(index)
    where, payload = len(out), json.dumps(index).encode()
    out += _HEADER.pack(b"sgBK", b"INDX", len(payload), zlib.crc32(payload), b"", 0, 0, -1)
    out += payload + bytes(-len(payload) % 64)
    return bytes(out + struct.pack("<Q8s", where, b"SGEND\r\n\0"))


def mutate_study(path: Path, chance: random.Random) -> None:
    """Change one thing inside the study at *path*: a JSON document, a packed record, a number, or a table."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        tables = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            )
        ]
        cells = [
            (table, column, number)
            for table in tables
            for column in [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for (number,) in connection.execute(f"SELECT rowid FROM {table}")
        ]
        table, column, number = chance.choice(cells)
        (value,) = connection.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (number,)).fetchone()
        with contextlib.suppress(
            sqlite3.Error, OverflowError, UnicodeEncodeError
        ):  # the table does not accept this value
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (_changed(value, chance), number))
        if chance.random() < 0.05:
            connection.execute(f"DROP TABLE {chance.choice(tables)}")


def _changed(value: Any, chance: random.Random) -> Any:
    if chance.random() < 0.1:
        return chance.choice((None, 0, -1, 2**40, "", "x", b"", b"x", "[]", "{}", 1.5))
    if isinstance(value, bytes):
        try:
            text = zlib.decompress(value)
        except zlib.error:
            return _bytes(value, chance)
        return zlib.compress(json.dumps(mutated(json.loads(text), chance)).encode())
    if isinstance(value, str):
        try:
            return json.dumps(mutated(json.loads(value), chance))
        except ValueError:
            return chance.choice(("", "x" * 1000, value + "x", "\x1b[2J"))
    return chance.choice((0, -1, 2**40, "x"))


def use_whole_study(path: Path) -> None:
    """Open a study and make every view and quantity of it, like all commands together; stop at the first refusal."""
    session = Session()
    refused: ScaleGraphError | None = None
    with Study.open(path) as study:
        study.runs(output=True)
        data = session.study_data(study)
        for name in quantities.QUANTITIES:
            refused = quietly(lambda name=name: quantities.compute(data, name)) or refused  # type: ignore[misc]
        for view in session.views().values():
            refused = quietly(lambda view=view: view.build(data)) or refused  # type: ignore[misc]
        if study.manifest.request.get("program"):
            refused = quietly(lambda: session.check(of_study(study.manifest.request, path.name))) or refused
    if refused is not None:
        raise refused


def use_whole_trace(path: Path) -> None:
    """Open a trace, check it, and make every view and quantity of it."""
    session = Session()
    refused: ScaleGraphError | None = None
    data = session.open_trace(path)
    try:
        check_trace(data.trace)
        for name in trace_quantities.TRACE_QUANTITIES:
            refused = quietly(lambda name=name: trace_quantities.compute(data, name)) or refused  # type: ignore[misc]
        for view in session.views("trace").values():
            refused = quietly(lambda view=view: view.build(data)) or refused  # type: ignore[misc]
    finally:
        data.trace.close()
    if refused is not None:
        raise refused


def quietly(act: Callable[[], object]) -> ScaleGraphError | None:
    """Return the sentence with which *act* is refused; None if it is not."""
    try:
        act()
    except ScaleGraphError as error:
        return error
    return None
