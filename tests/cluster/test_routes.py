"""To which workers runs are sent: refusals, silence, loss, and the messages about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from scalegraph.link.cluster import answers, frames
from scalegraph.link.cluster.routes import SILENT_S, Routes, refusal_in

A, B, C = (f"tls://10.0.0.{number}:4000" for number in (1, 2, 3))


@dataclass
class Place:
    """A scheduler whose workers and clock the test controls."""

    now: float = 100.0
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.routes = Routes(self.said.append, lambda: self.now)

    def look(self, *addresses: str, silent: str = "", first: bool = False) -> None:
        """Let the scheduler list its workers, one of which has been silent since the last list."""
        about: dict[str, dict[str, Any]] = {}
        for address in addresses:
            mark = self.routes.live[address].mark if address == silent else self.now
            about[address] = {"host": address[6:14], "nthreads": 2, "last_seen": mark, "name": address}
        self.routes.observe(about, first=first)


@pytest.fixture
def place() -> Place:
    made = Place()
    made.look(A, B, first=True)
    assert made.said == []
    return made


def test_a_worker_that_refuses_is_left_out_and_named_once(place: Place) -> None:
    place.routes.refuse(A, "the disk is full")
    place.routes.refuse(A, "the disk is full")
    assert place.said == ["worker 10.0.0.1:4000 is left out: the disk is full"]
    assert place.routes.good() == {B}
    assert not place.routes.hopeless(expected=0)


def test_without_any_worker_left_the_sentence_has_every_reason(place: Place) -> None:
    place.routes.refuse(A, "one: the disk is full")
    place.routes.refuse(B, "two: another version")
    assert place.routes.hopeless(expected=0) == (
        "no worker is left that could carry out the runs: one: the disk is full; two: another version"
    )
    assert not place.routes.hopeless(expected=3)  # another is still to come
    place.look(A, B, C)
    assert not place.routes.hopeless(expected=0)
    assert place.routes.good() == {C}


def test_lost_and_joining_workers_are_said(place: Place) -> None:
    place.look(A, C)
    assert place.said == [
        "worker 10.0.0.2:4000 is lost, what ran there goes to others; 2 there now",
        "worker 10.0.0.3:4000 has joined; 2 there now",
    ]


def test_a_worker_that_is_not_heard_of_is_given_up_until_it_is(place: Place) -> None:
    place.now += SILENT_S / 2
    place.look(A, B, silent=A)
    assert place.routes.good() == {A, B}
    place.now += SILENT_S / 2 + 1
    place.look(A, B, silent=A)
    assert place.routes.good() == {B}
    assert place.said == ["worker 10.0.0.1:4000 has not been heard of for 1 min 0 s, what runs there goes to others"]
    place.now += 1
    place.look(A, B)
    assert place.routes.good() == {A, B}
    assert place.said[-1] == "worker 10.0.0.1:4000 is heard of again"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (answers.refused("node", "node: the disk is full"), "node: the disk is full"),
        (answers.refused("node", "node: 3 processors: no multiple", of_run=True), ""),
        (
            frames.pack({"host": "node", "refused": "another version, as earlier ones say"}),
            "another version, as earlier",
        ),
        (frames.pack({"host": "node", "refused": "x" * 9000}), "x" * 500),
        (frames.pack({"host": "node", "refused": None}), "None"),
        (frames.pack({"host": "node"}, b"{}"), ""),
        (b"no answer at all", ""),
        (b"", ""),
        (frames.MAGIC + b"\xff" * 10, ""),
    ],
)
def test_a_refusal_of_the_worker_is_told_from_one_of_the_run(answer: bytes, sentence: str) -> None:
    assert refusal_in(answer)[: len(sentence) or None] == sentence
    assert len(refusal_in(answer)) <= 500
