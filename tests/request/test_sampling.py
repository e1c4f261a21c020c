"""When the runs of a request are sampled: what it says, what needs exact runs, and earlier requests."""

from __future__ import annotations

from typing import Any

import pytest

from scalegraph.base.errors import InputError
from scalegraph.base.run import RunPoint, RunRecord, Variant
from scalegraph.base.sampling import SAMPLES, SAMPLES_WHEN_LONG
from scalegraph.base.toml import validate
from scalegraph.request.model import collecting, variants
from scalegraph.request.model.request import Request
from tests.analyze import synthetic
from tests.views.test_estimated import estimate

POINT = RunPoint(processors=8)
FASTER = Variant(speedup={"line:a.c:1": "2"})


def request(sample: Any = None, **more: Any) -> Request:
    """Return a request on 1 and 8 processors, with *sample* as in a file."""
    collect = {} if sample is None else {"sample": sample}
    body = {"program": {"name": "ge1"}, "processors": [1, 8], "collect": collect, **more}
    return validate(Request, body, "")


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (None, "automatic"),
        (True, "always"),
        (False, "never"),
        *((name, name) for name in ("automatic", "always", "never")),
    ],
)
def test_requests_of_earlier_versions_keep_their_meaning(given: object, read: str) -> None:
    assert request(given).collect.sample == read
    assert Request.model_validate(request(given).model_dump()).collect.sample == read


def test_another_word_is_refused() -> None:
    with pytest.raises(InputError, match="'automatic', 'always' or 'never'"):
        request("sometimes")


@pytest.mark.parametrize(
    ("given", "more", "expected"),
    [
        (None, {}, (SAMPLES_WHEN_LONG,)),
        ("always", {}, (SAMPLES,)),
        ("never", {}, ()),
        (None, {"collect": {"classes": True}}, ("classes", SAMPLES_WHEN_LONG)),
        (None, {"what_if": [{"speedup": {"line:a.c:1": "2"}, "processors": [8]}]}, ()),
        (None, {"what_if": [{"speedup": {"line:a.c:1": "2"}, "processors": [1]}]}, (SAMPLES_WHEN_LONG,)),
        (None, {"what_if": [{"ideal": ["network"]}]}, (SAMPLES_WHEN_LONG,)),
        (None, {"speedups": {"lines": 3}}, ()),
    ],
)
def test_what_a_run_is_told(given: object, more: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert collecting.collected(request(given, **more), POINT, None) == expected


def test_runs_with_virtual_speedups_and_in_place_of_exact_ones_are_exact() -> None:
    faster = POINT.model_copy(update={"variant": FASTER})
    assert collecting.collected(request(), faster, None) == ()
    run = synthetic.fixed((8,))[0].model_copy(update={"collected": ()})
    assert collecting.collected(request(), run.point, run) == ()
    assert collecting.collected(request(), run.point, estimate(run)) == (SAMPLES_WHEN_LONG,)
    assert collecting.collected(request(), run.point, None, exact=True) == ()


def test_an_estimate_is_kept_unless_exact_runs_are_asked_for() -> None:
    run = estimate(synthetic.fixed((8,))[0])
    assert not collecting.lacks(request(), run)
    assert not collecting.lacks(request("always"), run)
    assert collecting.lacks(request("never"), run)
    assert collecting.lacks(request(what_if=[{"speedup": {"line:a.c:1": "2"}}]), run)


def test_an_estimate_that_hides_a_gain_is_simulated_again() -> None:
    run = synthetic.fixed((8,))[0]
    assert run.time_s

    def faster(share: float) -> RunRecord:
        point = run.point.model_copy(update={"variant": FASTER})
        return run.model_copy(update={"point": point, "time_s": run.time_s and run.time_s * share})

    assert variants.doubtful([estimate(run, 0.02), faster(0.99)]) == [run.point]
    assert variants.doubtful([estimate(run, 0.02), faster(0.9)]) == []
    assert variants.doubtful([run, faster(0.99)]) == []
