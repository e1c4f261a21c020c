"""Full disks, closed pipes and names that are not UTF-8 end in one sentence, never in a traceback."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.security.forking import GONE, Starter
from tests.security.test_names import hostile_study

pytestmark = pytest.mark.slow(3)

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
Start = Callable[..., tuple[int, bytes, str]]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Return a function that starts the command line: see `forking.Starter`."""
    with closing(Starter(tmp_path_factory.mktemp("started"))) as starter:
        yield starter


def one_sentence(err: str) -> bool:
    return len(err.splitlines()) == 1 and "error of ScaleGraph itself" not in err and "Traceback" not in err


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return hostile_study(tmp_path / "s.sgstudy", "x")


def trace_of(path: Path, names: int) -> Path:
    events = [{"ph": "X", "pid": 1, "tid": i % 4, "ts": i, "dur": 1, "name": f"f{i}"} for i in range(names)]
    path.write_text(json.dumps({"traceEvents": events}))
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace that is larger than `forking.ROOM` in every format."""
    return trace_of(tmp_path / "t.json", 4000)


@needs_full
@pytest.mark.parametrize(
    "words",
    [
        ("machines",),
        ("--help",),
        ("analyze", "study", "--what", "time", "--json"),
        ("export", "--list"),
        ("compare", "study", "study"),
        ("trace", "info", "trace"),
    ],
)
def test_a_full_disk_under_standard_output_is_one_sentence(
    start: Start, words: tuple[str, ...], study: Path, trace: Path
) -> None:
    files = {"study": study, "trace": trace}
    code, _, err = start(words[0], *(files.get(word, word) for word in words[1:]), out="/dev/full")
    assert code == 1
    assert one_sentence(err), err
    assert "standard output" in err
    assert "the disk is full" in err


@pytest.mark.parametrize("ending", ["sgtrace", "prv", "otf2", "json"])
def test_a_disk_that_fills_during_a_conversion_leaves_nothing(
    start: Start, ending: str, trace: Path, tmp_path: Path
) -> None:
    place = tmp_path / "out"
    place.mkdir()
    assert start("trace", "info", trace)[0] == 0  # the test is not about its copy in the cache
    code, _, err = start("trace", "convert", trace, "-o", place / f"x.{ending}", limit=True)
    assert code == 1
    assert one_sentence(err), err
    assert f"x.{ending}: cannot be written" in err
    assert list(place.iterdir()) == []


def test_a_disk_that_fills_under_a_picture_or_a_report_leaves_nothing(
    start: Start, study: Path, tmp_path: Path
) -> None:
    place = tmp_path / "out"
    place.mkdir()
    for words in (
        ("export", study, "--view", "time", "-o", place / "x.png"),
        ("report", study, "-o", place / "x.html"),
    ):
        code, _, err = start(*words, limit=True)
        assert code == 1
        assert one_sentence(err), err
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("words", [("machines",), ("analyze", "--list"), ("export", "--list"), ("explain",)])
def test_a_reader_that_goes_is_no_fault(start: Start, words: tuple[str, ...]) -> None:
    code, _, err = start(*words, out=GONE)
    assert err == ""
    assert code in (0, 1)


@pytest.mark.parametrize("words", [("export", "--view", "time", "-o", "x.csv"), ("analyze", "--what", "time")])
def test_without_standard_output_commands_work(words: tuple[str, ...], study: Path, tmp_path: Path) -> None:
    """What is closed when the interpreter starts, it knows nothing of."""
    command = [sys.executable, "-m", "scalegraph.cli.main", words[0], study, *words[1:]]
    done = subprocess.run(
        command, stderr=subprocess.PIPE, cwd=tmp_path, check=False, preexec_fn=functools.partial(os.close, 1)
    )
    assert (done.returncode, done.stderr) == (0, b"")


ODD = b"n\xff\x80 \xc3"


@pytest.mark.parametrize("ending", [b".sgtrace", b".prv", b".otf2", b".json"])
def test_file_names_need_not_be_utf8(start: Start, ending: bytes, tmp_path: Path) -> None:
    odd = os.path.join(os.fsencode(tmp_path), ODD)  # noqa: PTH118 - bytes
    shutil.copy(trace_of(tmp_path / "t.json", 12), odd + b".json")
    code, out, err = start(b"trace", b"convert", odd + b".json", b"-o", odd + b"2" + ending)
    if ending == b".otf2":
        assert code == 2
        assert one_sentence(err), err
        assert "\\xff" in err
        return
    assert code == 0, err
    assert b"n\\xff\\x80 \\xc3" in out
    assert start(b"trace", b"info", odd + b"2" + ending)[0] == 0
    assert start(b"analyze", odd + b"2" + ending, b"--what", b"profile")[0] == 0
    assert start(b"export", odd + b"2" + ending, b"--view", b"trace-profile", b"-o", odd + b".png")[::2] == (0, "")


def test_studies_need_no_utf8_in_their_names(start: Start, study: Path, tmp_path: Path) -> None:
    odd = os.path.join(os.fsencode(tmp_path), ODD)  # noqa: PTH118 - bytes
    shutil.copy(os.fsencode(study), odd + b".sgstudy")
    for words in (
        (b"analyze", odd + b".sgstudy", b"--what", b"runs"),
        (b"analyze", odd + b".sgstudy", b"--what", b"time", b"--json"),
        (b"report", odd + b".sgstudy", b"-o", odd + b".html"),
        (b"matrix", odd + b".sgstudy", b"-o", odd + b".json"),
        (b"compare", odd + b".sgstudy", os.fsencode(study), b"-o", odd + b".svg"),
        (b"advise", odd + b".sgstudy"),
    ):
        code, _, err = start(*words)
        assert code in (0, 1, 2)
        assert "error of ScaleGraph itself" not in err
        assert "Traceback" not in err


@pytest.mark.compiler
def test_sources_need_no_utf8_in_their_names(start: Start, tmp_path: Path) -> None:
    odd = os.path.join(os.fsencode(tmp_path), ODD)  # noqa: PTH118 - bytes
    with open(odd + b".c", "wb") as file:  # noqa: PTH123 - bytes
        file.write(b"int main(void) { return 0; }\n")
    code, _, err = start(b"simulate", odd + b".c", b"-p", b"1", b"-o", odd + b".sgstudy")
    assert code in (0, 2)
    assert "error of ScaleGraph itself" not in err, err
    assert start(b"instrument", odd + b".c")[0] == 0
    code, _, err = start(b"run", odd + b".toml")
    assert code == 2
    assert one_sentence(err), err
