"""Numbers, ticks and positions behind pictures, without windows."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalegraph.base.measures import exact, measure
from scalegraph.figures.columns import cell_text, column_heading, column_measures
from scalegraph.figures.figure import Axis, Column, Line, Plot
from scalegraph.figures.render.plot import Scale as PrintedScale
from scalegraph.gui.base.tints import heat, legible_on
from scalegraph.gui.dock.arrangements import tiles, views_of
from scalegraph.gui.figures.plot.labels import spread
from scalegraph.gui.figures.plot.targets import nearest, targets
from scalegraph.gui.figures.scales import Scale


@pytest.mark.parametrize(
    ("values", "unit", "heading", "texts"),
    [
        ([0.31, 0.155, None], "s", "t (ms)", ["310.0", "155.0", "–"]),
        ([25.0, 3.5, 0.5], "s", "t (s)", ["25.00", "3.50", "0.50"]),
        ([25.0, 0.0001, 0.0], "s", "t", ["25.0 s", "100 µs", "0"]),
        ([1, 20, 300], "", "t", ["1", "20", "300"]),
        ([1_234_567, 800_000], "cycles", "t (million cycles)", ["1.235", "0.800"]),
        ([12.34, 0.01], "%", "t (%)", ["12.3", "< 0.1"]),
        ([math.nan, math.inf], "s", "t (s)", ["–", "∞"]),
        ([], "s", "t (s)", []),
    ],
)
def test_a_column_has_one_unit_unless_its_values_span_too_many_decades(
    values: list[float | None], unit: str, heading: str, texts: list[str]
) -> None:
    how = measure(values, unit)
    assert how.heading("t") == heading
    assert [how.number(value) for value in values] == texts


def test_columns_that_are_compared_have_one_unit() -> None:
    columns = [Column("a", "s", compared=True), Column("b", "s"), Column("c", "s", compared=True), Column("n")]
    cells: list[list[float | str | None]] = [[0.0002, 0.0005], [0.0002, 0.0005], [0.05, None], [1, 2]]
    written = column_measures(columns, cells)
    headings = [column_heading(how, one.name, one.unit) for how, one in zip(written, columns, strict=True)]
    assert headings == ["a (ms)", "b (µs)", "c (ms)", "n"]
    assert cell_text(written[0], 0.0002) == "0.20"


def test_a_unit_that_the_name_says_already_is_not_repeated() -> None:
    assert measure([2e6], "cycles").heading("Cycles") == "Cycles (million)"
    assert measure([50.0], "% of the loss").heading("loss") == "loss (% of the loss)"


def test_whole_numbers_without_a_unit_are_written_out_whatever_their_span() -> None:
    how = measure([1, 400, 250_000_000], "")
    assert how.heading("n") == "n"
    assert [how.number(value) for value in (1, 400, 250_000_000)] == ["1", "400", "250\u202f000\u202f000"]
    assert measure([2e9], "").heading("n") == "n (billion)", "a name of one letter is not a word of the unit"
    mixed = measure([0.0005, 1e6], "")
    assert [mixed.number(value) for value in (0.0005, 1e6)] == ["0.0005000", "1\u202f000\u202f000"]


@pytest.mark.slow
@given(
    st.lists(st.floats(1e-9, 1e12) | st.integers(0, 10**12), min_size=1, max_size=8),
    st.sampled_from(["s", "B", "op", "cycles", ""]),
)
def test_no_number_of_a_column_is_only_said_to_be_small(values: list[float], unit: str) -> None:
    how = measure(values, unit)
    texts = [how.number(value) for value in values]
    assert not any(text.startswith(("<", "≈")) for text in texts)
    zeros = {i for i, text in enumerate(texts) if not text.strip("0.\u202f")}
    assert zeros == {i for i, value in enumerate(values) if value == 0}


def _read(text: str) -> float:
    """Return the number that the *text* of a tick is, ``5·10⁻⁴`` too."""
    raised = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
    if text[-1] not in raised:
        return float(text.replace("\u202f", ""))
    factor, _, power = text.rpartition("10")
    return float(factor.rstrip("·") or 1) * 10.0 ** int(power.translate(str.maketrans(raised, "-0123456789")))


@pytest.mark.slow
@given(
    st.sampled_from(["linear", "log2", "log10"]),
    st.floats(1e-9, 1e9),
    st.floats(1.5, 1e6),
    st.sampled_from(["s", "op", "B/s"]),
)
def test_title_and_ticks_of_an_axis_have_one_unit_the_same_on_screen_and_in_files(
    kind: str, low: float, factor: float, unit: str
) -> None:
    axis, values = Axis("x", unit, scale=kind), (low, low * factor)  # type: ignore[arg-type]
    screen, printed = Scale(axis, values), PrintedScale(axis, values)
    assert screen.title == printed.title
    assert (", log)" in screen.title) == (kind != "linear")
    prefix = screen.title.replace(", log)", ")").removeprefix("x (").removesuffix(f"{unit})")
    power = {"p": -4, "n": -3, "µ": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5}[prefix]
    for tick in screen.ticks(*screen.extent(), 6):
        number = _read(tick.text)
        assert number * 1000.0**power == pytest.approx(screen.value(tick.place), rel=2e-3, abs=1e-6 * low * factor)


def test_a_tooltip_gives_whole_numbers_in_full_and_others_with_their_unit() -> None:
    assert exact(1234567) == "1\u202f234\u202f567"
    assert exact(0.001234, "s") == "1.234 ms"
    assert exact(None, "s") == "–"


def test_the_processor_axis_has_the_real_counts_as_ticks_powers_of_two_first() -> None:
    counts = (1.0, 2.0, 3.0, 4.0, 8.0, 12.0, 16.0)
    scale = Scale(Axis("N", scale="log2", ticks=counts), counts)
    assert [tick.text for tick in scale.ticks(0, 4, 20)] == ["1", "2", "3", "4", "8", "12", "16"]
    assert {"1", "4", "16"} <= {tick.text for tick in scale.ticks(0, 4, 5)}


def test_numbered_lanes_that_have_no_room_are_named_in_even_steps() -> None:
    scale = Scale(Axis("processor", ticks=tuple(map(float, range(8))), limits=(-0.7, 7.7)), ())
    assert [tick.text for tick in scale.ticks(*scale.extent(), 9)] == list("01234567")
    assert [tick.text for tick in scale.ticks(*scale.extent(), 5)] == list("0246")


@pytest.mark.slow
@given(
    st.sampled_from(["linear", "log2", "log10"]),
    st.floats(1e-9, 1e9),
    st.floats(1.01, 1e6),
    st.integers(2, 12),
)
def test_ticks_lie_inside_in_order_and_differ(kind: str, low: float, factor: float, room: int) -> None:
    scale = Scale(Axis("x", "s", scale=kind), (low, low * factor))  # type: ignore[arg-type]
    first, last = scale.extent()
    ticks = scale.ticks(first, last, room)
    margin = 1e-6 * (last - first)
    assert all(first - margin <= tick.place <= last + margin for tick in ticks)
    assert all(a.place < b.place for a, b in pairwise(ticks))
    if kind == "linear":
        assert len(ticks) <= room + 2
        assert len({tick.text for tick in ticks}) == len(ticks)


@pytest.mark.slow
@given(st.lists(st.floats(-50, 550), max_size=30))
def test_labels_keep_apart_inside_and_in_order(wanted: list[float]) -> None:
    places = spread(wanted, 16.0, 8.0, 492.0)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [places[i] for i in order]
    assert all(b - a >= 16.0 - 1e-6 for a, b in pairwise(placed))
    assert all(8.0 - 1e-6 <= place <= 492.0 + 1e-6 for place in places)


def test_labels_that_do_not_collide_stay_where_their_curves_end() -> None:
    assert spread([100.0, 200.0, 150.0], 16.0, 8.0, 492.0) == [100.0, 200.0, 150.0]


def test_missing_points_cannot_be_hit_and_the_nearest_other_is() -> None:
    line = Line("t", (1.0, 2.0, 4.0), (1.0, math.nan, 3.0), "time", processors=(1, 2, 4))
    x, y = Axis("N", scale="log2"), Axis("t", "s")
    found = targets(Plot(x, y, (line,)), Scale(x, line.x), Scale(y, line.y), 0.0)
    assert [target.processors for target in found] == [1, 4]
    hit = nearest(found, 1.95, 3.02, (0.01, 0.01))
    assert hit is not None
    assert hit.processors == 4
    assert nearest(found, 1.0, 2.0, (0.01, 0.01)) is None


@pytest.mark.slow
@given(st.floats(0, 1), st.sampled_from(["viridis", "cividis"]))
def test_text_on_any_colour_has_a_contrast_of_at_least_4_and_a_half_to_1(fraction: float, name: str) -> None:
    def luminance(colour: object) -> float:
        parts = [colour.redF(), colour.greenF(), colour.blueF()]  # type: ignore[attr-defined]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    back = heat(fraction, name)  # type: ignore[arg-type]
    light, dark = sorted((luminance(back), luminance(legible_on(back))), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize("count", range(1, 14))
def test_tiles_hold_every_view_once(count: int) -> None:
    names = [f"view{i}" for i in range(count)]
    assert sorted(views_of(tiles(names))) == sorted(names)
