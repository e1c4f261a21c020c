from __future__ import annotations

import base64
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pypdf
import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, InputError
from scalegraph.figures.figure import Figure
from scalegraph.figures.render import numbers
from scalegraph.request.results import assertions, front, report
from scalegraph.subjects.study import StudyData
from scalegraph.views import registry
from tests.analyze import synthetic

pytestmark = pytest.mark.slow


class _Page(HTMLParser):
    """Collects what the tests examine: pictures, links, headings, and whether elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)
        if given.get("src"):
            self.sources.append(str(given["src"]))
        if given.get("href"):
            self.links.append(str(given["href"]))
        if given.get("id"):
            self.names.add(str(given["id"]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def _page(text: str) -> _Page:
    page = _Page()
    page.feed(text)
    assert page.open == []
    return page


@pytest.fixture(scope="module")
def data() -> StudyData:
    runs = [*synthetic.fixed(program="<model>"), *synthetic.grid(program="<model>")]
    return replace(StudyData.from_runs(runs, regions=synthetic.REGIONS), name="study")


def test_a_report_holds_pictures_numbers_and_sentences_and_loads_nothing(data: StudyData) -> None:
    page = _page(report.report(data, ["speedup", "matrix", "verdicts"]))
    assert len(page.sources) == 3
    for source in page.sources:
        kind, _, picture = source.partition(",")
        assert kind == "data:image/svg+xml;base64"
        assert base64.b64decode(picture).startswith(b"<?xml")
    assert set(page.links) == {"#speedup", "#matrix", "#verdicts"}
    assert {link.removeprefix("#") for link in page.links} <= page.names
    text = " ".join(page.words)
    assert "Strong scaling of" in text
    assert "<model>" in text  # as text, not as an element


def test_outcomes_of_statements_stand_in_it(data: StudyData) -> None:
    found = assertions.check(data, ["E(1) == 1", "E(64) > 0.9"])
    text = report.report(data, ["speedup"], outcomes=found)
    assert '<li class="passed"><code>E(1) == 1</code>' in text
    assert '<li class="failed"><code>E(64) &gt; 0.9</code>' in text


def test_a_view_that_was_asked_for_and_is_empty_says_why(data: StudyData) -> None:
    text = report.report(data, ["speedup", "compare"])
    assert "Not shown" in text
    assert "This compares two or more studies" in text


def test_nothing_to_report_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is nothing to report"):
        report.write(StudyData.from_runs([]), tmp_path / "r.html", ["speedup"])
    assert not (tmp_path / "r.html").exists()


def test_it_can_be_cancelled(data: StudyData) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        report.report(data, ["speedup"], cancel=token)


def test_a_view_that_breaks_ends_no_report(data: StudyData, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_data: StudyData, **_options: object) -> Figure:
        raise KeyError("messages")

    known = dict(registry())
    known["time"] = replace(known["time"], make=broken, options=())
    monkeypatch.setattr(report, "get", known.__getitem__)
    text = report.report(data, ["speedup", "time"])
    assert "it could not be drawn, an error of ScaleGraph itself (KeyError: &#39;messages&#39;)" in text
    assert "data:image/svg+xml;base64," in text


def test_people_say_who_made_it_and_on_what(data: StudyData) -> None:
    said = report.About(author="A. <Author>", machine="two sockets", note="Measured on a quiet night.")
    text = report.report(data, ["speedup"], about=said)
    assert "by A. &lt;Author&gt;" in text
    assert "on two sockets</h1>" in text
    assert "<p>Measured on a quiet night.</p>" in text
    assert "<h1>Mine</h1>" in report.report(data, ["speedup"], about=report.About(title="Mine"))


def test_a_report_holds_the_numbers_of_every_panel(data: StudyData) -> None:
    figure = registry()["verdicts"].build(data)
    text = report.report(data, ["verdicts"])
    assert text.count("<table>") == len(numbers.parts(figure)) > 1


def test_the_first_page_has_what_ran_and_its_times(data: StudyData) -> None:
    page = _page(report.report(data, ["speedup"], about=report.About(machine="two sockets")))
    words = [word.strip() for word in page.words if word.strip()]
    start = words.index("Times")
    assert words[start + 1 :][:1] == ["N"]
    assert {"time (s)", "speedup", "efficiency", "repetitions"} <= set(words)
    assert words.index("two sockets") < start < words.index("Contents") if "Contents" in words else True
    assert front.facts(data)[0] == ("Program", "<model>")


def test_times_have_nodes_ranks_and_threads_where_runs_say_them() -> None:
    runs = [
        run.model_copy(update={"point": run.point.model_copy(update={"parameters": {"nodes": 2, "ranks": 4, "n": 9}})})
        for run in synthetic.fixed()[:3]
    ]
    made = front.times(StudyData.from_runs(runs))
    assert made is not None
    assert made.header[:3] == ["N", "nodes", "ranks"]
    assert made.rows[0][1:3] == ["2", "4"]


def test_a_pdf_has_the_pages_of_the_report_with_pictures(data: StudyData, tmp_path: Path) -> None:
    said = report.About(
        title="Scaling of \u03b1\u2192\u03b2", author="A. Author", machine="two sockets", note="A quiet night."
    )
    report.write(
        data, tmp_path / "r.pdf", ["speedup", "verdicts", "matrix"], about=said, request="[program]\nname = 'x'"
    )
    pages = pypdf.PdfReader(tmp_path / "r.pdf").pages
    first = pages[0].extract_text()
    for words in (
        "Scaling of \u03b1\u2192\u03b2",
        "by A. Author",
        "two sockets",
        "A quiet night.",
        "time (s)",
        "Speedup and efficiency",
    ):
        assert words in first
    assert "/XObject" in pages[0]["/Resources"] or "processors" in first  # the plot's own labels
    whole = "\n".join(page.extract_text() for page in pages)
    assert "Scalability matrix" in whole
    assert "How it was made" in whole


def test_another_ending_is_refused_before_anything_is_made(data: StudyData, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"r.docx: an ending of .html or .pdf was expected"):
        report.write(data, tmp_path / "r.docx")
