"""Every format gives the numbers counted by hand in a small file, and reports what it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, InputError
from scalegraph.measurements.model import MeasurementSet, check
from scalegraph.measurements.reader import readers, recognised
from tests.measurements.samples import CALIPER, LINES, SAMPLES, TALPAS, TEXT, experiment_three, write


def load(path: Path) -> MeasurementSet:
    found = recognised(path)[0].read(path, CancelToken(), lambda _: None)
    check(found)
    return found


def likely(path: Path) -> list[str]:
    """Return the readers for *path* without that of tables, which is tried last and accepts any text."""
    names = [reader.name for reader in recognised(path)]
    assert "table" not in names[:-1]
    return [name for name in names if name != "table"]


def series(found: MeasurementSet, path: str, metric: str) -> list[list[float]]:
    """Return the values of a series by point and repetition."""
    grid = found.grid(found.metric(metric))[found.paths.index(path)]
    return [[float(value) for value in row if value == value] for row in grid]


def points(found: MeasurementSet) -> list[tuple[object, ...]]:
    return list(found.points.itertuples(index=False, name=None))


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    return SAMPLES[request.param][0], write(request.param, tmp_path)


def test_a_sample_is_recognised_by_its_content_alone(sample: tuple[str, Path]) -> None:
    name, path = sample
    assert likely(path) == [name]
    found = load(path)
    assert found.files
    assert found.title
    if path.is_file():
        renamed = path.rename(path.with_name("unknown.dat"))
        assert likely(renamed) == [name]


def test_reading_goes_on_to_the_end_and_can_be_stopped(sample: tuple[str, Path]) -> None:
    name, path = sample
    shares: list[float] = []
    readers()[name].read(path, CancelToken(), shares.append)
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    if path.is_dir():
        stopped = CancelToken()
        stopped.cancel()
        with pytest.raises(Cancelled):
            readers()[name].read(path, stopped, lambda _: None)


def test_text(tmp_path: Path) -> None:
    found = load(write("text", tmp_path))
    assert points(found) == [(2, 100), (4, 100), (8, 200)]
    assert found.paths == ("main", "main->solve")
    assert series(found, "main->solve", "time") == [[1, 2], [3, 4], [5, 6]]
    assert series(found, "main", "time") == [[10], [11], [12]]
    assert series(found, "main", "flops") == [[1000, 1000]] * 3
    assert [metric.kind for metric in found.metrics] == ["time", "count"]
    assert len(found.values) == 15


def test_newer_json(tmp_path: Path) -> None:
    found = load(write("newer", tmp_path))
    assert points(found) == [(2, 100), (4, 100), (8, 200)]
    assert series(found, "main->solve", "time") == [[1, 2], [3, 4.5], [6]]
    assert series(found, "main", "time") == [[10], [10], [10]]


def test_older_json_goes_by_its_ids(tmp_path: Path) -> None:
    found = load(write("older", tmp_path))
    assert points(found) == [(2, 100), (4, 200)]
    assert series(found, "main", "time") == [[1.5, 2.5], [3.5]]
    assert series(found, "main->solve", "time") == [[4.5], [5.5]]


def test_json_lines(tmp_path: Path) -> None:
    found = load(write("lines", tmp_path))
    assert points(found) == [(2, "static"), (4, "static"), (4, "guided")]
    assert series(found, "main", "time") == [[1, 2], [3], [4.5]]


def test_talpas(tmp_path: Path) -> None:
    found = load(write("talpas", tmp_path))
    assert points(found) == [(2,), (4,)]
    assert series(found, "main;loop", "time") == [[1.5, 2.5], [3]]


def test_experiment_with_single_values(tmp_path: Path) -> None:
    found = load(write("experiment", tmp_path))
    assert points(found) == [(2,), (4,)]
    assert series(found, "main", "time") == [[1, 2], [3, 5]]
    assert series(found, "main->f", "visits") == [[2, 4], [4, 6]]
    assert series(found, "main->f", "visits_max") == [[3, 6], [4, 8]]
    assert [(each.what, each.count) for each in found.skipped] == [("sets of models", 1)]


def test_experiment_of_means(tmp_path: Path) -> None:
    found = load(write("means", tmp_path))
    assert series(found, "main", "time") == [[1.5], [4]]
    assert series(found, "main", "time_largest") == [[5], [5]]
    assert any("keeps no single values" in note for note in found.notes)


@pytest.mark.parametrize("order", ["<", ">"])
def test_experiment_of_extra_p_3(tmp_path: Path, order: str) -> None:
    path = tmp_path / "experiment_3"
    path.write_bytes(experiment_three(order))
    found = load(path)
    assert found.format == "extrap-3"
    assert points(found) == [(2,), (4,)]
    assert found.paths == ("main", "main->f")
    assert series(found, "main", "time") == [[1], [2]]
    assert series(found, "main->f", "time_largest") == [[4], [5]]
    assert any("keeps no single values" in note for note in found.notes)


def test_a_cube_profile_with_files_attached_before_its_values(tmp_path: Path) -> None:
    found = load(write("cube-attached", tmp_path))
    assert (found.format, series(found, "main", "time")) == ("cube", [[3]])


def test_cube_directory(tmp_path: Path) -> None:
    path = write("cube", tmp_path)
    (path / "scorep.cfg").write_text("x")
    (path / ".cubex").mkdir()
    found = load(path)
    assert points(found) == [(2, 10), (4, 10)]
    assert [(each.name, each.file, each.line) for each in found.call_paths] == [
        ("main", "main.c", 3),
        ("foo", "foo.c", 4),
        ("bar", "bar.c", 5),
    ]
    assert series(found, "main", "time") == [[3, 6], [12]]
    assert series(found, "main->foo", "time") == [[3, 6], [12]]
    assert series(found, "main->foo", "time_max") == [[2, 4], [8]]
    assert series(found, "main->foo", "time_mean") == [[1.5, 3], [6]]
    assert series(found, "main", "elapsed") == [[6, 12], [24]]
    assert series(found, "main->bar", "visits") == [[2, 2], [2]]
    assert series(found, "main", "min_time") == [[5, 10], [20]]
    assert series(found, "main", "locations") == [[2, 2], [2]]
    assert {(each.what, each.count) for each in found.skipped} == {("metric bytes_put", 3), ("entries", 2)}


def test_cube_file_without_a_name_is_a_point_by_its_threads(tmp_path: Path) -> None:
    plain = tmp_path / "run"
    plain.mkdir()
    found = load(write("cube-file", plain))
    assert found.parameters == ("locations",)
    assert points(found) == [(2,)]
    assert series(found, "main", "time") == [[3]]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("mm.a1.1b1.1c1.1", {"a": 1.1, "b": 1.1, "c": 1.1}),
        ("mm.x1.1,y1,1,z1.1.r1", {"x": 1.1, "y": 1.1, "z": 1.1}),
        ("mm.x21.5,y21,5,z1.15.r1", {"x": 21.5, "y": 21.5, "z": 1.15}),
        ("x10y1z1", {"x": 10, "y": 1, "z": 1}),
        ("lulesh-2.0.p8.s30.r12", {"p": 8, "s": 30}),
        ("app.ranks4.run2", {"ranks": 4}),
    ],
)
def test_names_of_directories_hold_parameters(tmp_path: Path, name: str, parameters: dict[str, float]) -> None:
    directory = tmp_path / name
    directory.mkdir()
    found = load(write("cube-file", directory))
    assert found.points.to_dict("records") == [parameters]


def test_caliper(tmp_path: Path) -> None:
    found = load(write("caliper", tmp_path))
    assert points(found) == [(2,)]
    assert found.paths == ("main", "main->solve, twice")
    assert series(found, "main", "time") == [[4]]
    assert series(found, "main->solve, twice", "time") == [[10]]
    assert series(found, "main->solve, twice", "time_max") == [[6]]
    assert series(found, "main->solve, twice", "time_mean") == [[5]]
    assert series(found, "main->solve, twice", "max#time.duration") == [[5]]
    assert series(found, "main", "elapsed") == [[8.5]]
    assert series(found, "main", "elapsed_time") == [[9.5]]
    assert found.metrics[found.metric("time")].description == "sum#time.duration"


def test_caliper_program_holds_its_regions_where_times_are_inclusive(tmp_path: Path) -> None:
    path = tmp_path / "c.cali"
    lines = CALIPER.replace("JOBSIZE", "2").replace("sum#time", "sum#inclusive#sum#time").splitlines()
    lines = [line.replace("max#time", "max#inclusive#sum#time") for line in lines]
    rows = ["__rec=ctx,attr=31=32,data=0.5=0.25", "__rec=ctx,ref=40,attr=31=32,data=20=10.5"]
    rows.append("__rec=ctx,ref=41,attr=31=32,data=9=5")
    path.write_text("\n".join([*[line for line in lines[:-1] if "ctx" not in line], *rows, lines[-1]]) + "\n")
    found = load(path)
    assert series(found, "<program>->main", "time") == [[20]]
    assert series(found, "<program>", "time") == [[20]]
    assert series(found, "<program>", "elapsed") == [[10.5]]


def test_caliper_files_of_one_point_are_repetitions(tmp_path: Path) -> None:
    found = load(write("caliper-directory", tmp_path))
    assert points(found) == [(2,), (4,)]
    assert series(found, "main", "time") == [[4, 4], [4]]


def test_caliper_gives_useful_time_by_process(tmp_path: Path) -> None:
    path = tmp_path / "c.cali"
    path.write_text(CALIPER.replace("JOBSIZE", "2").replace(r"solve\, twice", "MPI_Wait"))
    found = load(path)
    assert series(found, "main", "busy") == [[4]]
    assert series(found, "main", "busy_max") == [[2.5]]
    assert series(found, "main->MPI_Wait", "busy") == [[0]]
    assert series(found, "main", "busiest") == [[2.5]]
    assert series(found, "main", "elapsed") == [[8.5]]


def test_caliper_json_has_what_is_outside_of_regions_above_them(tmp_path: Path) -> None:
    found = load(write("split", tmp_path))
    assert points(found) == [(2,)]
    assert found.paths == ("<program>", "<program>->main", "<program>->main->solve")
    assert series(found, "<program>->main->solve", "time") == [[10]]
    assert series(found, "<program>->main->solve", "time_max") == [[6]]
    assert series(found, "<program>", "elapsed") == [[8.5]]
    assert [(each.count, each.reason.partition(" says")[0]) for each in found.skipped] == [(5, "column 'line'")]


def test_google_benchmark(tmp_path: Path) -> None:
    found = load(write("google", tmp_path))
    assert found.parameters == ("n", "threads")
    assert points(found) == [(8, 1), (8, 2), (64, 2)]
    assert series(found, "BM_sort<int>", "time") == [[20, 21], [23], [164]]
    assert series(found, "BM_sort<int>", "items") == [[7, 7], [7], [7]]
    assert found.metrics[0].unit == "us"
    assert [(each.what, each.count) for each in found.skipped] == [("results", 1)]


def test_hyperfine_takes_the_runs_that_ended_well(tmp_path: Path) -> None:
    found = load(write("hyperfine", tmp_path))
    assert points(found) == [(1,), (2,), (4,)]
    assert series(found, "command", "time") == [[3, 4], [1.5, 2], [0.75, 1]]
    assert series(found, "command", "user_time") == [[1.5]] * 3
    assert [(each.what, each.count) for each in found.skipped] == [("runs", 3)]


def test_pytest_benchmark(tmp_path: Path) -> None:
    found = load(write("pytest", tmp_path))
    assert points(found) == [(1,), (2,)]
    assert series(found, "t.py::test_sort", "time") == [[1, 3], [2, 6]]
    assert [(each.what, each.count) for each in found.skipped] == [("benchmark test_other", 1)]


def test_perf_stat_directory(tmp_path: Path) -> None:
    found = load(write("perf", tmp_path))
    assert points(found) == [(1,), (2,)]
    assert series(found, "program", "task-clock") == [[2.5, 3.5], [3.5]]
    assert series(found, "program", "elapsed") == [[2e6, 2e6], [2e6]]
    assert [(metric.unit, metric.kind) for metric in found.metrics] == [("msec", "time"), ("", "count"), ("ns", "time")]
    assert [(each.what, each.count) for each in found.skipped] == [("event cycles", 3)]


def test_results_without_parameters_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "h.json"
    path.write_text('{"results": [{"command": "ls", "times": [1, 2]}]}')
    with pytest.raises(InputError, match="have no parameters; expected some, by hyperfine --parameter-scan"):
        load(path)


REFUSED = {
    "parameter after points": (TEXT + "PARAMETER q\n", "t.txt:18: PARAMETER after POINTS"),
    "a word for a number": (TEXT.replace("DATA 3 4", "DATA 3 four"), "t.txt:8: expected a number, found 'four'"),
    "an underscore": (TEXT.replace("DATA 3 4", "DATA 3 4_0"), "t.txt:8: expected a number, found '4_0'"),
    "a coordinate too many": (TEXT.replace("(8 200)", "(8 200 1)"), "t.txt:4: a point has 3 coordinates; expected 2"),
    "a point twice": (TEXT.replace("(8 200)", "(4 100)"), r"t.txt:4: point \(4, 100\) appears twice"),
    "no parentheses": (TEXT.replace("(8 200)", "8 200"), "expected 2, one for each of p, n, each point in parenth"),
    "too many lines": (TEXT.replace("DATA 5 6", "DATA 5 6\nDATA 7"), "t.txt:10: expected no more than 3 DATA lines"),
    "too few lines": (TEXT.replace("DATA 5 6\n", ""), "t.txt:9: 2 DATA lines of 'main->solve' before this line"),
    "a series twice": (TEXT + "METRIC time\nDATA 1\nDATA 1\nDATA 1\n", "'time' of 'main' has values from line 11 on"),
    "no points": ("PARAMETER p\n", "the file ends without POINTS"),
    "no data": ("PARAMETER p\nPOINTS 1 2\nREGION main\n", "the file ends without DATA"),
    "another word": ("PARAMETER p\nPOINT 1 2\n", "expected a line that begins with PARAMETER, POINTS"),
    "no JSON": (LINES.replace("3}", "3"), "t.txt:2:.*is not JSON"),
    "another parameter": (LINES.replace('"p": 4, "kind"', '"q": 4, "kind"'), "expected the parameters of the first li"),
    "no call path": (TALPAS.replace('"callpath":"main;loop";', "", 1), "t.txt:1: 'callpath' is missing"),
    "a name twice": (
        TALPAS.replace('"metric":"time"', '"value":1;"metric":"time"', 1),
        "name 'value' appears twice in one object",
    ),
    "true for a number": (LINES.replace("3}", "true}"), "t.txt:2: value: expected a number, found true"),
    "an empty list": (LINES.replace("[1.0, 2.0]", "[]"), "t.txt:1: value: is an empty list"),
    "a record cut short": (CALIPER.replace("=1.5=1.5=0", "=1.5=1.5"), "t.txt:16: has not one value for each attribute"),
    "no globals": (CALIPER.replace("__rec=globals,ref=25\n", ""), "the file is cut off"),
    "its own parent": (CALIPER.replace("twice,parent=40", "twice,parent=41"), "t.txt:15: is a node that is its own"),
    "an unknown node": (CALIPER.replace("ref=41", "ref=49"), "t.txt:18: is not a record of Caliper that makes sense"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_faulty_file_is_refused_in_a_sentence_with_its_place(tmp_path: Path, fault: str) -> None:
    text, sentence = REFUSED[fault]
    path = tmp_path / "t.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=sentence) as refusal:
        load(path)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_values_that_are_no_numbers_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text(TEXT.replace("DATA 5 6", "DATA nan 6"))
    found = load(path)
    assert len(found.values) == 14
    assert [(each.what, each.count) for each in found.skipped] == [("values", 1)]
    assert found.skipped[0].place.endswith("t.txt: time of main->solve at p = 8, n = 200")


def test_an_arrow_of_cplusplus_is_part_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text(TEXT.replace("main->solve", "main->ptr::operator->()->solve"))
    assert load(path).paths[1:] == ("main->ptr::operator->()", "main->ptr::operator->()->solve")
