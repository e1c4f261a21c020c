"""The Python API gives the same results as command line and window, prints nothing and fails with sentences."""

from __future__ import annotations

import base64
import gc
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import scalegraph as sg
from scalegraph.base.errors import InputError, StoreError, WorkError
from scalegraph.figures.figure import Figure
from scalegraph.measurements.mapping import Unanswered
from scalegraph.request import Session
from scalegraph.request.results import quantities
from scalegraph.store import Study
from tests.measurements import samples
from tests.views import studies

TIMES = pd.DataFrame({"p": [1, 2, 4, 8, 8], "t": [8.0, 4.2, 2.3, 1.4, 1.5]})


@pytest.fixture
def data(place: Path) -> sg.Data:
    return sg.load("times.csv", unit="s")


def said(call: Any) -> str:
    with pytest.raises(sg.ScaleGraphError) as caught:
        call()
    return str(caught.value)


def told(call: Any) -> str:
    """Return the message of an error, or ``made`` without one."""
    try:
        made = call()
    except sg.ScaleGraphError as error:
        return str(error)
    return "made" if made is not None else ""


@pytest.mark.slow
def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, scalegraph as sg; heavy = {'pandas', 'numpy', 'pydantic', 'scipy', 'click', 'scalegraph.api'}; "
        "assert set(sg.__all__) <= set(dir(sg)); found = heavy & set(sys.modules); assert not found, found; "
        "sg.load; assert 'scalegraph.api' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_name_of_the_package_is_there() -> None:
    assert all(getattr(sg, name) is not None for name in sg.__all__)
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        _ = sg.lod  # type: ignore[attr-defined]


def test_the_package_of_views_stays_what_it_is() -> None:
    from scalegraph import views

    assert "speedup" in views.registry()


@pytest.mark.slow
def test_measurements_are_loaded_with_what_is_said_of_them(data: sg.Data) -> None:
    assert data.name == "times"
    assert repr(data) == "<Data 'times': 126 runs on 1 to 32 processors>"
    assert data.measured is not None
    assert data.measured.parameters == ("p", "n")
    assert set(data.scaling["processors"]) == {1, 2, 4, 8, 16, 32}


def test_what_cannot_be_guessed_is_asked_with_the_keyword_that_answers(place: Path) -> None:
    with pytest.raises(Unanswered) as caught:
        sg.load("times.csv")
    assert str(caught.value) == "times.csv: 'time' has no unit; say unit='s' or 'ms'"
    assert [question.key for question in caught.value.questions] == ["unit"]


@pytest.mark.slow
def test_several_files_become_one_set(place: Path) -> None:
    (place / "more.csv").write_text("p,n,time\n64,1000,0.2\n")
    assert sg.load(["times.csv", place / "more.csv"], unit="s").runs["processors"].max() == 64


def test_tables_are_read_as_is_said(place: Path) -> None:
    (place / "odd.csv").write_text("a;b\n1;8,5\n2;4,5\n4;2,5\n")
    table = {"decimal": ",", "delimiter": ";", "columns": {"a": "parameter", "b": "metric"}}
    found = sg.load("odd.csv", table=table, processors="a", time="b", unit="ms")
    assert list(found.runs["time_s"]) == pytest.approx([0.0085, 0.0045, 0.0025])
    assert said(lambda: sg.load("odd.csv", table={"delim": ";"})) == (
        "table: delim: unknown key 'delim'; did you mean 'delimiter'?"
    )


@pytest.mark.slow
def test_a_frame_is_a_set_and_its_repetitions_are_kept() -> None:
    found = sg.frame(TIMES, processors="p", time="t", unit="s", name="mine")
    assert found.name == "mine"
    assert list(found.runs["time_s"]) == list(TIMES["t"])
    assert list(found.runs["repetition"]) == [0, 0, 0, 0, 1]
    assert found.scaling["speedup"].iloc[1] == pytest.approx(8 / 4.2)


def test_a_named_index_and_units_in_titles_count() -> None:
    table = TIMES.rename(columns={"t": "time (ms)"}).set_index("p")
    found = sg.frame(table, processors="p", time="time (ms)")
    assert list(found.runs["time_s"]) == pytest.approx([value / 1000 for value in TIMES["t"]])


def test_time_spans_are_seconds_and_blanks_around_titles_do_not_count() -> None:
    spans = pd.DataFrame({" p ": [1, 2], "t": pd.to_timedelta([3000, 1500], unit="ms")})
    found = sg.frame(spans, processors=" p ", time="t", unit="s")
    assert list(found.runs["time_s"]) == [3.0, 1.5]
    assert list(spans.columns) == [" p ", "t"]


def test_numbers_of_a_frame_keep_every_digit() -> None:
    exact = [1 / 3, 2.5e-7, 3e-100]
    found = sg.frame(pd.DataFrame({"p": [1, 2, 4], "t": exact}), processors="p", time="t", unit="s")
    assert list(found.runs["time_s"]) == exact


def test_places_in_a_frame_are_rows(place: Path) -> None:
    wrong = pd.DataFrame({"p": [1, 2], "t": [1.0, "x"]})
    assert said(lambda: sg.frame(wrong, processors="p", time="t", unit="s")).startswith("frame, row 1: ")
    gap = pd.DataFrame({"p": [1, 2, 4], "t": [1.0, float("nan"), 0.3]})
    found = sg.frame(gap, processors="p", time="t", unit="s")
    assert found.notes == ["skipped: cells (1): empty, first at frame, row 1"]


def test_a_frame_is_asked_about_in_its_own_keywords() -> None:
    assert said(lambda: sg.frame(TIMES)) == "frame: 't' has no unit; say unit='s' or 'ms'"


@pytest.mark.slow
def test_matrices_are_those_of_the_session(data: sg.Data) -> None:
    made = data.matrix("isoefficiency", efficiency=0.7)
    expected = Session().matrix(data._study, metric="isoefficiency", target=0.7)
    assert made == expected
    assert data.matrix("isospeed").bound == "speed"
    assert data.matrix(bound="time", time=1.0).target == 1.0
    assert data.matrix(efficiency=0.7, way="best", processors=[2, 8, 64]).ways[(2, 64)] == "predicted"


@pytest.mark.slow
def test_a_matrix_shows_itself(data: sg.Data) -> None:
    page = data.matrix("isoefficiency", efficiency=0.7, way="best", processors=[2, 8, 64])._repr_html_()
    assert "efficiency held at 0.7" in page
    assert page.count("<tr>") == 4
    assert "*</td>" in page
    assert page.count("background:#") == 6
    assert 'background:#fde725;color:#000">1' in page


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"time": 3.0}, "time: is given, but the bound is efficiency: bound='time'"),
        ({"bound": "tim"}, "bound: 'tim'; did you mean 'time'?; known: efficiency, time, memory, speed"),
        ({"efficiency": 3}, "efficiency: expected a number between 0.001 and 0.999, got '3'"),
        (
            {"way": "guess"},
            "way: expected one of runs, measured, computed, predicted, best, log2, theorem1, theorem2, got 'guess'",
        ),
        ({"metric": "foo"}, "metric: expected one of latency, isospeed, isoefficiency, got 'foo'"),
    ],
)
def test_wrong_options_of_a_matrix_are_told(data: sg.Data, options: dict[str, Any], sentence: str) -> None:
    assert said(lambda: data.matrix(**options)) == sentence


@pytest.mark.slow
def test_no_matrix_is_an_error_that_says_why(data: sg.Data) -> None:
    with pytest.raises(WorkError, match=r"^times: no matrix: no memory is met on several processor counts"):
        data.matrix(bound="memory")


@pytest.mark.slow
def test_every_quantity_is_a_table(data: sg.Data) -> None:
    for name in quantities.QUANTITIES:
        if name not in ("profile", "lines", "processors", "pop-regions"):  # these need simulated runs
            assert isinstance(data.quantity(name), pd.DataFrame), name
    assert said(lambda: data.quantity("lawz")) == "what: unknown quantity 'lawz'; did you mean 'laws'?"


@pytest.mark.slow
def test_tables_are_copies(data: sg.Data) -> None:
    for table, column in ((data.runs, "time_s"), (data.scaling, "speedup"), (data.quantity("runs"), "time_s")):
        table[column] = 0.0
    assert data.runs["time_s"].min() > 0
    assert data.scaling["speedup"].min() > 0


@pytest.mark.slow
def test_laws_models_verdicts_and_advice(data: sg.Data) -> None:
    assert data.laws()[0].predict([1])[0] == pytest.approx(64, rel=0.02)
    found = data.models()
    assert found.names == ("program",)
    assert "n" in found.models.formula(0)
    assert all(sentence.endswith(".") for sentence in data.verdicts())
    assert data.advise(at=64, cost="processor")[0].cost > 0
    assert said(lambda: data.models("flops")) == "metric: no metric 'flops'; known: time"
    assert said(lambda: data.advise(cost="money")).startswith("cost: expected one of elapsed")  # type: ignore[arg-type]


def test_what_has_too_little_says_so() -> None:
    one = sg.frame(TIMES.head(1), processors="p", time="t", unit="s")
    for call in (one.laws, one.models, one.advise):
        assert said(call).startswith("frame: no ")
    assert one.verdicts() == []


@pytest.mark.slow
def test_a_picture_is_shown_in_every_way(data: sg.Data, place: Path) -> None:
    picture = data.view("speedup")
    assert isinstance(picture.figure, Figure)
    assert picture.sentence == picture.figure.sentence
    assert (picture._repr_png_() or b"").startswith(b"\x89PNG")
    assert "<svg" in (picture._repr_svg_() or "")
    assert picture._repr_html_() is None
    picture.save(place / "speedup.csv")
    assert len(pd.read_csv("speedup.csv")) == len(picture.frame())
    assert said(lambda: picture.save("speedup.doc")).startswith("speedup.doc: cannot write '.doc' files")


@pytest.mark.slow
def test_a_study_shows_its_sentence_its_table_and_its_picture(data: sg.Data) -> None:
    page, png = data._repr_html_(), data._repr_png_()
    assert png is not None
    assert png.startswith(b"\x89PNG")
    assert base64.b64encode(png).decode() in page
    assert escape(data.view("speedup").sentence) in page
    assert "<th>speedup</th>" in page
    assert page.count("<tr>") == 1 + 6
    assert "http" not in page


@pytest.mark.slow
def test_a_study_without_runs_shows_what_it_has(tmp_path: Path) -> None:
    few = sg.frame(TIMES.head(1), processors="p", time="t", unit="s")
    assert "<b>frame: 1 run</b>" in few._repr_html_()
    assert few._repr_png_() is not None
    (tmp_path / "set.txt").write_text(samples.TEXT)
    untimed = sg.load(tmp_path / "set.txt", time="none")
    assert "<img" in untimed._repr_html_()


@pytest.mark.slow
def test_an_empty_picture_is_its_sentence(data: sg.Data) -> None:
    picture = data.view("profile")
    assert picture._repr_png_() is None
    assert picture._repr_svg_() is None
    assert picture.sentence in (picture._repr_html_() or "")


def test_views_and_their_options_are_checked(data: sg.Data) -> None:
    assert said(lambda: data.view("spedup")).startswith("unknown view 'spedup'; did you mean 'speedup'?")
    assert "has no option 'foo'" in said(lambda: data.view("speedup", foo=1))
    assert said(lambda: data.compare(data, view="speedup")).startswith(
        "view: 'speedup' is not a view of several studies"
    )
    assert said(data.compare) == "times: two or more studies were expected, got 1"


@pytest.mark.slow
def test_studies_are_compared(data: sg.Data) -> None:
    other = sg.frame(TIMES, processors="p", time="t", unit="s", name="other")
    assert "other" in data.compare(other, quantity="efficiency").sentence


@pytest.mark.slow
def test_statements_are_checked(data: sg.Data) -> None:
    outcomes = data.check("E(8) > 0.5", "E(8) > 1.5", "E(999) > 0")
    assert [outcome.passed for outcome in outcomes] == [True, False, None]
    assert said(lambda: data.check("E(8)")).startswith("assert: 'E(8)': compares nothing")


@pytest.mark.slow
def test_a_report_and_a_study_are_written(data: sg.Data, place: Path) -> None:
    data.report(place / "r.html", views=["speedup"])
    assert "<svg" in (place / "r.html").read_text() or "base64" in (place / "r.html").read_text()
    data.save("kept.sgstudy")
    again = sg.load("kept.sgstudy")
    pd.testing.assert_frame_equal(again.runs, data.runs)
    assert sg.load("kept.sgstudy", scaling="weak").measured is not None
    assert said(lambda: data.save("kept.png")) == "kept.png: a study is kept in a file with the ending .sgstudy"
    assert said(lambda: data.report("kept.png")) == "kept.png: an ending of .html or .pdf was expected"


@pytest.mark.slow
def test_a_study_is_read_after_it_is_closed(data: sg.Data) -> None:
    data.save("kept.sgstudy")
    with sg.load("kept.sgstudy") as again:
        pass
    again.close()
    assert len(again.runs) == len(data.runs)
    assert again.laws()
    with pytest.raises(StoreError):
        again.save("more.sgstudy")


@pytest.mark.slow
def test_what_is_forgotten_is_closed(data: sg.Data) -> None:
    data.save("kept.sgstudy")
    forgotten = sg.load("kept.sgstudy")
    finalizer = forgotten._finalizer
    del forgotten
    gc.collect()
    assert not finalizer.alive


def test_only_one_study_is_loaded_at_a_time(data: sg.Data) -> None:
    data.save("kept.sgstudy")
    assert said(lambda: sg.load(["kept.sgstudy", "times.csv"])).startswith("kept.sgstudy: is a study; ")


def test_missing_files_are_all_told(place: Path) -> None:
    assert said(lambda: sg.load(["a.csv", "b.csv"])) == "a.csv: no such file\nb.csv: no such file"
    assert said(lambda: sg.load([])) == "a file or directory was expected, got none"
    assert said(lambda: sg.run("nothing.toml")) == "nothing.toml: no such file"


@pytest.mark.slow
def test_the_lists_name_what_there_is() -> None:
    assert "ksr1" in sg.machines().index
    assert "efficiency" in sg.pictures().loc["matrix", "options"]
    assert list(sg.quantities().index) == list(quantities.QUANTITIES)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sources": "nothing.c"}, "program.sources.0: 'nothing.c': no such file"),
        ({"sources": "prog.c", "machine": "kssr"}, "machine.name: unknown machine 'kssr'; did you mean 'ksr1'?"),
        ({"sources": "prog.c", "processors": [0]}, "processors.0: expected 1 to 65536 processors; got 0"),
        ({}, "either 'name' (a shipped program), 'sources', 'executable' or 'command' was expected"),
    ],
)
def test_requests_that_are_none_are_told(place: Path, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        sg.simulate(**options)
    assert str(caught.value).startswith(sentence)


@pytest.mark.slow
@pytest.mark.compiler
def test_simulated_runs_are_kept_and_others_may_write_them(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = sg.simulate(place / "prog.c", processors=(2,), args=[100], study="kept.sgstudy")
    assert sorted(found.runs["processors"]) == [1, 2]
    assert found.measured is not None
    assert capfd.readouterr() == ("", "")
    with Study.open("kept.sgstudy", write=True) as study:
        assert len(study) == 2


@pytest.mark.slow
def test_studies_of_every_kind_give_tables_or_sentences() -> None:
    for name, few in studies.few().items():
        study = Study.memory(studies_manifest())
        study.add_runs([*few.runs])
        found = sg.Data(study, name)
        assert len(found.runs) == len(few.table)
        for call in (found.matrix, found.laws, found.models, found.advise):
            assert told(call).startswith((f"{name}: ", "made"))


def studies_manifest() -> Any:
    from scalegraph.store import Manifest

    return Manifest.new(title="t", program="p", machine="ksr1")


@pytest.mark.slow
@pytest.mark.compiler
def test_small_runs_predict_larger_ones(place: Path) -> None:
    small = sg.run("sizes.toml")
    table = small.predict([{"n": 192}, {"n": 64}], processors=[4])
    assert list(table["param.n"]) == [192, 64]
    assert (table["low_s"] <= table["time_s"]).all()
    assert (table["time_s"] <= table["high_s"]).all()
    assert table["error"].isna().tolist() == [True, False]  # 64 was run
    assert table["refused"].tolist() == ["", ""]
    with pytest.raises(sg.ScaleGraphError, match="at least one run"):
        small.predict([])
    with pytest.raises(sg.ScaleGraphError, match="no run has the parameter m"):
        small.predict([{"m": 3}])


def test_a_rate_is_said_of_files_and_frames(place: Path) -> None:
    table = pd.DataFrame({"p": [1, 2, 4], "score": [100, 190, 350]})
    table.to_csv(place / "rates.csv", index=False)
    for data in (sg.load(place / "rates.csv", rate="score"), sg.frame(table, rate="score")):
        assert list(data.scaling["speedup"].round(2)) == [1.0, 1.9, 3.5]
    assert "'scores' is not a metric of the set; did you mean 'score'?" in said(lambda: sg.frame(table, rate="scores"))
