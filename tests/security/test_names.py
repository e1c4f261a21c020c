"""Names in files from others reach terminal, HTML, Markdown, LaTeX, CSV and pictures only as plain text."""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.run import Region, RegionCost, RunPoint, RunRecord
from scalegraph.base.text import HIDDEN, one_line, visible
from scalegraph.cli import bars
from scalegraph.figures import render
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.figures.render import latex, numbers
from scalegraph.store import Manifest, SourceText, Study

EVIL = (
    "\x1b[2J\x1b[1;1H",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\x1b]52;c;ZXZpbA==\x07",
    "\u202etxt.exe",
    "\u2066a\u2069",
    "\r over",
    "\x08\x08\x08",
    "a\u200bb",
    "\x7f",
)
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)>[x](javascript:alert(1)) **b** `c` | \\input{x} &lt;"


def hostile_study(path: Path, names: str = "".join(EVIL) + MARKUP) -> Path:
    regions = (
        Region(id=0, kind="program", name="program"),
        Region(id=1, kind="function", name=f"f{names}", file=f"{names}.c", line=1, end_line=9, parent=0),
    )
    manifest = Manifest.new(
        title=f"t{names}",
        request={},
        program=f"p{names}",
        machine=f"m{names}",
        machine_values={"title": f"M{names}"},
        sources=(SourceText.of(f"{names}.c", f"int main(void) {{ }} // {names}\n", ""),),
        regions=regions,
    )
    with Study.create(path, manifest) as study:
        for n in (1, 2, 4, 8):
            cycles = 800_000 // n + 3000 * n
            categories = {"busy_int": 800_000, "idle_barrier": cycles * n - 800_000}
            study.add_run(
                RunRecord(
                    source="simulated",
                    program=f"p{names}",
                    machine=f"m{names}",
                    point=RunPoint(processors=n, parameters={"n": names}),
                    status="ok" if n < 8 else "failed",
                    message=f"failed {names}",
                    warnings=(f"w{names}",),
                    clock_hz=20e6,
                    time_cycles=cycles,
                    time_s=cycles / 20e6,
                    categories=categories,
                    regions=(RegionCost(region=1, categories=categories, busy_max=800_000 // n),),
                    stdout=names,
                )
            )
    return path


def harmless(text: str) -> bool:
    return not HIDDEN.search(text.replace("\r\n", "\n"))


def test_every_control_character_becomes_visible() -> None:
    for code in (*range(0x20), *range(0x7F, 0xA0), 0x202E, 0x2066, 0x200B, 0xFEFF, 0xDC9B, 0xD800, 0xE0041):
        if chr(code) not in "\n\t":
            assert visible(chr(code)).isprintable(), hex(code)
            assert visible(chr(code)).startswith("\\")
    assert visible("a\tb\nc é 中 👍 a\u0301") == "a\tb\nc é 中 👍 a\u0301"
    assert visible("\udc9b") == "\\x9b"  # a byte that is not UTF-8
    assert one_line("a\nb") == "a\\nb"
    assert bars.escape("[red]\x1b[2J") == r"\[red]\x1b[2J"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("analyze", "--what", "profile"),
        ("analyze", "--what", "runs"),
        ("matrix",),
        ("advise",),
        ("compare",),
        ("analyze", "--what", "time", "--json"),
        ("analyze", "--assert", "E(2) > 0.9"),
        ("export", "--view", "time"),
        ("report",),
        ("simulate",),
        ("run",),
        ("machines", "show"),
        ("trace", "info"),
        ("import",),
    ],
)
def test_names_of_a_study_do_not_move_the_cursor(command: tuple[str, ...], tmp_path: Path, call: Any) -> None:
    name = "x\x1b[2J\x9b1m\u202e.sgstudy"
    path = hostile_study(tmp_path / name)
    sources = [path, path] if command[0] == "compare" else [path]
    output = {"export": ["-o", tmp_path / "x.csv"], "report": ["-o", tmp_path / "x.html"]}.get(command[0], [])
    verb, options = (command[:2], command[2:]) if command[0] in ("machines", "trace") else (command[:1], command[1:])
    _, out, err = call(*verb, *sources, *options, *output)
    assert out or err or output
    assert harmless(out), repr(out)
    assert harmless(err), repr(err)
    if "--json" in command:
        assert "\x1b" in json.dumps(json.loads(out), ensure_ascii=False).encode().decode("unicode_escape")


def test_names_of_a_trace_do_not_move_the_cursor(tmp_path: Path, call: Any) -> None:
    events = [
        {"ph": "M", "pid": 1, "tid": n, "name": "thread_name", "args": {"name": "".join(EVIL) + MARKUP}} for n in (1, 2)
    ]
    events += [{"ph": "X", "pid": 1, "tid": n, "ts": 0, "dur": 5, "name": "".join(EVIL)} for n in (1, 2)]
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"traceEvents": events}))
    for command in (("info", path), ("check", path), ("convert", path, "-o", tmp_path / "x.prv")):
        _, out, err = call("trace", *command)
        assert harmless(out + err)
    for what in ("profile", "durations"):
        _, out, err = call("analyze", path, "--what", what)
        assert harmless(out + err)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.slow
def test_a_report_has_no_markup_of_the_study(tmp_path: Path, call: Any) -> None:
    path, out = hostile_study(tmp_path / "x.sgstudy"), tmp_path / "x.html"
    code, _, err = call("report", path, "-o", out)
    assert code == 0, err
    text = out.read_text(encoding="utf-8")
    assert harmless(text)
    tags = _Tags()
    tags.feed(text)
    assert "script" not in {tag for tag, _ in tags.found}
    assert all(attributes["src"].startswith("data:image/svg+xml") for tag, attributes in tags.found if tag == "img")
    assert not any(name.startswith("on") for _, attributes in tags.found for name in attributes)
    assert all(attributes["href"].startswith("#") for tag, attributes in tags.found if tag == "a")


def table(*cells: str | float) -> Figure:
    rows = tuple(Row((cell, 1.5)) for cell in cells)
    return Figure(f"T {MARKUP}\n\\input{{x}}", f"S {MARKUP}", (Table((Column("name"), Column("v")), rows),), view="t")


def test_markdown_of_names_is_text() -> None:
    text = numbers.markdown(table(MARKUP, "a\nb\x1b[1m", "__init__", "sg_start", "x < y && z"))
    assert harmless(text)
    assert not re.search(r"(?<!\\)<(script|img)", text)
    assert "](javascript" not in text
    assert "\\*\\*b" in text
    assert "| sg_start" in text
    assert "| x < y && z" in text  # what is not markup stays as it is
    assert "\\_\\_init\\_\\_" in text
    assert all(line.count("|") - line.count("\\|") == 3 for line in text.splitlines() if line.startswith("|"))


def test_latex_of_names_is_text() -> None:
    text = latex.latex(table(MARKUP, "a\n\n\\end{tabular}\x1b"))
    assert harmless(text)
    for line in text.splitlines():
        assert line.startswith("%") or "\\input" not in line
    assert text.count("\\end{tabular}") == 1


FORMULAS = ("=1+1", "+1", "-1+1", "@SUM(1)", "\t=1", " =1", "\r=1", "\uff1d1")


def test_for_spreadsheets_text_is_no_formula() -> None:
    rows = list(csv.reader(io.StringIO(numbers.csv(table(*FORMULAS, -2.5, "a-b"), for_spreadsheets=True), newline="")))
    assert [row[0] for row in rows[1:]] == [*(f"'{text}" for text in FORMULAS), "-2.5", "a-b"]
    plain = list(csv.reader(io.StringIO(numbers.csv(table(*FORMULAS)), newline="")))
    assert [row[0] for row in plain[1:]] == list(FORMULAS)


@pytest.mark.slow
@pytest.mark.parametrize("command", [("export", "--view", "profile"), ("analyze", "--what", "profile")])
def test_commands_take_for_spreadsheets(command: tuple[str, ...], tmp_path: Path, call: Any) -> None:
    path, out = hostile_study(tmp_path / "x.sgstudy", "=HYPERLINK(1)"), tmp_path / "x.csv"
    # the name of the region begins with an f; its file does not
    assert call(command[0], path, *command[1:], "-o", out)[0] == 0
    before = out.read_text()
    assert call(command[0], path, *command[1:], "-o", out, "--for-spreadsheets")[0] == 0
    cells = [cell for row in csv.reader(io.StringIO(out.read_text())) for cell in row]
    assert not any(cell.startswith(("=", "@")) for cell in cells)
    assert len(list(csv.reader(io.StringIO(before)))) == len(list(csv.reader(io.StringIO(out.read_text()))))


@pytest.mark.slow
@pytest.mark.parametrize("ending", render.PICTURES)
def test_a_picture_shows_a_square_for_what_its_font_lacks(ending: str) -> None:
    names = ("中文 👍", "\x1b[1m", "bytes \udc9b", "plain", "\ud800")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = render.content(table(*names), ending)
        plain = render.content(table("plain"), ending)
    assert made != plain
    if ending == "svg":
        text = "".join(ET.fromstring(made).itertext())
        assert "中文" in text
        assert "□" in text
        assert "cannot be shown" in text


@pytest.mark.slow
def test_a_picture_of_usual_names_has_no_remark() -> None:
    text = render.content(table("plain", "µs – é ∞ ≥"), "svg").decode()
    assert "cannot be shown" not in text


def test_data_of_odd_names_are_kept() -> None:
    figure = table("中文 👍", "\x1b[1m")
    assert json.loads(render.content(figure, "json"))["panels"][0]["rows"][1]["values"][0] == "\x1b[1m"
    assert "中文 👍" in render.content(figure, "csv").decode()
    for ending in render.DATA:
        assert render.content(table("bytes \udc9b \ud800"), ending)
