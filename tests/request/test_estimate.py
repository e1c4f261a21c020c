"""How long runs will take, estimated from the finished ones."""

from __future__ import annotations

import pytest

from scalegraph.base.expression import parse
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.request.model.family import Family
from scalegraph.request.planning.estimate import HostTime
from tests.analyze import synthetic


def taken(processors: int, host_s: float, **parameters: int) -> RunRecord:
    point = RunPoint(processors=processors, parameters=dict(parameters))
    return synthetic.fixed((processors,))[0].model_copy(update={"host_s": host_s, "point": point})


def test_runs_that_do_not_say_their_size_are_taken_for_the_base_size() -> None:
    family = Family({"n": 1000}, {"n": parse("N", ("N",))})
    host = HostTime(family)
    host.learn([taken(4, 2.05)])
    assert not host.learned
    host.learn([taken(4, 2.05)], of_base=True)
    assert host.seconds(RunPoint(processors=4, parameters={"n": 2000})) == pytest.approx(4.05)


def test_runs_that_say_their_size_are_learned_by_it() -> None:
    host = HostTime(Family({"n": 1000}, {"n": parse("N", ("N",))}))
    host.learn([taken(4, 2.05, n=4000)], of_base=True)
    assert host.seconds(RunPoint(processors=4, parameters={"n": 2000})) == pytest.approx(1.05)


def test_runs_that_lack_what_the_work_depends_on_teach_nothing() -> None:
    host = HostTime(Family({"n": 1000}, {}, work_formula=parse("n * n", ("n",))))
    host.learn([taken(4, 2.05)])
    assert not host.learned
    assert host.seconds(RunPoint(processors=4, parameters={})) is None
