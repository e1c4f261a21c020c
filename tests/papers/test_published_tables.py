"""The papers' numbers follow from other printed numbers, to the printed digits; the exceptions are listed."""

from __future__ import annotations

import itertools
import math
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze import consistency, matrix, published
from scalegraph.analyze.matrix import Matrix
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError
from scalegraph.base.resources import resource_dir
from scalegraph.measurements.model import MeasurementSet, check
from scalegraph.measurements.reader import readers, recognised

FILES = sorted(resource_dir("published").glob("*.csv"))


def opened(path: Path) -> MeasurementSet:
    return recognised(path)[0].read(path, CancelToken(), lambda _: None)


def table(name: str) -> MeasurementSet:
    return opened(resource_dir("published") / f"{name}.csv")


def printed(name: str) -> Matrix:
    made = published.matrix_of(table(name))
    assert made is not None
    return made


def column(name: str, metric: str, by: str = "processors") -> dict[int, float]:
    found = table(name)
    rows = found.values[found.values["metric"] == found.metric(metric)]
    return dict(zip(found.points[by].iloc[rows["point"]], rows["value"], strict=True))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_published_table_opens_and_names_its_source(path: Path) -> None:
    assert recognised(path)[0] is readers()["published"]
    found = opened(path)
    assert found.format == "published"
    assert len(found.values) > 0
    assert any(re.search(r"\b199[46]\b", note) for note in found.notes)


@pytest.mark.parametrize(
    ("times", "cells"), [("isospeed-table-9", "isospeed-table-8"), ("isospeed-table-11", "isospeed-table-10")]
)
def test_published_times_give_the_published_scalabilities_to_the_printed_digits(times: str, cells: str) -> None:
    seconds = column(times, "time")
    made = matrix.from_times(tuple(seconds), tuple(seconds.values()))
    for (n, n2), value in printed(cells).values.items():
        found = made.value(n, n2)
        assert found is not None
        # times are printed to three digits, so that a ratio may be the neighbour of what is printed
        low, high = (found * (1 - 0.0042), found * (1 + 0.0042))
        assert round(low, 2) <= value <= round(high, 2), (n, n2, found)
    assert consistency.contradictions(printed(cells), times=seconds) == []


def test_table_1_follows_from_table_2_but_for_its_eighth_column() -> None:
    seconds = column("isospeed-table-2", "time")
    made = matrix.from_times(tuple(seconds), tuple(seconds.values()))
    wrong = {pair for pair, value in printed("isospeed-table-1").values.items() if round(made.values[pair], 3) != value}
    assert {(1, 8), (2, 8), (4, 8)} <= wrong
    for n, n2 in wrong - {(1, 8), (2, 8), (4, 8)}:  # rounded from more digits of the times than are printed
        assert abs(made.values[(n, n2)] - printed("isospeed-table-1").values[(n, n2)]) < 0.0012


def test_the_check_says_that_column_8_of_table_1_does_not_follow_from_table_2() -> None:
    found = consistency.contradictions(printed("isospeed-table-1"), times=column("isospeed-table-2", "time"))
    assert {(entry.n, entry.n2) for entry in found} == {(1, 8), (2, 8), (4, 8)}
    seconds = column("isospeed-table-2", "time")
    fitting = [seconds[entry.n] / entry.printed for entry in found]
    assert all(round(time, 4) == 0.0187 for time in fitting)


@pytest.mark.slow
def test_a_time_of_8_that_fits_its_column_contradicts_its_row() -> None:
    seconds = column("isospeed-table-2", "time") | {8: 0.0187}
    found = consistency.contradictions(printed("isospeed-table-1"), times=seconds)
    assert {(entry.n, entry.n2) for entry in found} <= {(8, n2) for n2 in (8, 16, 32, 64, 128)}
    assert found


def test_without_the_times_the_same_entries_contradict_the_rest_of_table_1() -> None:
    found = consistency.contradictions(printed("isospeed-table-1"))
    assert {(entry.n, entry.n2) for entry in found} == {(1, 8), (2, 8), (4, 8)}
    assert all(entry.fits / entry.printed == pytest.approx(1.055, abs=0.004) for entry in found)


def test_one_entry_of_the_quick_sort_matrix_contradicts_its_row() -> None:
    found = consistency.contradictions(printed("latency-metric-table-11"))
    assert [(entry.n, entry.n2, entry.printed) for entry in found] == [(2, 4, 0.9419)]
    assert found[0].fits == pytest.approx(1.042, abs=0.0005)
    assert consistency.sentence(found) == "The entry (2, 4) = 0.9419 contradicts the others; 1.042 would fit."


def test_the_printed_sizes_of_quick_sort_contradict_its_matrix() -> None:
    """4,866 and 9,753,184 elements with W = n log n give 0.0042 from 2 to 32; Table XI says 0.0090."""
    elements = column("latency-metric-section-6-5", "elements")
    work = {n: size * math.log2(size) for n, size in elements.items()}
    (found,) = consistency.against_sizes(printed("latency-metric-table-11"), work)
    assert (found.n, found.n2, found.printed) == (2, 32, 0.0090)
    assert found.fits == pytest.approx(0.00421, abs=0.00001)
    assert consistency.sentence([found]) == "The entry (2, 32) = 0.009 contradicts the others; 0.00421 would fit."


def test_sizes_that_agree_with_a_matrix_contradict_nothing() -> None:
    work = {1: 1.0, 2: 3.0, 4: 10.0}
    values = {(n, n2): work[n] * n2 / (work[n2] * n) for n, n2 in itertools.combinations(work, 2)}
    made = Matrix("latency", "efficiency", 0.25, tuple(work), values)
    assert consistency.against_sizes(made, work) == []
    assert [(entry.n, entry.n2) for entry in consistency.against_sizes(made, work | {4: 20.0})] == [(1, 4), (2, 4)]


@pytest.mark.parametrize("name", ["isospeed-table-3", "isospeed-table-6", "isospeed-table-8", "isospeed-table-10"])
def test_the_other_matrices_agree_with_themselves(name: str) -> None:
    assert consistency.contradictions(printed(name)) == []
    assert consistency.sentence([]) == ""


def test_products_of_table_3_are_the_cells_of_table_1_as_the_paper_says() -> None:
    products, cells = printed("isospeed-table-3"), printed("isospeed-table-1")
    given = {pair for pair, way in products.ways.items() if way == "imported"}
    assert len(given) == 7
    compared = 0
    for n, n2 in itertools.combinations(cells.processors, 2):
        if n2 == 8 or n < 8 < n2:
            continue  # over the column that contradicts Table II
        compared += 1
        # seven factors of three digits each
        assert products.values[(n, n2)] == pytest.approx(cells.values[(n, n2)], rel=0.004), (n, n2)
    assert compared == 13
    assert products.ways[(1, 128)] == "computed"


def test_equal_unit_speed_gives_the_work_of_published_times() -> None:
    found = table("isospeed-table-2")
    work = found.points["W"].to_numpy()
    seconds = column("isospeed-table-2", "time")
    for (n, time), w in zip(seconds.items(), work, strict=True):
        assert w == pytest.approx(0.85e6 * n * time)
    n, n2 = 2, 64
    psi = n2 * work[1] / (n * work[6])
    assert psi == pytest.approx(seconds[n] / seconds[n2])


def test_words_in_place_of_numbers_are_counted() -> None:
    found = table("latency-metric-table-6")
    (skipped,) = found.skipped
    assert (skipped.what, skipped.count) == ("values", 6)
    assert "very large, moderate" in skipped.reason


HEAD = (
    "# scalegraph published 1\n# title: t\n# source: s\n# table: 1\n# kind: matrix\n# metric: isospeed\n"
    "# bound: speed\n# held: 5\n"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# scalegraph published 2\n", "'# scalegraph published 1' was expected"),
        (HEAD, "has no numbers"),
        (HEAD.replace("matrix", "matrx") + "N,1\n1,1\n", "'matrx' is not known; did you mean 'matrix'?"),
        (HEAD.replace("# held: 5\n", "") + "N,1\n1,1\n", "has no '# held: ..' in its header"),
        (HEAD.replace("5", "-5") + "N,1\n1,1\n", "held: '-5': a number above 0 was expected"),
        (HEAD + "N,1,2\n1,1\n", ":10: has 2 cells; 3 were expected"),
        (HEAD + "N,1,x\n1,1,1\n", "'x': a number of processors was expected"),
        (HEAD + "N,1,2\n1,1,much\n", ":10: 'much': a number was expected"),
        (HEAD + "N,1,2\n2,1,1\n", "nothing was expected below the diagonal"),
        (HEAD + "N,1,2\n1,1,\n1,1,\n", "appears twice"),
        (HEAD + "# colour: red\nN,1\n1,1\n", "unknown key 'colour'"),
        (HEAD + "# held: 6\nN,1\n1,1\n", "twice"),
        (HEAD.replace("matrix", "table") + "# parameters: p\nq,t\n1,2\n", "no column 'p'"),
        (HEAD.replace("matrix", "table") + "# parameters: p\np,t\n1,2\n1,3\n", "same point"),
        (HEAD.replace("matrix", "table") + "# parameters: p\np,t\n,2\n", "a parameter has no value"),
        (HEAD.replace("matrix", "table") + "# parameters: p\n# speed: 2\np,t\n1,2\n", "a speed needs the columns"),
        (HEAD.replace("matrix", "table") + "# parameters: p\np,t\n1,nan\n", ""),
    ],
)
def test_a_damaged_table_is_refused_with_its_place(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.csv"
    path.write_text(text)
    reader = readers()["published"]
    assert reader.recognises(path, path.read_bytes()[:4096])
    if words:
        with pytest.raises(InputError) as caught:
            reader.read(path, CancelToken(), lambda _: None)
        assert words in str(caught.value)
        assert str(path) in str(caught.value)
    else:
        assert len(reader.read(path, CancelToken(), lambda _: None).values) == 0


def test_a_binary_file_and_a_cut_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"# scalegraph published 1\n\xff\xfe")
    with pytest.raises(InputError, match="is not text in UTF-8"):
        readers()["published"].read(path, CancelToken(), lambda _: None)


def test_a_matrix_that_is_measured_is_checked_within_a_tolerance() -> None:
    times = {1: 1.0, 2: 1.3, 4: 1.7, 8: 2.9}
    made = matrix.from_times(tuple(times), tuple(times.values()))
    assert consistency.contradictions(made, tolerance=1e-6) == []
    values = {**made.values, (2, 4): made.values[(2, 4)] * 1.2}
    (found,) = consistency.contradictions(
        Matrix("isospeed", "speed", math.nan, made.processors, values), tolerance=0.01
    )
    assert (found.n, found.n2) == (2, 4)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_table_with_anything_changed_is_read_whole_or_refused(data: st.DataObject) -> None:
    raw = bytearray(data.draw(st.sampled_from(FILES)).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(0, len(raw) - 1)))
        gone = data.draw(st.integers(0, 30))
        pieces = (
            b"",
            b",",
            b"\n",
            b"nan",
            b"1e308",
            b"-1",
            b"0",
            b"99999999999999999999",
            b"# speed: 3\n",
            b'"',
            b"\xff",
        )
        raw[at : at + gone] = data.draw(st.sampled_from(pieces))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "changed.csv"
        path.write_bytes(bytes(raw))
        try:
            found = readers()["published"].read(path, CancelToken(), lambda _: None)
        except InputError:
            return
    check(found)
    made = published.matrix_of(found)
    if made is not None:
        consistency.contradictions(made)
