"""A damaged file that kills its process or fills its memory is counted, and the next file is tried."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.security import cases, damage
from tests.security.cases import Cases, Tally, of_bytes, went_through


def endless() -> str:
    while True:
        pass


def filled() -> str:
    return "read" if bytearray(450 << 20) else ""


USES: dict[str, tuple[Callable[[], str], str]] = {
    "crash": (lambda: str(os.kill(os.getpid(), signal.SIGKILL)), "ended by SIGKILL"),
    "endless": (endless, "it took too long"),
    "exit": (lambda: os._exit(3), "exit code 3"),
    "memory": (filled, "read with 4"),
    "error": (lambda: "ValueError: x (y.py:1)", "ValueError"),
    "raises": (lambda: str(1 / 0), "exit code 1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", USES)
def test_what_goes_wrong_is_counted_and_the_next_is_tried(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, said = USES[name]
    if name == "endless":  # the other cases may be slow on a busy machine
        monkeypatch.setattr(cases, "KILLED_S", 0.5)
    now: list[int] = []
    made = Cases(
        "some",
        6,
        lambda number: not now.append(number),
        lambda _: None,
        lambda n: f"case {n}",
        lambda: wrong() if now[-1] == 2 else "refused",
    )
    tally = Tally()
    while tally.next < made.count:
        tally = went_through(made, tally)
    assert (tally.tried, tally.refused, tally.wrong) == (6, 5, 1)
    (fault,) = tally.faults
    assert fault.startswith("some: case 2: ")
    assert said in fault


def test_every_byte_is_damaged_in_every_way_and_restored(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"ab\0d")
    seen = []

    def use(file: Path) -> None:
        seen.append(file.read_bytes())

    made = of_bytes("text", tmp_path, use, path)
    for number in range(made.count):
        if made.prepare(number):
            made.use()
        made.restore(number)
        assert path.read_bytes() == b"ab\0d"
    assert len(seen) == made.count - 1  # zeroing a zero changes nothing
    assert {b"", b"a", b"ab", b"ab\0"} <= set(seen)
    assert made.label(3) == f"a.txt {damage.WAYS[3]} at 0"
