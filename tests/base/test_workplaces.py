"""Temporary directories, and the clean-up after killed processes."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from scalegraph.base import workplaces
from scalegraph.base.locks import FileLock, Taken
from scalegraph.base.workplaces import LOCK, workplace

HOLDS = """
import sys
from pathlib import Path
from scalegraph.base.workplaces import workplace
with workplace(".kind", Path(sys.argv[1])) as place:
    print(place, flush=True)
    sys.stdin.read()
"""


def test_a_directory_lives_as_long_as_it_is_used(tmp_path: Path) -> None:
    with workplace(".kind", tmp_path) as place:
        (place / "file").write_text("1")
        assert place.parent == tmp_path
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        with workplace(".kind", tmp_path):
            assert (place / "file").exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shared", [False, True])
def test_directories_that_no_process_holds_are_removed_and_no_others(tmp_path: Path, shared: bool) -> None:
    host = f"{socket.gethostname()}-" if shared else ""
    left, other = tmp_path / f".kind-{host}left", tmp_path / f".other-{host}left"
    elsewhere = tmp_path / ".kind-another.host-left"  # another host's locks may be invisible here
    unlocked = tmp_path / f".kind-{host}fresh"  # is just being created
    for place in (left, other, elsewhere):
        (place / "within").mkdir(parents=True)
        (place / LOCK).touch()
    unlocked.mkdir()
    with workplace(".kind", tmp_path, shared=shared):
        assert not left.exists()
    assert set(tmp_path.iterdir()) == {other, elsewhere, unlocked}


def test_many_short_uses_look_once_a_minute_for_what_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Path] = []
    monkeypatch.setattr(workplaces, "_sweep", lambda _start, above: looks.append(above))
    for _ in range(5):
        with workplace(".kind", tmp_path):
            pass
    assert looks == [tmp_path]
    monkeypatch.setattr(workplaces, "_SWEEP_S", 0.0)
    for _ in range(2):
        with workplace(".other", tmp_path):
            pass
    assert looks == [tmp_path] * 3


def test_a_directory_of_a_live_process_stays_whatever_its_number_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In another PID namespace the numbers of live processes mean nothing; the lock does."""
    monkeypatch.setattr(workplaces, "_SWEEP_S", 0.0)
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        place = Path(holder.stdout.readline().strip())
        with workplace(".kind", tmp_path):
            assert place.is_dir()
        holder.kill()
        holder.wait()
        with workplace(".kind", tmp_path):
            assert not place.exists()


def test_what_links_elsewhere_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    (precious / LOCK).touch()
    (tmp_path / ".kind-left").symlink_to(precious)
    with workplace(".kind", tmp_path):
        pass
    assert (precious / "file").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second account: run as root")
def test_a_directory_of_another_account_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / ".kind-foreign"
    place.mkdir()
    (place / LOCK).touch()
    os.chown(place, 65534, 65534)
    with workplace(".kind", tmp_path):
        assert place.exists()


def test_a_lock_is_held_by_one_and_names_its_holder(tmp_path: Path) -> None:
    first = FileLock(tmp_path / "lock")
    with pytest.raises(Taken) as taken:
        FileLock(tmp_path / "lock")
    assert taken.value.holder == os.getpid()
    first.release()
    FileLock(tmp_path / "lock").release()
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_place_of_a_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        FileLock(tmp_path / "lock")
    assert not (tmp_path / "elsewhere").exists()


def test_a_place_that_cannot_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"), workplace(".kind", tmp_path / "nowhere"):
        pass
