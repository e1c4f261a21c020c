"""Whatever a file contains, a reader returns a valid set or refuses in one sentence; hypothesis generates the files."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scalegraph.measurements.reader import readers, recognised
from tests.measurements.samples import CALIPER, SAMPLES, cubex, experiment, write
from tests.measurements.test_damage import attempt

pytestmark = pytest.mark.slow

EXAMPLES = 15

numbers = st.one_of(
    st.integers(-3, 3), st.integers(), st.floats(), st.sampled_from([1e308, -0.0, 2**53, 10**400, True, None])
)
words = st.sampled_from(
    [
        "p",
        "n",
        "main",
        "main->solve",
        "->",
        "",
        " ",
        "time",
        "value",
        "point",
        "id",
        "name",
        "1/3",
        "nan",
        "-inf",
        "x;y",
    ]
)
names = st.sampled_from(
    [
        "parameters", "measurements", "callpaths", "coordinates", "metrics", "params", "callpath", "metric", "value",
        "values", "point", "id", "name", "parameter_id", "parameter_value", "parameter_value_pairs", "coordinate_id",
        "callpath_id", "metric_id", "results", "benchmarks", "times", "stats", "params",
        "real_time", "exit_codes", "Extra-P", "scaling", "coordinate", "mean", "median", "std", "p", "n", "main",
    ]
)  # fmt: skip
anything = st.recursive(
    st.one_of(numbers, words),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(names, words), inner, max_size=4)),
    max_leaves=12,
)
newer = st.fixed_dictionaries(
    {
        "parameters": st.one_of(st.lists(words, max_size=2), anything),
        "measurements": st.dictionaries(
            words,
            st.dictionaries(
                words,
                st.lists(
                    st.fixed_dictionaries(
                        {
                            "point": st.lists(st.one_of(numbers, words), max_size=2),
                            "values": st.one_of(anything, st.lists(numbers)),
                        }
                    ),
                    max_size=3,
                ),
                max_size=2,
            ),
            max_size=2,
        ),
    }
)
lines_of_text = st.lists(
    st.tuples(
        st.sampled_from(["PARAMETER", "POINTS", "REGION", "METRIC", "DATA", "#", "", "points"]),
        st.lists(st.sampled_from(["(", ")", "1", "2.5", "x", "nan", "1e999", "p", "1_0", "-", ",", "\t"]), max_size=6),
    ).map(lambda pair: " ".join([pair[0], *pair[1]])),
    max_size=12,
).map("\n".join)
tables = st.lists(
    st.lists(st.sampled_from(["p", "n", "time", "1", "2.5", "", '"', "a b", "x,y", "1e400", "N", "#"]), max_size=5).map(
        lambda cells: ",".join(cells)
    ),
    max_size=8,
).map("\n".join)
ids = st.sampled_from(["8", "9", "10", "12", "13", "21", "31", "34", "40", "41", "99", "x", "-1"])
records = st.lists(
    st.one_of(
        st.tuples(ids, ids, words, ids).map(lambda t: f"__rec=node,id={t[0]},attr={t[1]},data={t[2]},parent={t[3]}"),
        st.tuples(ids, ids, words).map(lambda t: f"__rec=ctx,ref={t[0]},attr={t[1]},data={t[2]}"),
        st.sampled_from([*CALIPER.splitlines(), "__rec=", "\\", "__rec=ctx,ref=\\"]),
    ),
    max_size=20,
).map(lambda lines: "\n".join([*lines, "__rec=globals,ref=25", ""]))


def json_text(value: Any) -> str:
    return json.dumps(value)


@st.composite
def bent_samples(draw: st.DrawFn) -> bytes:
    """Return a sample of some format with a piece removed, doubled or replaced."""
    body = draw(st.sampled_from([*BODIES.values()]))
    start = draw(st.integers(0, len(body)))
    end = draw(st.integers(start, min(len(body), start + 200)))
    middle = draw(st.one_of(st.binary(max_size=20), st.just(b""), st.just(body[start:end] * 2)))
    return body[:start] + middle + body[end:]


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """Return an experiment with arbitrary JSON, arrays or offsets."""
    with zipfile.ZipFile(io.BytesIO(experiment())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    whole = json.loads(members["experiment.json"])
    entry = whole["measurements"]["main"]["time"][draw(st.integers(0, 1))]
    entry[draw(st.sampled_from([*entry]))] = draw(anything)
    if draw(st.booleans()):
        whole[draw(st.one_of(names, st.sampled_from([*whole])))] = draw(anything)
    members["experiment.json"] = json.dumps(whole).encode()
    victim = draw(st.sampled_from([*members]))
    if draw(st.booleans()):
        place = draw(st.integers(0, len(members[victim])))
        members[victim] = members[victim][:place] + draw(st.binary(max_size=12)) + members[victim][place + 4 :]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return file.getvalue()


def _bodies() -> Iterator[tuple[str, bytes]]:
    base = Path(tempfile.mkdtemp())
    try:
        for sample in SAMPLES:
            path = write(sample, base / sample) if (base / sample).mkdir() is None else base
            if path.is_file():
                yield sample, path.read_bytes()
    finally:
        shutil.rmtree(base)


BODIES = dict(_bodies())
profiles = st.lists(st.lists(st.floats(), min_size=2, max_size=2), min_size=3, max_size=3).map(
    lambda times: cubex(times, packed=False)
)
texts = st.one_of(
    st.text(),
    anything.map(json_text),
    newer.map(json_text),
    st.lists(anything.map(json_text), max_size=3).map("\n".join),
    lines_of_text,
    tables,
    records,
).map(lambda text: text.encode("utf-8", "replace"))
files = st.one_of(st.binary(), texts, bent_samples(), archives(), profiles)


@pytest.mark.parametrize("name", readers())
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(body=files)
def test_a_reader_gives_a_sound_set_or_refuses(name: str, tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "x"
    if readers()[name].directory:
        (path / "app.p2").mkdir(parents=True, exist_ok=True)
        (path / "app.p2" / "x.cubex").write_bytes(body)
        (path / "x.cali").write_bytes(body)
        (path / "app.p2.csv").write_bytes(body)
    else:
        path.write_bytes(body)
    attempt(name, path)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=files)
def test_no_reader_chokes_on_what_it_is_asked_to_recognise(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(body)
    recognised(path)


FITTING = {
    "extrap-text": lines_of_text.map(lambda text: f"PARAMETER p\nPOINTS 1 2\nREGION r\n{text}".encode()),
    "extrap-json": newer.map(json_text).map(str.encode),
    "extrap-experiment": archives(),
    "caliper": records.map(lambda text: text.encode("utf-8", "replace")),
}


@pytest.mark.parametrize("name", FITTING)
@settings(max_examples=2 * EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_a_reader_stands_what_looks_like_its_own_format(name: str, tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "x"
    path.write_bytes(data.draw(FITTING[name]))
    attempt(name, path)
