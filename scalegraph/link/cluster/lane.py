"""Which runs a cluster gets next, and how many at once: short ones share a Dask task.

A task costs Dask some 15 ms of processor time, whatever it does. Short runs are therefore handed over several at a
time, as soon as the duration of runs of the same program is known.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, Generic, Protocol, TypeVar

_TASK_S: Final = 0.3  # target duration of a task with several runs
_SHORT_S: Final = 0.1  # a longer run gets a task of its own
_SEEN: Final = 4  # runs of a program before their mean time is trusted
_MOST: Final = 16  # runs per task
_AGAIN: Final = object()
_AHEAD: Final = 2  # tasks per slot: one running, one ready at the scheduler


class Waiting(Protocol):
    """A waiting run: the digest of its *program*, and its *priority*: its estimated time (s), 0 if unknown."""

    @property
    def program(self) -> str: ...  # noqa: D102
    @property
    def priority(self) -> float: ...  # noqa: D102


Run = TypeVar("Run", bound=Waiting)


class Lane(Generic[Run]):
    """Runs by priority, with as many tasks at the scheduler as keep the workers busy.

    *carry* hands over several runs as one task and returns their answers in order, None for each that must be carried
    out alone. *slots*: how many runs the workers do side by side.
    """

    def __init__(
        self, carry: Callable[[list[Run]], Awaitable[Sequence[object | None]]], slots: Callable[[], int]
    ) -> None:
        self._carry = carry
        self._slots = slots
        self._waiting: list[tuple[Run, asyncio.Future[object | None]]] = []
        self._alone: list[Run] = []  # that shared a task without getting an answer
        self._taken: dict[str, tuple[int, float]] = {}  # per program: number of runs seen, their mean time (s)
        self._under_way = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def note(self, program: str, seconds: float) -> None:
        """Note that a run of *program* took *seconds* on a worker."""
        number, mean = self._taken.get(program, (0, 0.0))
        number = min(number + 1, 2 * _SEEN)  # weights recent runs more: they may take longer than the first ones
        self._taken[program] = number, mean + (seconds - mean) / number

    @contextlib.asynccontextmanager
    async def turn(self, run: Run) -> AsyncIterator[object | None]:
        """Wait for the turn of *run*; return its answer, or None if it must now be carried out alone."""
        answer: object | None = None
        for _attempt in range(2):
            entry = run, asyncio.get_running_loop().create_future()
            self._waiting.append(entry)
            self.advance()
            try:
                answer = await entry[1]
            finally:
                if entry in self._waiting:
                    self._waiting.remove(entry)
            if answer is not _AGAIN:
                break
            self._alone.append(run)
        if answer is not None:
            yield answer
            return
        try:
            yield None
        finally:
            self._end()

    def drain(self) -> list[Run]:
        """Return the runs that still wait; they will not get a turn."""
        left = [run for run, _future in self._waiting]
        self._waiting.clear()
        return left

    def advance(self) -> None:
        """Hand over as many tasks as the workers have room for; also to be called when workers join."""
        while self._waiting and self._under_way < max(1, self._slots()) * _AHEAD:
            self._under_way += 1
            chosen = self._next()
            for entry in chosen:
                self._waiting.remove(entry)
            if len(chosen) == 1:
                chosen[0][1].set_result(None)
                continue
            task = asyncio.get_running_loop().create_task(self._share(chosen))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _next(self) -> list[tuple[Run, asyncio.Future[object | None]]]:
        """Return the runs of the next task: the one with the highest priority, and short ones of the same program."""
        first = max(self._waiting, key=lambda entry: entry[0].priority)
        number, mean = self._taken.get(first[0].program, (0, math.inf))
        spent = max(mean, first[0].priority)
        if number < _SEEN or spent > _SHORT_S or first[0] in self._alone:
            return [first]
        alike = [one for one in self._waiting if one[0].program == first[0].program and one[0] not in self._alone]
        most = min(_MOST, math.ceil(len(alike) / (max(1, self._slots()) * _AHEAD)))
        chosen = [first]
        for one in alike:
            seconds = max(mean, one[0].priority)
            if one is not first and len(chosen) < most and seconds <= _SHORT_S and spent + seconds <= _TASK_S:
                chosen.append(one)
                spent += seconds
        return chosen

    async def _share(self, chosen: list[tuple[Run, asyncio.Future[object | None]]]) -> None:
        answers: Sequence[object | None] = [None] * len(chosen)
        try:
            answers = await self._carry([run for run, _future in chosen])
        except Exception:  # noqa: BLE001 - whatever became of the task: each run is tried alone, and says what is wrong
            pass
        finally:
            for (_run, future), answer in zip(chosen, answers, strict=True):
                if not future.done():
                    future.set_result(_AGAIN if answer is None else answer)
            self._end()

    def _end(self) -> None:
        self._under_way -= 1
        self.advance()
