"""Line tables of large executables, made beside the block table."""

from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.base.resources import resource_dir
from scalegraph.control import apart, build

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build([resource_dir("programs") / "ge1.c"]).executable


def made(program: Path, to: Path) -> bytes:
    with apart.places_beside(program, "/root", to):
        pass
    return to.read_bytes()


def test_a_process_of_its_own_writes_the_same(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = made(program, tmp_path / "here")
    monkeypatch.setattr(apart, "_LARGE", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with monkeypatch.context() as patch:
        patch.setattr(apart, "_write", lambda *_: pytest.fail("made here"))
        assert made(program, tmp_path / "apart") == here
    monkeypatch.setattr(apart, "_MODULE", "no_such_module")
    assert made(program, tmp_path / "after all") == here


def test_the_process_ends_with_what_fails_meanwhile(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "_LARGE", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with pytest.raises(InputError), apart.places_beside(program, "", tmp_path / "places"):
        raise InputError([])
