"""One number has one value: what views, verdicts, matrices, JSON and sentences share is compared, on six studies."""

from __future__ import annotations

import itertools
import re

import pytest

from scalegraph.analyze.fits import karp_flatt
from scalegraph.base.resources import resource_dir
from scalegraph.base.units import significant
from scalegraph.request import Session
from scalegraph.request.imports import sets
from scalegraph.request.results import quantities
from scalegraph.subjects import fitted_models, judgement, matrices
from scalegraph.subjects.study import StudyData
from scalegraph.views import registry

COUNTS = (1, 2, 4, 8, 16, 32)


def _table(times: dict[int, float], size: str = "n") -> str:
    return f"p,{size},time [s]\n" + "".join(f"{n},100,{time!r}\n" for n, time in times.items())


def _sizes() -> str:
    """Times of several sizes on each N, with the operations of each: T = (W/N + 40)/1000 + 0.003 log2 N."""
    rows = ["p,n,time [s],flops"]
    for n, step in itertools.product((1, 2, 4, 8), range(7)):
        work = 200 * 2**step
        rows.append(f"{n},{work},{(work / n + 40) / 1000 + 0.003 * (n.bit_length() - 1)!r},{work}")
    return "\n".join(rows) + "\n"


STUDIES = {
    "amdahl": _table({n: 10 * (0.05 + 0.95 / n) for n in COUNTS}),
    "minimum": _table({n: 30 / n + 0.5 * (n.bit_length() - 1) for n in COUNTS}),
    "noisy": _table({1: 9.8, 2: 6.4, 4: 4.1, 8: 2.9, 16: 2.3, 32: 2.2}),
    "weak": "p,n,time [s],flops\n" + "".join(f"{n},{100 * n},{2 + 0.1 * n!r},{1000 * n + 7 * n}\n" for n in COUNTS),
    "sizes": _sizes(),
}


pytestmark = pytest.mark.slow


@pytest.fixture(params=["demo", *STUDIES], scope="module")
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StudyData:
    session = Session()
    if request.param == "demo":
        return session.study_data(session.open(resource_dir("studies") / "demo.sgstudy"))
    path = tmp_path_factory.mktemp("one") / f"{request.param}.csv"
    path.write_text(STUDIES[request.param])
    return session.study_data(sets.opened([path]))


def sentence(study: StudyData, view: str, **options: object) -> str:
    made = registry()[view].build(study, **options)
    return "" if made.empty else made.sentence


def test_weak_efficiency_is_one_number(study: StudyData) -> None:
    table = quantities.compute(study, "weak")
    said = next((one for one in judgement.said(study) if one.kind == "weak"), None)
    if quantities.blank(table) or said is None:
        return
    last = table.iloc[-1]
    assert said.value == pytest.approx(last["weak_efficiency"])
    assert last["weak_efficiency"] == pytest.approx(table["time_s"].iloc[0] / last["time_s"])  # as the glossary has it
    assert f"weak efficiency is {significant(float(last['weak_efficiency']))}" in sentence(study, "weak-scaling")


def test_speedup_and_efficiency_are_one_number(study: StudyData) -> None:
    strong = next((one for one in judgement.said(study) if one.kind == "strong"), None)
    series = study.main_series
    if strong is None or series is None:
        return
    last = series.rows.iloc[-1]
    assert strong.value == pytest.approx(float(last["efficiency"]))
    assert float(last["efficiency"]) == pytest.approx(float(last["speedup"]) / float(last["processors"]))
    table = quantities.compute(study, "speedup")
    mine = table[(table["processors"] == last["processors"]) & (table["label"] == last["label"])]
    assert float(mine["speedup"].iloc[0]) == pytest.approx(float(last["speedup"]))


def test_a_trend_is_that_of_its_ends(study: StudyData) -> None:
    timed = fitted_models.times(study, None, "strong")
    found = None if timed is None else karp_flatt(timed.processors, timed.times)
    if found is None:
        return
    change = found.fractions[-1].value - found.fractions[0].value
    assert not (found.trend == "grows" and change <= 0)
    assert not (found.trend == "falls" and change >= 0)
    assert sentence(study, "serial-fraction").endswith(found.sentence) or found.sentence in sentence(
        study, "serial-fraction"
    )


def test_fit_and_laws_say_the_same_of_the_same_law(study: StudyData) -> None:
    made = fitted_models.laws(study)
    if made is None:
        return
    _, fits = made
    best = fits[0]
    fit, laws = sentence(study, "fit"), sentence(study, "laws")
    assert fit.startswith(best.title)
    assert laws.startswith(best.title)
    assert best.decided == (not best.doubt)
    assert (best.doubt or best.settled) in fit
    table = quantities.compute(study, "laws")
    assert bool(table[table["best"]]["decided"].all()) == best.decided
    distinguished = "distinguish it from the other laws" in fit
    assert distinguished == ("No other law is plausible" in laws)
    assert not (best.adjusted_r2 < 0)
    models = quantities.compute(study, "models") if study.imported is not None else None
    if models is not None and len(models) == 1 and len(table):
        # both intervals are of all hypotheses together, so they overlap
        mine = table.iloc[0]
        assert float(mine["predicted_low_s"]) <= float(models["predicted_high"].iloc[0])
        assert float(models["predicted_low"].iloc[0]) <= float(mine["predicted_high_s"])


def test_psi_is_one_number(study: StudyData) -> None:
    made = matrices.matrix(study, "speed", metric="isospeed")
    known = [] if made is None else sorted(n for n, anchor in made.anchors.items() if anchor.known)
    if made is None or len(known) < 2:
        return
    psi = made.value(known[0], known[-1])
    assert psi is not None
    assert f"= {significant(psi)}" in sentence(study, "size-and-speed")
    assert f"scale {significant(psi)}" in sentence(study, "matrix", metric="isospeed", bound="all")
    assert made.to_json()["matrix"][made.processors.index(known[0])][made.processors.index(known[-1])] == psi
    growth = re.search(r"the work grows ([\d.]+) times", sentence(study, "isospeed-contour"))
    if growth:
        assert float(growth[1]) == pytest.approx(known[-1] / (known[0] * psi), rel=0.01)


def test_an_average_is_over_two_efficiencies_and_names_them(study: StudyData) -> None:
    found = matrices.averaged(study)
    if found is None:
        return
    targets = [one.target for one in found[1]]
    assert len(set(targets)) >= 2
    assert all(significant(target, 2).rstrip("0") in sentence(study, "average-scalability") for target in targets)
