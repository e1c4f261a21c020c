"""Which runs share a Dask task, and that none is lost if the task fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalegraph.link.cluster.lane import Lane

SHORT, LONG = 0.01, 1.0


@dataclass(frozen=True)
class Run:
    job: int
    program: str = "p"
    priority: float = 0.0


@dataclass
class Place:
    """Carries out a lane's runs. *carried*: groups of runs that shared a task; *alone*: the other runs, in order."""

    slots: int = 2
    seconds: float = SHORT
    answer: Callable[[Run], object | None] = lambda run: f"answer {run.job}"
    carried: list[list[int]] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)
    most: int = 0
    _now: int = 0

    def __post_init__(self) -> None:
        self.lane = Lane(self._carry, lambda: self.slots)

    async def _task(self) -> None:
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0)
        self._now -= 1

    async def _carry(self, runs: list[Run]) -> Sequence[object | None]:
        self.carried.append([run.job for run in runs])
        await self._task()
        return [self.answer(run) for run in runs]

    async def _one(self, run: Run) -> object:
        async with self.lane.turn(run) as answer:
            if answer is not None:
                return answer
            self.alone.append(run.job)
            await self._task()
            self.lane.note(run.program, self.seconds)
            return f"answer {run.job}"

    def run(self, runs: Sequence[Run]) -> None:
        async def all_of_them() -> None:
            one: Coroutine[object, object, list[object]] = asyncio.gather(*map(self._one, runs))  # type: ignore[assignment]
            assert await asyncio.wait_for(one, 60) == [f"answer {run.job}" for run in runs]

        asyncio.run(all_of_them())


def test_runs_are_alone_until_it_is_known_that_they_are_short() -> None:
    place = Place()
    place.run([Run(job) for job in range(100)])
    assert 4 <= len(place.alone) <= 12  # the last runs are spread over the workers
    assert max(map(len, place.carried)) == 16
    assert sorted(sum(place.carried, place.alone)) == list(range(100))
    assert place.most <= 4  # two for each slot


@pytest.mark.parametrize("late", ["all", "by their estimate"])
def test_long_runs_are_alone_and_begin_first(late: str) -> None:
    place = Place(seconds=LONG if late == "all" else SHORT)
    place.run([Run(job, priority=LONG if late != "all" and job % 2 else 0.0) for job in range(40)])
    if late == "all":
        assert place.alone == list(range(40))
        assert not place.carried
    else:
        assert set(range(1, 40, 2)) <= set(place.alone)
        assert place.alone.index(39) < 24
        assert all(job % 2 == 0 for jobs in place.carried for job in jobs)


def test_runs_of_several_programs_share_no_task() -> None:
    place = Place()
    place.run([Run(job, program="pq"[job % 2]) for job in range(80)])
    assert place.carried
    assert all(len({job % 2 for job in jobs}) == 1 for jobs in place.carried)


def test_runs_of_a_task_that_failed_are_carried_out_alone() -> None:
    def answer(_run: Run) -> object:
        raise OSError("the worker was lost")

    place = Place(answer=answer)
    place.run([Run(job) for job in range(30)])
    assert place.carried
    assert sorted(place.alone) == list(range(30))


@given(slots=st.integers(0, 5), refused=st.sets(st.integers(0, 59)), count=st.integers(1, 60))
def test_every_run_has_one_answer(slots: int, refused: set[int], count: int) -> None:
    place = Place(slots=slots, answer=lambda run: None if run.job in refused else f"answer {run.job}")
    place.run([Run(job) for job in range(count)])
    shared = {job for jobs in place.carried for job in jobs}
    assert sorted(place.alone + list(shared - refused)) == list(range(count))


def test_what_still_waits_can_be_taken_out() -> None:
    async def drained() -> list[int]:
        place = Place(slots=1)
        tasks = [asyncio.create_task(place._one(Run(job))) for job in range(6)]
        await asyncio.sleep(0)
        left = [run.job for run in place.lane.drain()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return left

    assert asyncio.run(drained()) == [2, 3, 4, 5]
