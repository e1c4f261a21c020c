from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet
from matplotlib.text import Text
from pyarrow import parquet

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.figures import render
from scalegraph.figures.figure import Axis, Bars, Cell, Column, Figure, Grid, Line, Mark, Plot, Row, Table
from scalegraph.figures.palette import colour
from scalegraph.figures.render import latex, numbers, picture
from scalegraph.figures.render import table as drawn
from scalegraph.figures.render.text import fitted, measure, spread, wrapped
from scalegraph.subjects.study import StudyData
from tests.views import studies

NAMES = list(views.registry())


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    data = studies.full()
    return {name: views.get(name).build(data) for name in NAMES}


def _rows(figure: Figure) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render.content(figure, "csv").decode())))


def _shown(sheet: Sheet) -> list[Text]:
    """Return the texts drawn; tick labels outside the axis limits are not."""
    hidden = set()
    for axes in sheet.findobj(Axes):
        assert isinstance(axes, Axes)
        for axis, (low, high) in ((axes.xaxis, sorted(axes.get_xlim())), (axes.yaxis, sorted(axes.get_ylim()))):
            places = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            hidden |= {label for place, label in places if not axes.axison or not low <= place <= high}
            hidden |= set(axis.get_ticklabels(minor=True))
    texts = [text for text in sheet.findobj(Text) if isinstance(text, Text) and text not in hidden]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


@pytest.mark.few(20)
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_text_of_a_picture_is_cut_off(name: str, figures: dict[str, Figure]) -> None:
    with picture.composed(figures[name], None, "print", 144) as sheet:
        sheet.draw_without_rendering()
        width, height = sheet.get_size_inches() * 144
        for text in _shown(sheet):
            box = text.get_window_extent()
            inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
            assert inside, (text.get_text(), box)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["time", "overheads", "matrix-row", "speedup", "sequential", "latency"])
def test_labels_do_not_stand_on_one_another(name: str, figures: dict[str, Figure]) -> None:
    with picture.composed(figures[name], (12.0, 8.0), "print", 144) as sheet:
        sheet.draw_without_rendering()
        boxes = [(text.get_text(), text.get_window_extent()) for text in _shown(sheet)]
        for (one, a), (other, b) in itertools.combinations(boxes, 2):
            wide = min(a.x1, b.x1) - max(a.x0, b.x0)
            high = min(a.y1, b.y1) - max(a.y0, b.y0)
            assert wide <= 2 or high <= 5, (one, other)


@pytest.mark.slow
@pytest.mark.parametrize("ending", render.FORMATS)
def test_the_same_figure_gives_the_same_bytes(ending: str, figures: dict[str, Figure]) -> None:
    assert render.content(figures["matrix"], ending) == render.content(figures["matrix"], ending)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_all_themes_draw(theme: str, figures: dict[str, Figure]) -> None:
    picture_bytes = render.content(figures["overheads"], "png", theme=theme, dpi=50)  # type: ignore[arg-type]
    assert picture_bytes.startswith(b"\x89PNG")


@pytest.mark.slow
def test_size_and_resolution_are_those_asked_for(figures: dict[str, Figure]) -> None:
    raw = render.content(figures["time"], "png", size_cm=(12.7, 7.62), dpi=100)
    width, height = int.from_bytes(raw[16:20], "big"), int.from_bytes(raw[20:24], "big")
    assert (width, height) == (500, 300)


@pytest.mark.slow
def test_pdf_embeds_its_fonts_as_outlines_and_svg_keeps_text(figures: dict[str, Figure]) -> None:
    pdf = render.content(figures["time"], "pdf")
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf
    svg = render.content(figures["time"], "svg").decode()
    assert "processors N" in svg
    assert "<dc:date>" not in svg


@pytest.mark.parametrize("size", [(1.0, 10.0), (16.0, 0.0), (500.0, 10.0), (math.nan, 10.0)])
def test_a_size_no_picture_fits_in_is_refused(size: tuple[float, float], figures: dict[str, Figure]) -> None:
    with pytest.raises(InputError, match="size: a picture is at least 4 x 3 cm"):
        render.content(figures["time"], "png", size_cm=size)


@pytest.mark.few(20)
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_smallest_picture_still_draws(name: str, figures: dict[str, Figure]) -> None:
    assert render.content(figures[name], "png", size_cm=(6.0, 4.5), dpi=40).startswith(b"\x89PNG")


def test_an_unknown_ending_names_the_known_ones(tmp_path: Path, figures: dict[str, Figure]) -> None:
    with pytest.raises(InputError, match=r"cannot write '.pgn' files; did you mean 'png'\?; known endings: .png, .svg"):
        render.save(figures["time"], tmp_path / "x.pgn")


def test_a_place_that_cannot_be_written_is_said_in_a_sentence(tmp_path: Path, figures: dict[str, Figure]) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is not a directory"):
        render.save(figures["runs"], tmp_path / "file" / "x.csv")


@pytest.mark.slow
def test_saving_replaces_the_file_whole(tmp_path: Path, figures: dict[str, Figure]) -> None:
    path = tmp_path / "time.svg"
    path.write_text("old")
    render.save(figures["time"], path)
    assert path.read_text().startswith("<?xml")
    assert list(tmp_path.iterdir()) == [path]


def test_csv_of_plots_has_units_and_a_row_for_each_x(figures: dict[str, Figure]) -> None:
    rows = _rows(figures["time"])
    assert [row["processors N"] for row in rows] == ["1", "2", "4", "8", "16", "24", "32", "48", "64"]
    assert float(rows[0]["elapsed time (s)"]) == pytest.approx(float(rows[0]["ideal (s)"]))


def test_csv_of_two_plots_over_one_axis_stand_side_by_side(figures: dict[str, Figure]) -> None:
    row = _rows(figures["speedup"])[1]
    assert float(row["speedup"]) == pytest.approx(2 * float(row["efficiency"]))


def test_csv_of_a_matrix_has_a_row_for_each_cell_with_its_reason(figures: dict[str, Figure]) -> None:
    rows = _rows(figures["matrix"])
    assert {"N", "N'", "efficiency 0.7", "origin", "reason"} <= set(rows[0])
    assert all(int(row["N"]) <= int(row["N'"]) for row in rows)
    assert all(bool(row["efficiency 0.7"]) or row["reason"] for row in rows)


def test_csv_of_a_tree_keeps_its_depth(figures: dict[str, Figure]) -> None:
    assert [row["depth"] for row in _rows(figures["profile"])] == ["0", "1", "2", "3", "3"]


@pytest.mark.parametrize("name", NAMES)
def test_every_view_is_a_whole_json_document(name: str, figures: dict[str, Figure]) -> None:
    document = json.loads(render.content(figures[name], "json"))
    assert document["view"] == name
    assert [panel["kind"] for panel in document["panels"]] == [
        type(panel).__name__.lower() for panel in figures[name].panels
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in studies.NEEDS_MORE])
def test_every_view_is_a_latex_table_with_equal_columns(name: str, figures: dict[str, Figure]) -> None:
    text = render.content(figures[name], "tex").decode()
    tables = re.findall(r"\\begin\{tabular\}\{([lrc]+)\}(.*?)\\end\{tabular\}", text, re.DOTALL)
    assert len(tables) == len(numbers.parts(figures[name]))
    for columns, body in tables:
        lines = [line for line in body.replace(r"\&", "").split("\n") if "&" in line]
        assert {line.count("&") + 1 for line in lines} <= {len(columns)}


def test_latex_escapes_what_a_parameter_may_be_called() -> None:
    table = Table((Column("a_b%"), Column("$x^2$")), (Row(("50 % & #1", 0.5)), Row(("~{}\\", None))))
    text = latex.latex(Figure("a_title", panels=(table,), view="t"))
    assert r"a\_b\% & \$x\textasciicircum{}2\$" in text
    assert r"50 \% \& \#1 & 0.5000" in text
    assert r"\textasciitilde{}\{\}\textbackslash{} & --" in text


def test_a_picture_of_a_column_leaves_its_panels_most_of_the_room(figures: dict[str, Figure]) -> None:
    figure = replace(figures["time"], notes=("A note of some length that stands below the picture.",) * 12)
    with picture.composed(figure, (8.0, 6.0), "print", 100) as sheet:
        (axes,) = sheet.axes[:1]
        assert axes.get_position().height > 0.4
        assert mpl.rcParams["font.size"] == 6.0
        words = " ".join(text.get_text() for text in sheet.texts)
        assert "A note" not in words
    with picture.composed(figure, (16.0, 12.0), "print", 100) as sheet:
        assert mpl.rcParams["font.size"] == 8.0
        assert any("A note" in text.get_text() for text in sheet.texts)


def test_latex_goes_on_in_further_tables_where_a_page_ends() -> None:
    many = Table(tuple(Column(f"column {i}") for i in range(30)), tuple(Row((*range(29), "x" * 90)) for _ in range(60)))
    text = latex.latex(Figure("t", panels=(many,), view="t"))
    parts = re.findall(r"\\(?:begin\{tabular\}|tabular)\{([lrc]+)\}(.*?)\\end\{?tabular", text, re.DOTALL)
    assert text.count(r"\begin{tabular}") == 1
    assert len(parts) > 4
    for columns, body in parts:
        assert "column 0" in body
        assert {line.count("&") + 1 for line in body.split("\n") if "&" in line} == {len(columns)}
        assert body.count(r"\\") <= 46


def test_latex_names_letters_that_pdflatex_has_not() -> None:
    table = Table((Column("α Ω é 中"),), (Row((1.0,)),))
    text = latex.latex(Figure("t", panels=(table,), view="t"))
    assert r"$\alpha$ $\Omega$ é \ifdefined\Umathcode 中\else U+4E2D\fi{}" in text


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no TeX")
def test_pdflatex_takes_what_names_may_be(tmp_path: Path) -> None:
    names = ("α_β%&#$~^{}\\<>", "中文 é ł √²", "x" * 200, "1\u202f000 µs – ≤ ∞")
    table = Table(tuple(Column(name) for name in names), tuple(Row((*names[:3], 0.5)) for _ in range(50)))
    (tmp_path / "t.tex").write_bytes(render.content(Figure("a%_t", panels=(table,), view="t"), "tex"))
    (tmp_path / "d.tex").write_text("\\documentclass{article}\n\\begin{document}\n\\input{t.tex}\n\\end{document}\n")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "d.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_missing_numbers_are_empty_null_and_dashes() -> None:
    line = Line("a", (1.0, 2.0), (float("nan"), 3.0), "time")
    figure = Figure("t", panels=(Plot(Axis("x"), Axis("y", "s"), (line,)),), view="t")
    assert render.content(figure, "csv") == b"x,a (s)\n1,\n2,3\n"
    assert json.loads(render.content(figure, "json"))["panels"][0]["lines"][0]["y"] == [None, 3.0]
    assert "1 & --" in latex.latex(figure)


def test_an_empty_figure_is_a_picture_of_its_sentence_but_has_no_numbers() -> None:
    figure = views.get("time").build(StudyData.from_runs([]))
    assert render.content(figure, "png", dpi=50).startswith(b"\x89PNG")
    assert "no runs yet" in json.loads(render.content(figure, "json"))["empty"]
    with pytest.raises(InputError, match="there are no numbers to write"):
        render.content(figure, "csv")


@pytest.mark.slow
def test_dollar_signs_in_names_are_text_not_formulas() -> None:
    line = Line("cost $a_b", (1.0, 2.0), (1.0, 2.0), "time")
    figure = Figure(
        "a $x",
        "b $",
        (Plot(Axis("$n"), Axis("y"), (line, replace(line, name="\\frac")), marks=(Mark("$", 1.0),)),),
        view="t",
    )
    assert "cost $a_b" in render.content(figure, "svg").decode()


def test_reasons_are_numbered_once_each() -> None:
    cells = ((Cell((1.0,)), Cell((None,), "one; two")), (None, Cell((None,), "two")))
    grid = Grid("N", "N'", ("1", "2"), ("1", "2"), cells, ("efficiency 0.5",))
    assert numbers.reasons(grid) == {"one": 1, "two": 2}
    assert "--$^{1,2}$" in latex.latex(Figure("t", panels=(grid,), view="t"))


def test_negative_parts_of_a_stack_hang_below_zero() -> None:
    bars = Bars((0.0,), (("gain", "memory_stall", (-2.0,)), ("cost", "idle", (3.0,))))
    axis = Axis("N", scale="category", categories=("2",))
    with picture.composed(
        Figure("t", panels=(Plot(axis, Axis("y", "s"), bars=bars),), view="t"), None, "print", 50
    ) as sheet:
        axes = sheet.subfigs[0].axes[0]
        low, high = axes.get_ylim()
        assert low < -2.0
        assert high > 3.0


def test_labels_are_spread_by_as_little_as_needed() -> None:
    placed = spread([10.0, 10.5, 40.0], 8.0, 0.0, 100.0)
    assert placed[1] - placed[0] == pytest.approx(8.0)
    assert sum(placed[:2]) == pytest.approx(20.5)
    assert placed[2] == 40.0
    assert spread([1.0, 2.0, 3.0], 8.0, 0.0, 10.0) == pytest.approx([0.0, 5.0, 10.0])
    assert spread([], 8.0, 0.0, 1.0) == []


def test_wrapping_keeps_words_and_no_break_spaces_whole() -> None:
    lines = wrapped("aaa bbb 5\u00a0% ccc", 8.0, measure("aaa bbb 5", 8.0))
    assert lines == ["aaa bbb", "5\u00a0% ccc"]
    assert measure(fitted("x" * 200, 8.0, 50.0), 8.0) <= 50.0


def test_groups_of_the_accounting_stay_apart_in_every_theme() -> None:
    for theme in ("light", "dark", "print"):
        shades = {colour(group, theme) for group in ("busy", "memory_stall", "idle", "primitive")}  # type: ignore[arg-type]
        assert len(shades) == 4


@pytest.mark.parametrize("name", [name for name in NAMES if name not in studies.NEEDS_MORE])
def test_every_view_is_a_markdown_table_and_a_parquet_file(name: str, figures: dict[str, Figure]) -> None:
    text = render.content(figures[name], "md").decode()
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) == len(numbers.parts(figures[name]))
    for table in tables:
        bars = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(table.splitlines()) >= 2
        assert len(bars) == 1
    read = pd.read_parquet(io.BytesIO(render.content(figures[name], "parquet")))
    assert len(read) == len(_rows(figures[name]))


def test_parquet_keeps_numbers_and_says_what_it_is(tmp_path: Path) -> None:
    table = Table((Column("N"), Column("time", "s"), Column("note")), (Row((1, 0.5, "a|b")), Row((2, None, "c"))))
    figure = Figure("A title", "A sentence.", (table,), view="t")
    path = tmp_path / "t.parquet"
    render.save(figure, path)
    read = pd.read_parquet(path)
    assert list(read["time (s)"].fillna(-1)) == [0.5, -1]
    assert list(read["N"]) == [1, 2]
    assert parquet.read_schema(path).metadata[b"title"] == b"A title"
    assert "a\\|b" in render.content(figure, "md").decode()


def test_reasons_of_a_grid_are_footnotes_in_markdown() -> None:
    cells = ((Cell((1.0,)), Cell((None,), "not reached")), (None, Cell((1.0,))))
    figure = Figure("G", panels=(Grid("N", "N'", ("1", "2"), ("1", "2"), cells, ("E",)),), view="g")
    text = render.content(figure, "md").decode()
    assert "– [1]" in text
    assert "[1] not reached." in text


def test_a_table_of_analysis_is_written_as_every_figure() -> None:
    frame = pd.DataFrame({"label": ["a", "b"], "value": [1.5, float("nan")]})
    figure = numbers.of_table("x", "X", frame)
    assert render.content(figure, "csv").decode() == "label,value\na,1.5\nb,\n"


def test_whole_numbers_of_a_table_are_exact_and_have_gaps_between_thousands() -> None:
    table = Table((Column("metric"), Column("total"), Column("calls")), (Row(("ops", 35_891_117.0, 35_891_117)),))
    svg = render.content(Figure("T", panels=(table,), view="t"), "svg").decode()
    assert svg.count("35\u202f891\u202f117") == 2


def test_a_table_with_several_columns_of_long_words_has_all_its_columns_in_a_picture() -> None:
    words = ("call path " * 12, "formula " * 20, "order " * 8)
    columns = (*(Column(name) for name in ("path", "model", "order")), Column("error", "%"))
    table = Table(columns, tuple(Row((*words, float(n))) for n in range(3)))
    room = 400.0
    _, _, widths = drawn.fitted_columns(table, room)
    assert sum(widths) + 8 * len(widths) <= room + 1e-6
    assert widths[0] == pytest.approx(widths[1])  # no column of words is left with a few letters
    assert min(widths[:3]) > 60


def test_names_are_shortened_in_their_middle() -> None:
    assert fitted("program->function simulate->barrier simulate:273", 7.0, 90.0, middle=True).endswith(":273")


def test_tables_hold_every_panel_in_parts() -> None:
    axis = Axis("processors")
    line = Line("T", (1.0, 2.0), (12345.0, 6.5), "ink", "measured")
    plot = Plot(axis, Axis("time", "s"), (line,))
    one, two = (Table((Column(name),), (Row((12345.0,)),)) for name in ("first", "second"))
    figure = Figure("several", panels=(plot, one, two, plot), view="t")
    assert [len(part.panels) for part in numbers.parts(figure)] == [1, 2, 1]
    text = latex.latex(figure)
    assert text.count(r"\begin{tabular}") == 3
    assert all(word in text for word in ("first", "second", "processors"))
    assert text.isascii()
    assert numbers.markdown(figure).count("|:") + numbers.markdown(figure).count("|-") >= 3


def test_latex_has_no_sign_that_stops_a_compiler() -> None:
    names = "1\u202f234 – σ ≥ 5 µs × √2 → ψ · 3² ± 1"
    table = Table((Column(names),), (Row((names,)),))
    text = latex.latex(Figure("t", panels=(table,), view="t"))
    assert text.isascii()
    assert r"1\,234 -- $\sigma$ $\geq$ 5 $\mu$s" in text


def test_columns_that_do_not_fit_are_counted() -> None:
    names = tuple(Column(f"number of column {number}", "s") for number in range(9))
    table = Table(names, tuple(Row(tuple(number * 1000.5 for number in range(9))) for _ in range(3)))
    kept, without = drawn.fitting(table, 150.0)
    assert 0 < len(kept.columns) == 9 - without < 9
    assert all(len(row.values) == len(kept.columns) for row in kept.rows)
    assert sum(drawn.fitted_columns(kept, 150.0)[2]) <= 150.0
    assert drawn.fitting(table, 2000.0) == (table, 0)
    with picture.composed(Figure("t", panels=(table,), view="t"), (8.0, 6.0), "print", 100) as sheet:
        sheet.draw_without_rendering()
        shown = [text.get_text() for text in _shown(sheet)]
        assert any("more columns; the data export has all of them" in text for text in shown)
        assert all(text.get_window_extent().x1 <= 8.0 / 2.54 * 100 + 1 for text in _shown(sheet))
