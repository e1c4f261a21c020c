"""Forms for data-dependent counts: the sizes and the distributed part are found."""

from collections.abc import Callable, Sequence

import pytest

from scalegraph.base import expression
from scalegraph.base.run import Region
from scalegraph.predict.forms import Form, candidates, forms, points
from scalegraph.predict.regions import RegionSamples, region_time

SIZES = [
    {"i": i, "j": j, "m": m, "n": n}
    for i, j, m, n in (
        (5, 5, 20, 20),
        (5, 5, 10, 20),
        (5, 5, 20, 10),
        (5, 5, 5, 20),
        (2, 5, 20, 20),
        (5, 2, 20, 20),
        (1, 5, 20, 20),
        (2, 2, 10, 10),
        (5, 1, 20, 20),
        (5, 5, 20, 5),
    )
]


def region(busy: Sequence[int], processors: int) -> RegionSamples:
    runs = tuple(SIZES)
    total = tuple(processors * cycles for cycles in busy)
    nothing = (0,) * len(runs)
    place = Region(id=1, kind="for", name="for f:1")
    return RegionSamples(
        place, processors, runs, tuple(busy), tuple(busy), total, total, nothing, nothing, nothing, nothing
    )


def pulses(i: int, j: int, m: int, n: int, p: int) -> float:
    return 250 * -(-m * n // p) * (i + j)


def cubic(i: int, j: int, m: int, n: int, p: int) -> float:
    return 12 * (i + j) ** 3


@pytest.mark.slow
@pytest.mark.parametrize(("count", "processors"), [(pulses, 10), (cubic, 1)])
def test_sums_of_parameters_and_products_that_are_dealt_out_are_found(
    count: Callable[..., float], processors: int
) -> None:
    # a little noise, as from data-dependent branches: no polynomial is exact
    busy = [round(count(**values, p=processors) * (1 + (-1) ** k * 2e-3)) + k % 3 for k, values in enumerate(SIZES)]
    large = {"i": 10, "j": 10, "m": 128, "n": 96}
    found = region_time(region(busy, processors), [large])
    assert found.exact is None
    assert found.at(large, processors)[0].time_s == pytest.approx(count(**large, p=processors), rel=0.03)


def test_a_form_is_written_as_it_is_computed() -> None:
    form = Form((("m",), ("n",), ("i", "j")), (1, 2, 1), (0, 1))
    assert form.formula == "ceil(m * n / N) * n * (i + j)"
    values = {"i": 3, "j": 4, "m": 10, "n": 7}
    written = expression.parse(form.formula, frozenset({*values, "N"}))
    assert written({**values, "N": 8}) == form.at(values, 8) == 9 * 7 * 7
    for term in form.terms():
        assert expression.parse(term.formula, frozenset({*values, "N"}))({**values, "N": 8}) == term.at(values, 8)
    assert form.terms()[-1].at({"i": 3, "j": 4, "m": 8, "n": 7}, 1) == 1


def test_no_parameter_is_in_two_sizes_of_a_form() -> None:
    every = list(forms(["i", "j", "m"], divided=True))
    assert len({(form.sizes, form.powers, form.dealt) for form in every}) == len(every)
    assert all(len({n for size in form.sizes for n in size}) == sum(map(len, form.sizes)) for form in every)
    assert max(form.degree for form in every) == 4


@pytest.mark.slow
def test_terms_of_all_forms_at_once_are_those_of_each() -> None:
    samples = [(values, processors) for values in SIZES[:4] for processors in (3, 8)]
    for form, columns in candidates(("i", "j", "m"), points(samples), divided=True):
        terms = form.terms()[: len(form.sizes) + 1]
        for place, row in zip(samples, columns, strict=True):
            assert [*row] == pytest.approx([*(term.at(*place) for term in terms), 1.0])


def test_the_degree_of_shared_work_is_that_of_all_threads_together() -> None:
    # tasks of a factorisation on 8 threads: of few tasks one thread may get half, of many about an eighth
    parts = {5: 0.60, 10: 0.45, 20: 0.17}
    sizes = tuple({"n": n} for n in parts)
    total = tuple(40 * n**3 + n for n in parts)
    busy = tuple(round(all_ * part) for all_, part in zip(total, parts.values(), strict=True))
    nothing = (0,) * len(parts)
    place = Region(id=1, kind="task", name="task f:1")
    found = region_time(
        RegionSamples(place, 8, sizes, busy, busy, total, total, nothing, nothing, nothing, nothing), [{"n": 40}]
    )
    assert found.samples.shared
    assert 0.8 * 40 * 40**3 / 8 < found.at({"n": 40}, 8)[0].time_s < 1.7 * 40 * 40**3 / 8
