"""Every output format: nothing is lost in a round trip, and damage leads only to error messages."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from scalegraph.base.errors import InputError
from scalegraph.traces.formats import Writing, readers, writer_for, writers
from scalegraph.traces.model import Trace
from scalegraph.traces.reading import read
from tests.traces.made import assert_same, traces

FILES = ["a.sgtrace", "a.json", "a.json.gz", "a.otf2", "a.prv", "a.prv.gz"]


def written(trace: Trace, path: Path) -> Path:
    if path.suffix == ".otf2":
        pytest.importorskip("otf2")
    writing = Writing(trace, path)
    writer_for(path).write(writing)
    assert writing.lost == {}
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(trace=traces())
def test_there_and_back_keeps_every_event(name: str, trace: Trace, tmp_path: Path) -> None:
    path = written(trace, tmp_path / name)
    with read(path) as back:
        assert_same(trace, back)
        assert back.definitions == trace.definitions
        assert back.meta.ticks_per_second == trace.meta.ticks_per_second
        assert (back.meta.begin, back.meta.end) == (trace.meta.begin, trace.meta.end)
    for file in tmp_path.iterdir():
        shutil.rmtree(file) if file.is_dir() else file.unlink()


def test_every_format_says_what_it_is() -> None:
    assert set(writers()) <= set(readers())
    for reader in readers().values():
        assert reader.title
        assert reader.endings


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="an ending was expected"):
        writer_for(tmp_path / "a.xyz")


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hello\n")
    with pytest.raises(InputError, match="not a trace in a known format"):
        read(path)
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "absent")


@pytest.mark.slow
def test_gzip_that_is_cut_off_says_so_and_gives_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    events = ",".join(f'{{"ph":"i","name":"n{n * 7919 % 1000}","ts":{n},"pid":1,"tid":1}}' for n in range(5000))
    path.write_bytes(gzip.compress(f"[{events}]".encode())[:-2000])
    with pytest.raises(InputError, match="cut off"):
        read(path)
    rest = read(path, partial=True)
    assert 0 < rest.count("marks") < 5000
    assert rest.meta.damage
