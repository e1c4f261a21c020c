"""Real-life tables: what is guessed, asked or refused; nothing is dropped silently."""

from __future__ import annotations

import contextlib
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, InputError
from scalegraph.measurements.guessing import guess_mapping
from scalegraph.measurements.mapping import Unanswered
from scalegraph.measurements.model import MeasurementSet, check
from scalegraph.measurements.table import TableChoices, guess_table, read_table
from scalegraph.measurements.table.text import read_lines


@pytest.fixture
def table(tmp_path: Path) -> Any:
    def read(text: str | bytes, **choices: Any) -> MeasurementSet:
        path = tmp_path / "t.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        made = read_table(path, TableChoices(**choices))
        check(made)
        return made

    return read


def flat(measured: MeasurementSet, metric: str = "time") -> list[tuple[Any, ...]]:
    """Return (parameters.., repetition, value) of a metric, in order."""
    mine = measured.values[measured.values["metric"] == measured.metric(metric)]
    points = [tuple(row) for row in measured.points.itertuples(index=False)]
    made = [
        (*points[point], repetition, value)
        for point, repetition, value in zip(mine["point"], mine["repetition"], mine["value"], strict=True)
    ]
    return sorted(made)


def refusal(table: Any, text: str | bytes, **choices: Any) -> str:
    with pytest.raises(InputError) as caught:
        table(text, **choices)
    return str(caught.value)


TWO = [(1, 0, 8.0), (2, 0, 4.5)]


@pytest.mark.parametrize(
    "text",
    [
        "p,time\n1,8\n2,4.5\n",
        "p;time\n1;8\n2;4.5\n",
        "p;time\r\n1;8,0\r\n2;4,5\r\n",
        "p\ttime\n1\t8\n2\t4.5",
        "p|time\n1|8\n2|4.5\n",
        "p   time\n1   8.0\n2   4.5\n",
        "  p time\n  1  8.0\n 10  1\n  2  4.5\n".replace(" 10  1\n", ""),
        "\n\n# made by hand\np,time\n\n1,8\n   \n# again\n2,4.5\n\n",
        "% p time\n1 8\n2 4.5\n",
        "# p, time\n1, 8\n2, 4.5\n",
        '"p","time"\n"1","8"\n"2","4.5"\n',
        '"p" "time"\n"1" 1 8\n"2" 2 4.5\n',
        "p, time ,\n1, 8 ,\n2, 4.5 ,\n",
        "p,time\n1,8,\n2,4.5,\n",
        "p,time\n1,+8.\n2,.45e1\n",
        "p,time\r1,8\r2,4.5\r",
        "Results of Tuesday\n\np,time\n1,8\n2,4.5\n",
        "p,time\n1,8\n2,4.5\n,\n",
        "p,time,comment\n1,8,first\n2,4.5,\n",
        "| p | time |\n|---|-----:|\n| 1 | 8 |\n| 2 | 4.5 |\n",
        "p    time\n---- ----\n1    8\n2    4.5\n",
        ",p,time\n0,1,8\n1,2,4.5\n",
        "#p time\n1 8\n2 4.5\n",
        b"\xef\xbb\xbfp,time\n1,8\n2,4.5\n",
        "p,time\n1,8\n2,4.5\n".encode("utf-16"),
        "p,time\n1,8\n2,4.5\n".encode("utf-16-le"),
        "p,time\n1,8\n2,4.5\n".encode("utf-32"),
        "p,time\n1,8\n2,4.5\n# sch\u00f6n\n".encode("latin-1"),
    ],
)
def test_a_small_table_is_understood_however_it_is_written(table: Any, text: str | bytes) -> None:
    made = table(text)
    assert made.parameters == ("p",)
    assert flat(made) == TWO


@pytest.mark.parametrize(
    ("title", "name", "unit"),
    [
        ("time [ms]", "time", "ms"),
        ("Time (s)", "Time", "s"),
        ("time_us", "time", "us"),
        ("runtime in seconds", "runtime", "seconds"),
        ("elapsed/ns", "elapsed", "ns"),
        ("wall {s}", "wall", "s"),
        ("time_min", "time_min", ""),
        ("seconds", "time", "seconds"),
    ],
)
def test_units_stand_in_names(table: Any, title: str, name: str, unit: str) -> None:
    (metric,) = table(f"p,{title}\n1,8\n2,4.5\n").metrics
    assert (metric.name, metric.unit, metric.kind) == (name, unit, "time")


def test_a_table_of_a_benchmarking_tool_needs_the_metric_only(table: Any) -> None:
    made = table(
        "command,mean,stddev,median,user,system,min,max,parameter_threads\n"
        "./a 1,8.1,0.1,8,7.9,0.1,7.9,8.3,1\n./a 2,4.1,0.1,4,7.9,0.1,3.9,4.3,2\n"
        "./a 4,2.1,0.1,2,7.9,0.1,1.9,2.3,4\n./a 8,1.1,0.1,1,7.9,0.1,0.9,1.3,8\n"
    )
    guess = guess_mapping(made, {"time": "mean", "unit": "s"})
    assert guess.mapping.processors == "parameter_threads"
    assert not guess.questions


def test_rows_that_come_again_are_repetitions(table: Any) -> None:
    made = table("p,n,time\n1,10,8\n1,10,8.5\n2,10,4\n1,10,8.2\n")
    assert flat(made) == [(1, 10, 0, 8.0), (1, 10, 1, 8.5), (1, 10, 2, 8.2), (2, 10, 0, 4.0)]


def test_a_column_of_repetitions_is_kept_and_numbers_in_order(table: Any) -> None:
    made = table("p,run,time\n1,7,8.5\n1,3,8\n2,9,4\n")
    assert flat(made) == [(1, 0, 8.0), (1, 1, 8.5), (2, 0, 4.0)]
    text = "p,rep,time\n1,1,8\n2,1,4\n1,1,9\n"
    assert ":4: column 2 'rep': gives this repetition of its point and region again" in refusal(table, text)


@pytest.mark.parametrize(
    "header", ["p,t1,t2,t3", "p,time_1,time_2,time_3", "p,run 1,run 2,run 3", "p,time,time,time", "p,rep1,rep2,rep3"]
)
def test_a_column_for_each_repetition(table: Any, header: str) -> None:
    made = table(f"{header}\n1,8,8.1,8.2\n2,4,4.1,\n")
    assert flat(made, made.metrics[0].name) == [(1, 0, 8.0), (1, 1, 8.1), (1, 2, 8.2), (2, 0, 4.0), (2, 1, 4.1)]
    assert [(skipped.what, skipped.count, skipped.place[-4:]) for skipped in made.skipped] == [("cells", 1, "sv:3")]


@pytest.mark.parametrize(
    ("header", "across"),
    [
        ("n,1,2,4", "processors"),
        (",1,2,4", "processors"),
        ("n,p=1,p=2,p=4", "p"),
        ("n,np1,np2,np4", "np"),
        ("n,1 core,2 cores,4 cores", "processors"),
        ("n,t1,t2,t4", "processors"),
    ],
)
def test_a_column_for_each_number_of_processors(table: Any, header: str, across: str) -> None:
    if header.startswith(","):
        header = "n" + header
    made = table(f"{header}\n10,8,4.5,2.5\n20,16,9,5\n".replace("1 core,", "1 cores,"))
    assert made.points.iloc[:, 0].tolist() == [1, 1, 2, 2, 4, 4]
    assert made.parameters == ((across if "core" not in header else "cores"), "n")
    assert [row[-1] for row in flat(made, made.metrics[0].name)] == [8, 16, 4.5, 9, 2.5, 5]
    assert any("3 columns were taken as values of" in note for note in made.notes)


def test_columns_that_may_be_either_are_asked_for(table: Any) -> None:
    text = "n,1,2,3\n10,8,4.5,2.5\n20,16,9,5\n"
    assert "say --across processors or --across repetition" in refusal(table, text)
    assert table(text, across="repetition").parameters == ("n",)
    assert table(text, across="processors").parameters == ("processors", "n")


def test_a_row_a_value_with_regions_and_units(table: Any) -> None:
    made = table(
        "p,region,metric,value,unit\n1,main,time,8,s\n1,main->solve,time,6,s\n1,main,flops,100,\n2,main,time,4.5,s\n"
    )
    assert made.paths == ("main", "main->solve")
    assert [(metric.name, metric.unit, metric.kind) for metric in made.metrics] == [
        ("time", "s", "time"),
        ("flops", "", "count"),
    ]
    assert len(made.values) == 4
    text = "p,metric,value,unit\n1,time,8,s\n2,time,4,ms\n"
    assert ":3: column 4 'unit': 's' was expected" in refusal(table, text)


def test_a_column_a_metric_with_regions(table: Any) -> None:
    made = table("threads;function;time;visits\n1;a;8;3\n1;b;2;1\n2;a;4,5;3\n2;b;1,5;1\n")
    assert made.paths == ("a", "b")
    assert [metric.name for metric in made.metrics] == ["time", "visits"]
    assert made.grid(0)[:, :, 0].tolist() == [[8, 4.5], [2, 1.5]]


def test_texts_are_parameters_and_remarks_are_left_out_and_counted(table: Any) -> None:
    made = table("p,version,date,time\n1,a,mon,8\n1,b,tue,7\n2,a,wed,4\n2,b,thu,3\n")
    assert made.parameters == ("p", "version")
    assert made.points["version"].tolist() == ["a", "b", "a", "b"]
    assert [skipped.reason for skipped in made.skipped] == ["'date': left out (its name)"]
    text = "p,weather,time\n1,sunny,8\n2,mild,7\n4,windy,4\n8,rainy,3\n"
    assert "column 2 'weather' holds a text of its own in every row" in refusal(table, text)
    assert table(text, columns={"weather": "skip"}).parameters == ("p",)


@pytest.mark.slow
def test_groups_of_thousands_and_decimal_commas(table: Any) -> None:
    assert flat(table('p,time\n1,"1,234.5"\n2,"2,000,000"\n')) == [(1, 0, 1234.5), (2, 0, 2e6)]
    assert flat(table("p;time\n1;1.234,5\n2;617,25\n")) == [(1, 0, 1234.5), (2, 0, 617.25)]
    assert flat(table("p;time\n1;1 234.5\n2;617.25\n")) == [(1, 0, 1234.5), (2, 0, 617.25)]
    text = "p;time\n1;1,234\n2;2,345\n"
    assert "'1,234' may have a decimal comma or a group of thousands; say --decimal" in refusal(table, text)
    assert flat(table(text, decimal=",")) == [(1, 0, 1.234), (2, 0, 2.345)]
    assert flat(table(text, decimal=".")) == [(1, 0, 1234.0), (2, 0, 2345.0)]


def test_what_is_no_number_is_missing_or_refused_with_its_place(table: Any) -> None:
    made = table("p,time\n1,8\n2,NaN\n4,n/a\n8,inf\n16,\n32,1\n")
    assert flat(made) == [(1, 0, 8.0), (32, 0, 1.0)]
    assert [(skipped.count, skipped.reason) for skipped in made.skipped] == [
        (3, "empty"),
        (1, "out of range; 0 or a number from 1e-150 to 1e150 was expected"),
    ]
    rows = "".join(f"{n},{n / 2}\n" for n in range(1, 30))
    said = refusal(table, f"p,time\n{rows}30,fast\n31,4 s\n")
    assert "t.csv:31: column 2 'time': a number was expected, got 'fast'" in said
    assert "t.csv:32: column 2 'time': a number was expected, got '4 s'" in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "t.csv:1: is empty"),
        ("\n\n  \n", ":1: is empty"),
        ("# only a remark\n", ":1: is empty"),
        ("p,time\n", ":1: holds no row of numbers"),
        ("hello\nworld\n", ":1: is not a table: no comma, semicolon, tab, bar or space"),
        ("p,time\n1,8\n2\n4,2\n", ":3: has 1 cell; 2 were expected"),
        ("p,time\n1,8\n2,4,5\n4,2\n", ":3: has 3 cells; 2 were expected, one for each column; a decimal comma"),
        ("1 8\n2 4.5\n", "no line has names of the columns; say --names"),
        ('p,time\n1,"8\n2,4"\n', ":2: a quotation mark is not closed"),
        ("p,time\n1,8\n2,-4\n", ":3: column 2 'time': -4 is not a time"),
        (
            "p,time\n1,8\n,4\n",
            ":3: column 1 'p': a number was expected in every row, as it tells runs apart; --cell 3=skip",
        ),
        ("p,n\n1,8\n2,4\n", "no column holds measured values"),
        (b"p,time\n1,8\n\x00\x01\x02", ":3: is not text"),
        (b"\xff\xfep\x00,\x00t", "is not utf-16: byte"),
        ("p,time\n1,\n2,\n", "column 2 'time': has no value in any row"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(table: Any, text: str | bytes, expected: str) -> None:
    assert expected in refusal(table, text)


def test_reading_allocates_what_the_file_has_and_not_what_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("p,time\n1,8\n2,4\n")
    tracemalloc.start()
    try:
        assert read_lines(tmp_path / "t.csv").lines[1] == "1,8"
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_a_cell_too_many_in_every_row_is_no_name_of_rows(table: Any) -> None:
    with pytest.raises(InputError, match=r"t.csv:2: has 3 cells; 2 were expected"):
        table("threads,time [s]\n1,16,4\n2,8,4\n4,4,4\n")
    assert flat(table("threads time\n1 1 8\n2 2 4\n3 4 2.5\n")) == [(1, 0, 8), (2, 0, 4), (4, 0, 2.5)]  # as R writes
    named = table("threads,time\na,1,8\nb,2,4\n")
    assert [row[-1] for row in flat(named)] == [8, 4]


def test_choices_are_taken_as_said_and_refused_where_they_do_not_fit(table: Any) -> None:
    bare = "1 8\n2 4.5\n"
    assert flat(table(bare, names=("p", "time"))) == TWO
    assert ":1: has 2 columns, but --names has 3" in refusal(table, bare, names=("a", "b", "c"))
    assert flat(table("x;y\n1,8\n2,4\n".replace(",", ";"), columns={"x": "parameter", "2": "metric"}), "y")
    assert "has no column 'z'" in refusal(table, "p,time\n1,8\n", columns={"z": "metric"})
    assert "'metrik' is not a role of a column; did you mean 'metric'" in refusal(
        table, "p,time\n1,8\n", columns={"p": "metrik"}
    )
    assert "unknown encoding 'klingon'" in refusal(table, "p,time\n1,8\n", encoding="klingon")
    assert flat(table("junk;junk\np,time\n1,8\n2,4.5\n", header=2)) == TWO
    assert flat(table("p,time\n1,8\n!no\n2,4.5\n", comment="!")) == TWO
    assert ":2: has no line 9 with names of columns" in refusal(table, "p,time\n1,8\n", header=9)


def test_a_guess_says_how_sure_it_is_and_why(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("n,x,time\n1,10,8\n2,11,4\n4,12,2\n")
    guess = guess_table(path)
    assert [column.role for column in guess.columns] == ["parameter", "parameter", "metric"]
    assert guess.columns[1].confidence < 0.6
    assert guess.confidence == 0
    (question,) = guess.questions
    assert question.key == "columns.x"
    assert question.choices == ("parameter", "metric", "skip")
    assert guess.preview[0] == ("1", "10", "8")
    assert guess_table(path, TableChoices(columns={"x": "metric"})).confidence > 0.6
    with pytest.raises(Unanswered):
        read_table(path)


@pytest.mark.slow
def test_a_very_wide_table_is_read(table: Any) -> None:
    count = 20_000
    header = ",".join(str(n) for n in range(2, count + 2))
    made = table(f"n,{header}\n5,{','.join(['1.5'] * count)}\n6,{','.join(['2.5'] * count)}\n", across="processors")
    assert len(made.points) == len(made.values) == 2 * count


def test_reading_can_be_stopped_and_tells_how_far_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("p,time\n" + "".join(f"{n % 8 + 1},{n}.5\n" for n in range(1000)))
    shares: list[float] = []
    read_table(path, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] <= 1
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        read_table(path, cancel=token)


_CELL = st.one_of(
    st.sampled_from(["", "1", "2.5", "1,5", "nan", "inf", "time", "p", '"', "#", "x y", "\u00e4", "1e400", "-3", "01"]),
    st.text(max_size=4),
)
_TEXT = st.lists(st.lists(_CELL, max_size=5).map(",".join), max_size=8).map("\n".join)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.one_of(st.binary(max_size=200), _TEXT.map(str.encode), _TEXT.map(lambda text: text.encode("utf-16"))))
def test_any_bytes_are_a_set_or_a_sentence(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("t") / "a.csv"
    path.write_bytes(data)
    with contextlib.suppress(InputError):
        check(read_table(path))


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.integers(0, 200), st.binary(min_size=1, max_size=4), st.sampled_from([",", ";", "\t", " "]))
def test_a_damaged_table_is_a_set_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, place: int, rubbish: bytes, delimiter: str
) -> None:
    rows = ["p,region,rep,time", *(f"{p},r{r},{k},{8 / p}" for p in (1, 2, 4) for r in (0, 1) for k in (0, 1))]
    data = bytearray("\n".join(rows).replace(",", delimiter).encode())
    place %= len(data)
    data[place : place + len(rubbish)] = rubbish
    path = tmp_path_factory.mktemp("t") / "a.csv"
    path.write_bytes(bytes(data))
    with contextlib.suppress(InputError):
        check(read_table(path))


def test_all_faults_of_a_table_are_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("threads,time_s,n\n1,10.1,abc\n2,xx,1000\n4,2.8,1000,7\nfoo,3,1000\n")
    with pytest.raises(InputError) as error:
        read_table(path)
    assert [(fault.line, fault.key) for fault in error.value.faults] == [
        (2, "column 3 'n'"),
        (3, "column 2 'time_s'"),
        (4, ""),
        (5, "column 1 'threads'"),
    ]
    assert "--cell 2=skip --cell 3=skip --cell 4=skip --cell 5=skip leaves out all 4 rows" in str(error.value)
