"""Several processes that work on a large program: each times some of the forms of its functions."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from multiprocessing.connection import Connection
from typing import Any, TypeAlias, TypeVar

from scalegraph.instrument.blocks import Read
from scalegraph.instrument.functions.parts import Part
from scalegraph.instrument.functions.times import MOST
from scalegraph.instrument.functions.timing import Timing

T = TypeVar("T")
Opening: TypeAlias = Callable[[Sequence[Read]], AbstractContextManager[Part]]
"""Opens a part of the program, in the process that works on it."""


def timed_by(processes: int, read: Sequence[Read], opening: Opening) -> Iterator[tuple[int, str, Timing | None]]:
    """Yield what `Part.timings` yields for the functions *read*, found by so many *processes*, this one included.

    With more than one, this process must have no other threads. Raises `ChildProcessError` if one of them fails.
    """
    mine, *others = _dealt(read, processes)
    fork = multiprocessing.get_context("fork")
    with ExitStack() as stack:
        ends: list[Connection] = []
        for one in others:
            here, there = fork.Pipe()
            child = fork.Process(target=_work, args=(one, opening, there))
            child.start()
            stack.callback(child.join)
            there.close()
            ends.append(stack.enter_context(here))
        part = stack.enter_context(opening(mine))
        between = part.between_calls()
        for end in ends:
            for callee, slots in _next(end).items():
                between[callee] = min(between.get(callee, MOST), slots)
        for end in ends:
            end.send(between)
        yield from part.timings(between)
        for end in ends:
            for start, key, numbers in _next(end):
                yield start, key, None if numbers is None else Timing.of_numbers(numbers)


@contextmanager
def meanwhile(processes: int, make: Callable[[], T]) -> Iterator[Callable[[], T]]:
    """Give a function that returns what *make* returns: another process makes it meanwhile, if there may be several.

    The same holds as for `timed_by`; the result must be fit for `pickle`.
    """
    if processes < 2:
        yield make
        return
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=_send, args=(make, there))
    child.start()
    there.close()
    try:
        with here:
            yield lambda: _next(here)
    finally:
        child.terminate()
        child.join()


def _send(make: Callable[[], object], end: Connection) -> None:
    with end:
        end.send(make())


def _next(end: Connection) -> Any:
    try:
        return end.recv()
    except EOFError as error:
        raise ChildProcessError("a process that times functions has ended") from error


def _work(read: Sequence[Read], opening: Opening, end: Connection) -> None:
    """Time the functions *read* in a child process; *end*: of its connection with its parent."""
    with opening(read) as part, end:
        end.send(part.between_calls())
        end.send([(at, key, one and one.numbers()) for at, key, one in part.timings(end.recv())])


def _dealt(read: Sequence[Read], processes: int) -> list[list[Read]]:
    """Return the functions in so many lists of about as much work, those of the same form in the same list."""
    work: dict[str, int] = {}
    for one in read:
        work[one.shape.digest] = len(one.instructions)
    lists: list[list[Read]] = [[] for _ in range(processes)]
    loads = [0] * processes
    of: dict[str, int] = {}
    for digest in sorted(work, key=lambda digest: (-work[digest], digest)):
        of[digest] = loads.index(min(loads))
        loads[of[digest]] += work[digest]
    for one in read:
        lists[of[one.shape.digest]].append(one)
    return lists
