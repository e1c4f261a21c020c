"""Data classes that get their methods with the first instance behave as those of the standard library."""

import dataclasses
import inspect
import pickle
import subprocess
import sys
import threading
from dataclasses import FrozenInstanceError, field, replace
from typing import Any

import pytest

from scalegraph.base.records import dataclass

OPTIONS: tuple[dict[str, bool], ...] = (
    {},
    {"frozen": True},
    {"order": True},
    {"eq": False},
    {"kw_only": True},
    {"slots": True, "frozen": True},
)


@dataclass(frozen=True)
class Place:
    """A place with a list of its own."""

    file: str
    line: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Span(Place):
    """A place with an end, which is computed where it is not given."""

    end: int = -1
    size: int = field(init=False, default=0, compare=False)

    def __post_init__(self) -> None:
        if self.end < 0:
            object.__setattr__(self, "end", self.line)


@pytest.mark.parametrize("options", OPTIONS)
def test_the_methods_are_those_of_the_standard_library(options: dict[str, bool]) -> None:
    def declared() -> Any:
        class Plain:
            number: int
            text: str = "x"
            items: list[int] = field(default_factory=list)
            late: int = field(default=1, kw_only=True)

        return Plain

    ours: Any = dataclass(**options)(declared())
    theirs: Any = dataclasses.dataclass(**options)(declared())
    made = [cls(number=2, items=[1]) for cls in (ours, theirs)]
    assert repr(made[0]).replace("test_records", "") == repr(made[1]).replace("test_records", "")
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert dataclasses.asdict(made[0]) == dataclasses.asdict(made[1])
    assert replace(made[0], text="y").text == replace(made[1], text="y").text == "y"
    kept = {"__module__", "__dict__", "__weakref__", "__doc__"}
    assert set(vars(ours)) - kept == set(vars(theirs)) - kept
    for cls in (ours, theirs):
        with pytest.raises(TypeError, match="missing 1 required"):
            cls()


def test_a_class_is_complete_where_it_is_inherited_and_where_its_fields_are_read() -> None:
    assert [one.name for one in dataclasses.fields(Span)] == ["file", "line", "notes", "end", "size"]
    span = Span("a.c", 3)
    assert (span.end, span, hash(Place.__eq__) != 0) == (3, Span("a.c", 3, end=3), True)
    assert Place("a.c").notes is not Place("a.c").notes
    with pytest.raises(FrozenInstanceError):
        span.end = 4  # type: ignore[misc]


def test_an_unpickled_instance_may_be_the_first() -> None:
    script = "import pickle, sys; one, two = pickle.load(sys.stdin.buffer); print(one == two, one, one.__setattr__)"
    data = pickle.dumps((Place("a.c"), Place("a.c")))
    done = subprocess.run([sys.executable, "-c", script], input=data, capture_output=True, cwd=".", check=True)
    assert done.stdout.decode().startswith("True Place(file='a.c', line=0, notes=[]) <bound method Place.__setattr__")


def test_the_first_instances_may_be_made_by_several_threads() -> None:
    for _ in range(50):

        @dataclass(frozen=True)
        class Late:
            number: int

        begin, made = threading.Barrier(4), list[Any]()

        def make(cls: type[Late] = Late, begin: threading.Barrier = begin, made: list[Any] = made) -> None:
            begin.wait()
            made.append(cls(1))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [Late(1)] * 4


def test_classes_that_are_not_used_get_no_methods() -> None:
    @dataclass
    class Unused:
        number: int

    assert "__eq__" not in vars(Unused)
    assert Unused(1) == Unused(1)
    assert "__eq__" in vars(Unused)
