"""HPCToolkit databases of both kinds: seconds of threads by function and loop, and what is refused."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.reader import recognised
from scalegraph.request.imports.sets import answered, read_set
from tests.measurements.hpctoolkit_database import EXPERIMENT, before_version_four, version_four
from tests.measurements.test_damage import attempt
from tests.measurements.test_formats import load, points, series

WRITERS = pytest.mark.parametrize(
    ("write", "main"),
    [(version_four, "<program>->main thread->main"), (before_version_four, "<program>->main")],
    ids=["meta.db", "experiment.xml"],
)


@WRITERS
def test_seconds_of_all_threads_are_at_functions_and_loops(
    write: Callable[[Path], None], main: str, tmp_path: Path
) -> None:
    place = tmp_path / "app.p4.n100.r1"
    write(place)
    assert [reader.name for reader in recognised(place)][:1] == ["hpctoolkit"]
    found = load(place)
    assert (found.parameters, points(found)) == (("p", "n"), [(4, 100)])
    assert series(found, main, "time") == [[pytest.approx(3)]]
    assert series(found, f"{main}->MPI_Send", "time") == [[pytest.approx(1)]]
    assert series(found, f"{main}->loop at app.c:11", "time") == [[pytest.approx(6)]]
    assert series(found, "<program>", "elapsed") == [[pytest.approx(6)]]
    assert series(found, "<program>", "busiest") == [[pytest.approx(5)]]
    assert series(found, "<program>", "time") == [[0]]


def test_threads_count_where_no_name_does(tmp_path: Path) -> None:
    version_four(tmp_path / "db")
    found = load(tmp_path / "db")
    assert (found.parameters, points(found)) == (("locations",), [(2,)])
    mapping = answered(found).mapping
    assert (mapping.processors, mapping.total, mapping.summed) == ("locations", "<program>", True)
    assert series(found, "<program>->main thread->main", "cycles") == [[1e9]]
    assert [each.what for each in found.skipped] == ["metric GHOST"]


def test_without_a_time_the_other_metrics_are_read(tmp_path: Path) -> None:
    version_four(tmp_path / "db", seconds="instructions")
    found = load(tmp_path / "db")
    assert [metric.name for metric in found.metrics] == ["instructions", "cycles"]
    assert series(found, "<program>->main thread->main->loop at app.c:11", "instructions") == [[6]]


def changed(path: Path, change: Callable[[bytearray], object]) -> None:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        (
            "meta.db",
            lambda data: data.__delitem__(slice(200, None)),
            r"meta.db: is cut off: it does not end with",
        ),
        ("profile.db", lambda data: data.__delitem__(slice(-1, None)), r"profile.db: is cut off"),
        ("meta.db", lambda data: data.clear(), r"meta.db: is empty"),
        ("meta.db", lambda data: data.__setitem__(14, 5), r"meta.db: is of version 5; expected 4"),
        ("profile.db", lambda data: data.__setitem__(10, 0), r"profile.db: does not begin with HPCTOOLKITprof"),
        (
            "meta.db",
            lambda data: struct.pack_into("<Q", data, 16 + 16 * 2 + 8, 10**9),
            r"meta.db: is damaged: nothing can be at byte 1000000000 of \d+",
        ),
    ],
)
def test_a_damaged_database_is_one_sentence(
    name: str, change: Callable[[bytearray], object], sentence: str, tmp_path: Path
) -> None:
    version_four(tmp_path)
    changed(tmp_path / name, change)
    with pytest.raises(InputError, match=sentence):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (EXPERIMENT[:-40], r"experiment.xml.*is not XML, or is cut off"),
        (EXPERIMENT.replace('i="6"', 'i="5"'), "context 5 appears twice"),
        (EXPERIMENT.replace('i="6"', 'i="x"'), "<S> has i='x'; expected a whole number"),
        (EXPERIMENT.replace('i="6"', 'i="60"'), r"has 6 contexts and 2 metrics; experiment.xml has more"),
        (EXPERIMENT.replace("SecCallPathProfileData", "SecFlatProfileData"), "has no call path profile with metrics"),
    ],
)
def test_a_damaged_experiment_is_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    before_version_four(tmp_path)
    (tmp_path / "experiment.xml").write_text(text)
    with pytest.raises(InputError, match=sentence):
        load(tmp_path)


def test_values_of_threads_must_be_there_and_whole(tmp_path: Path) -> None:
    before_version_four(tmp_path)
    first, second = sorted(tmp_path.glob("*.metric-db"))
    changed(first, lambda data: data.__delitem__(slice(-8, None)))
    with pytest.raises(InputError, match=r"metric-db: is cut off: it has 120 bytes; 128 were expected"):
        load(tmp_path)
    first.unlink()
    second.unlink()
    with pytest.raises(InputError, match=r"has no \.metric-db files; expected one for each thread, or meta\.db"):
        load(tmp_path)


@pytest.mark.parametrize("name", ["meta.db", "experiment.xml"])
def test_one_file_of_a_database_is_refused_with_what_to_give(name: str, tmp_path: Path) -> None:
    version_four(tmp_path)
    before_version_four(tmp_path)
    with pytest.raises(InputError, match="is one file of a database of HPCToolkit; its directory is read: give that"):
        read_set([tmp_path / name])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["meta.db", "profile.db"])
def test_a_pointer_or_count_that_leads_anywhere_is_one_sentence(name: str, tmp_path: Path) -> None:
    version_four(tmp_path)
    data = (tmp_path / name).read_bytes()
    for at in range(16, len(data) - 8, 8):
        for value in (2**64 - 1, 2**63, len(data) - 1):
            damaged = bytearray(data)
            struct.pack_into("<Q", damaged, at, value)
            (tmp_path / name).write_bytes(damaged)
            attempt("hpctoolkit", tmp_path)  # a sound set, or a refusal in a sentence
