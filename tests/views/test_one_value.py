"""One quantity has one value: compares views, verdicts, report, matrices, JSON and sentences.

On six studies including the shipped one, and one that has runs under schedules, accounts and a report of everything.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from scalegraph.analyze.fits import karp_flatt
from scalegraph.analyze.fixed import turning_point
from scalegraph.base.measures import percent
from scalegraph.base.resources import resource_dir
from scalegraph.base.units import significant
from scalegraph.figures.figure import Table
from scalegraph.request import Session
from scalegraph.request.imports import sets
from scalegraph.request.results import quantities
from scalegraph.request.results.report import report
from scalegraph.subjects import fitted_models, judgement, matrices, schedule_runs
from scalegraph.subjects.study import StudyData
from scalegraph.views import registry
from tests.views import studies

COUNTS = (1, 2, 4, 8, 16, 32)


def _table(times: dict[int, float], size: str = "n") -> str:
    return f"p,{size},time [s]\n" + "".join(f"{n},100,{time!r}\n" for n, time in times.items())


def _sizes() -> str:
    """Times of several sizes on each N, with their operations: T = (W/N + 40)/1000 + 0.003 log2 N."""
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


@pytest.fixture(params=["demo", "full", *STUDIES], scope="module")
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StudyData:
    session = Session()
    if request.param == "full":
        return studies.full()
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
    assert last["weak_efficiency"] == pytest.approx(table["time_s"].iloc[0] / last["time_s"])  # as in the glossary
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
        # both intervals are simultaneous over all hypotheses, so they overlap
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
    assert f"scalability {significant(psi)}" in sentence(study, "size-and-speed")
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


class _Report(HTMLParser):
    """Parses a report: the sentence and numbers of each view, and the verdicts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sentences: dict[str, str] = {}
        self.rows: dict[str, list[list[str]]] = {}
        self.verdicts: list[str] = []
        self._view, self._into = "", ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag == "section":
            self._view = known["id"] or ""
            self.rows[self._view] = []
        elif tag == "ul":
            self._into = "verdicts" if known.get("class") == "lead" else ""
        elif tag == "li" and self._into == "verdicts":
            self.verdicts.append("")
        elif tag == "p" and self._view and self._view not in self.sentences:
            self.sentences[self._view], self._into = "", "sentence"
        elif tag == "tr" and self._view:
            self.rows[self._view].append([])
        elif tag in ("td", "th") and self._view:
            self.rows[self._view][-1].append("")
            self._into = "cell"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("p", "td", "th", "ul"):
            self._into = ""

    def handle_data(self, data: str) -> None:
        if self._into == "verdicts" and self.verdicts:
            self.verdicts[-1] += data
        elif self._into == "sentence":
            self.sentences[self._view] += data
        elif self._into == "cell":
            self.rows[self._view][-1][-1] += data

    def column(self, view: str, name: str) -> dict[int, float]:
        """Return a column's numbers by N, without other values."""
        head, *rows = self.rows[view]
        at, count = next(i for i, cell in enumerate(head) if cell.startswith(name)), head.index("processors N")
        return {int(float(row[count])): float(row[at].replace(",", "")) for row in rows if row[at].strip("–—")}


SHOWN = ("speedup", "time", "weak-scaling", "serial-fraction", "laws", "pop", "advise")


def test_the_report_has_the_numbers_of_views_verdicts_and_json(study: StudyData) -> None:
    views = [name for name in SHOWN if not registry()[name].build(study).empty]
    made = _Report(report(study, views))
    assert made.verdicts == [item.text for item in judgement.said(study)]
    assert made.sentences == {name: sentence(study, name) for name in views}
    series = study.main_series
    if series is None:
        return
    for view, name in (("speedup", "speedup"), ("time", "elapsed time")):
        if view in views:
            column = "speedup" if view == "speedup" else "time_s"
            json = dict(zip(series.rows["processors"].astype(int), series.rows[column].astype(float), strict=True))
            shown = made.column(view, name)
            assert shown == {n: pytest.approx(json[n], rel=0.006) for n in shown}
            assert set(shown) == {n for n, value in json.items() if np.isfinite(value)}


def test_the_fastest_is_the_least_of_all_times(study: StudyData) -> None:
    series = study.main_series
    point = None if series is None else turning_point(series.rows)
    if series is None or point is None:
        return
    rows = series.rows
    assert point.time_s == rows["time_s"].min()
    assert point.processors == int(rows.loc[rows["time_s"].idxmin(), "processors"])
    turning = quantities.compute(study, "turning")
    mine = turning[turning["label"] == series.label]
    assert int(mine["p_x"].iloc[0]) == point.processors
    fastest = sentence(study, "speedup")
    assert f"at best {significant(point.speedup)} times" in fastest
    assert f"on {point.processors} processor" in fastest
    strong = next((one.text for one in judgement.said(study) if one.kind == "strong"), "")
    said = re.search(r"fastest on (\d+)", strong)
    assert (said is None) == (not point.reached or not strong)
    assert said is None or int(said[1]) == point.processors


def test_pop_is_one_number_and_its_products_hold(study: StudyData) -> None:
    table = quantities.compute(study, "pop")
    series = study.main_series
    if quantities.blank(table) or series is None or registry()["pop"].build(study).empty:
        return
    mine = table[table["label"] == series.label].set_index("processors")
    for whole, one, other in (
        ("global", "parallel", "computation"),
        ("parallel", "load_balance", "communication"),
        ("communication", "serialisation", "transfer"),
    ):
        np.testing.assert_allclose(mine[whole], mine[one] * mine[other], rtol=1e-9, equal_nan=True)
    last = mine.iloc[-1]
    said = sentence(study, "pop")
    assert f"On {mine.index[-1]} processors the global efficiency is {percent(float(last['global']))}" in said
    named = re.search(r"most is lost to .*? \((\d+) %\)", said)
    leaves = [last[name] for name in ("load_balance", "serialisation", "transfer", "instructions", "ipc", "frequency")]
    assert named is None or int(named[1]) == round(100 * float(np.nanmin(leaves)))
    scaling = study.scaling[study.scaling["label"] == series.label].set_index("processors")
    if int(last["reference"]) == 1 and not scaling["idle_s"].isna().any():
        # on one processor all work is useful, so both efficiencies have the same loss
        useful = scaling["busy_s"] + scaling["memory_stall_s"]
        alone = float(useful.loc[1] / scaling["time_s"].loc[1])
        np.testing.assert_allclose(mine["global"], scaling["efficiency"] * alone, rtol=1e-6)


def test_the_best_schedule_is_the_one_with_the_least_time(study: StudyData) -> None:
    runs = schedule_runs.schedule_runs(study)
    if runs is None:
        return
    advice = runs.every_advice()[-1]
    times = {name: run.time_s for name, run in runs.records(advice.processors).items()}
    least = min(times, key=lambda name: times[name] or np.inf)
    assert advice.fastest == least
    gain = 1 - (times[least] or 0) / (advice.written.time_s or 1)
    for view in ("schedules", "schedule-advice"):
        assert percent(gain) in sentence(study, view) or gain <= 0
    shown = next(panel for panel in registry()["schedules"].build(study).panels if isinstance(panel, Table))
    seconds = [float(row.values[len(runs.counts)]) for row in shown.rows]  # type: ignore[arg-type]
    assert seconds == sorted(seconds)  # fastest first
    assert seconds[0] == times[least]
    json = quantities.compute(study, "schedules")
    assert float(pd.to_numeric(json[json["processors"] == advice.processors]["time_s"]).min()) == times[least]


def test_the_run_to_do_next_is_the_one_worth_most(study: StudyData) -> None:
    said = sentence(study, "advise")
    shown = [panel for panel in registry()["advise"].build(study).panels if isinstance(panel, Table)]
    if not shown:
        return
    column = [each.name for each in shown[0].columns].index("narrowed per second")
    worth = [row.values[column] for row in shown[0].rows]
    assert worth == sorted(worth, reverse=True)  # type: ignore[type-var]
    first = int(shown[0].rows[0].values[0])  # type: ignore[arg-type]
    assert f" N = {first}" in said.split(" next:")[0]


def _texts(item: object) -> Iterator[str]:
    """Yield all texts of a figure except its notes."""
    if isinstance(item, str):
        yield item
    elif isinstance(item, tuple | list):
        for each in item:
            yield from _texts(each)
    elif dataclasses.is_dataclass(item):
        for part in dataclasses.fields(item):
            if part.name not in ("notes", "ways", "key"):
                yield from _texts(getattr(item, part.name))


def test_who_shows_work_says_what_it_is_and_who_averages_over_what(study: StudyData) -> None:
    for name, view in registry().items():
        figure = view.build(study)
        if figure.empty or (view.group in ("Models", "Prediction") and name != "isoefficiency"):
            continue  # formulas with users' parameters, which may be called W
        texts = list(_texts(figure))
        if any(re.search(r"(?<![\w'])W\b'?(?!\w)", text) for text in texts):
            assert f"{study.work_words}." in figure.notes, name
        if any("average latency" in text.lower() for text in texts) and name not in ("compare", "overestimation"):
            assert any("the mean over all processors of a run" in note for note in figure.notes), name
