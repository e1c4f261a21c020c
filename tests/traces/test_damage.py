"""Every reader, with every file of a trace damaged at 50 positions: it reads the trace or refuses in one sentence.

With --all-cases there are 200 positions, those 50 among them; `tests.security.run_damage` takes as many as you want.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.traces.formats import readers
from scalegraph.traces.reading import read
from tests.traces import samples, test_paraver
from tests.traces.made import small
from tests.traces.test_formats import FILES, written

PLACES, ALL_PLACES = 50, 200
MEMORY_KIB = 300 << 10  # most that damage may add to the peak memory
AT = {"pid": 1, "tid": 2}
CHROME = {
    "displayTimeUnit": "ns",
    "otherData": {"version": "x"},
    "traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "prog"}},
        {"ph": "B", "name": "a", "ts": 1.5, **AT},
        {"ph": "X", "name": "b", "ts": 2, "dur": 1, "bind_id": "0x1", "flow_out": True, **AT},
        {"ph": "E", "ts": 1712195495406752.5, **AT},
        {"ph": "C", "name": "mem", "ts": 2, "pid": 1, "args": {"used": 2**60, "share": 0.5}},
        {"ph": "s", "id": 1, "name": "n", "cat": "k", "ts": 1, **AT},
        {"ph": "t", "id": 1, "name": "n", "cat": "k", "ts": 2, **AT},
        {"ph": "f", "id": 1, "name": "n", "cat": "k", "ts": 3, "pid": 1, "tid": 3},
        {"ph": "b", "id2": {"local": "0x2"}, "name": "load", "ts": 3, **AT},
        {"ph": "e", "id2": {"local": "0x2"}, "name": "load", "ts": 9, **AT},
        {"ph": "i", "name": "hit é", "ts": 5, **AT},
    ],
}
TABLE = """Timestamp (s),Event Type,Name,Process,Thread,PAPI_TOT_INS,"load, mean"
0.000001,Enter,"main, ""q"" x",0,0,12,
0.000002,Instant,hit,0,1,,0.5
0.000003,Leave,"main, ""q"" x",0,0,99,1e3
"""


def _text(name: str, text: str) -> Callable[[Path], Path]:
    def make(place: Path) -> Path:
        data = text.encode()
        (place / name).write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
        return place / name

    return make


def _own(name: str) -> Callable[[Path], Path]:
    return lambda place: written(small(), place / name)


def _paraver(place: Path) -> Path:
    return test_paraver.put(place)


def _paraver_packed(place: Path) -> Path:
    plain = test_paraver.put(place)
    packed = place / "a.prv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()
    return packed


def _otf2(place: Path) -> Path:
    pytest.importorskip("otf2")
    from tests.traces.test_otf2 import filled

    return filled(place / "a", "odd")


def _perfetto(place: Path) -> Path:
    pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    from tests.traces.test_perfetto import Made

    made = Made()
    made.tracks()
    made.events()
    path = place / "a.pftrace"
    path.write_bytes(made.trace.SerializeToString())
    return path


TRACES: dict[str, Callable[[Path], Path]] = {
    **{f"own {name}": _own(name) for name in FILES},
    "chrome object": _text("a.json", json.dumps(CHROME, indent=1, ensure_ascii=False)),
    "chrome array": _text("a.json", json.dumps(CHROME["traceEvents"])),
    "chrome packed": _text("a.json.gz", json.dumps(CHROME)),
    "paraver": _paraver,
    "paraver packed": _paraver_packed,
    "otf2": _otf2,
    "perfetto": _perfetto,
    "picl": _text("a.trf", samples.picl()),
    "csv": _text("a.csv", samples.csv()),
    "csv of counters": _text("a.csv", TABLE),
    "csv packed": _text("a.csv.gz", TABLE),
}


def attempt(path: Path, *, partial: bool) -> tuple[int, list[str]]:
    """Return how many rows were read, or the sentences of refusal. The columns are read, too."""
    try:
        with read(path, name=_reader(path), partial=partial) as trace:
            for kind, parts in trace.parts.items():
                if parts:
                    trace.columns(kind)
            return sum(trace.counts().values()), trace.meta.damage
    except InputError as error:
        return -1, [str(fault) for fault in error.faults]


def _reader(path: Path) -> str:
    return next(reader.name for reader in readers().values() if path.name.endswith(reader.endings))


@pytest.mark.few(10)
@pytest.mark.slow
@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("damage", ["changed", "cut"])
def test_damage_anywhere_is_told_in_one_sentence(
    name: str, damage: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """It is refused with file and place, or read; with partial, all before the damage is read."""
    path = TRACES[name](tmp_path)
    rows, sentences = attempt(path, partial=False)
    with read(path) as whole:
        most = rows + whole.count("messages")  # a message whose ends no longer match counts as two
    assert rows > 0
    assert sentences == []
    files = {file: file.read_bytes() for file in sorted(tmp_path.rglob("*")) if file.is_file()}
    chance = random.Random(7)
    places = [(file, place) for file, whole in files.items() for place in range(len(whole))]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chosen = chance.sample(places, min(ALL_PLACES, len(places)))
    for file, place in chosen if pytestconfig.getoption("--all-cases") else chosen[:PLACES]:
        data = bytearray(files[file])
        if damage == "cut":
            del data[place:]
        else:
            data[place] ^= chance.randrange(1, 256)
        file.write_bytes(data)
        found, sentences = attempt(path, partial=False)
        assert (found < 0) == bool(sentences), (file, place)
        if sentences:
            assert len(sentences) == 1
            assert re.match(rf"{re.escape(str(path.parent))}\S*: \S", sentences[0])
            assert len(sentences[0]) < 400 + len(str(path))
            found, sentences = attempt(path, partial=True)
            assert sentences
        assert damage == "changed" or found <= most
        file.write_bytes(files[file])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY_KIB


def test_every_reader_is_tried() -> None:
    assert set(readers()) == {"sgtrace", "otf2", "paraver", "chrome", "csv", "picl", "perfetto"}
