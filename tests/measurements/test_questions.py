"""All questions at once: those that no name answers are asked together with those that other answers leave open."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.measurements.mapping import Unanswered
from scalegraph.request.imports.sets import understood
from tests.measurements.test_outputs import times


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("cols,time_s\n1,8.0\n2,4.2\n4,2.2\n", ["processors"]),
        ("zeilen,fps\n1,10\n2,19\n4,33\n", ["processors"]),
        ("x,time_s\n1,8.0\n2,8.2\n4,8.2\n", ["processors", "scaling"]),
        ("n,time_s\n100,8.0\n200,18.2\n400,38.2\n", []),
    ],
)
def test_what_counts_processors_is_asked_where_no_name_says_it(tmp_path: Path, text: str, asked: list[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    if not asked:
        assert understood([path]).no_runs
        return
    with pytest.raises(Unanswered) as error:
        understood([path])
    assert [one.key for one in error.value.questions] == asked
    answers = {one.key: one.guess for one in error.value.questions}
    assert len(times(understood([path], said=answers))) == 3
    if text.startswith("cols"):
        assert understood([path], said={"processors": "none"}).mapping.processors == ""


def test_a_question_says_what_another_answer_leaves_open(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ranks,threads,n,time_s\n1,1,10,8\n2,1,10,4.1\n1,2,20,8.3\n2,2,20,4.2\n4,2,40,4.4\n")
    with pytest.raises(Unanswered) as error:
        understood([path])
    (question,) = error.value.questions
    assert "--processors threads leaves open: 'ranks' and 'n' differ" in question.switch
    assert times(understood([path], said={"processors": "ranks*threads"}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nodes,ranks,time_s\n2,4,8.0\n", [(4, 8.0)]),
        ("nodes,time_s\n2,8.0\n", [(2, 8.0)]),
        ("ranks,threads,time_s\n4,1,8.0\n", [(4, 8.0)]),
        ("ranks,threads,time_s\n1,1,8.0\n", [(1, 8.0)]),
        ("ranks,threads,time_s\n4,2,8.0\n", None),
    ],
)
def test_what_counts_processors_in_a_single_run(tmp_path: Path, text: str, expected: list[tuple[int, float]]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    if expected is not None:
        assert times(understood([path])) == expected
        return
    with pytest.raises(Unanswered, match="ranks and threads may each count the processors"):
        understood([path])


@pytest.mark.parametrize(
    ("name", "text", "scaling"),
    [
        ("weak_scaling.csv", "p,time_s\n1,8.0\n2,8.2\n4,8.6\n", "weak"),
        ("weak.csv", "p,time_s\n1,1.0\n2,5.0\n4,20.0\n", "weak"),  # ten times as long does not look like strong scaling
        ("results-strong.csv", "p,time_s\n1,8.0\n2,8.2\n4,8.6\n", "strong"),
        ("t.csv", "p,time_s,speedup,efficiency\n1,8.0,1,1\n2,8.2,0.976,0.488\n4,8.6,0.93,0.2326\n", "strong"),
        ("t.csv", "p,time_s,efficiency\n1,8.0,1\n2,8.2,0.976\n4,8.6,0.93\n", "weak"),
        ("weakness.csv", "p,time_s\n1,8.0\n2,8.2\n4,8.6\n", ""),
        ("weak_and_strong.csv", "p,time_s\n1,8.0\n2,8.2\n4,8.6\n", ""),
        ("weak.csv", "p,time_s,efficiency\n1,8.0,1\n2,8.2,0.488\n4,8.6,0.2326\n", ""),  # name and column disagree
        ("weak.csv", "p,time_s\n1,8.0\n2,4.1\n4,2.1\n", ""),  # name and times disagree
    ],
)
def test_file_names_and_efficiencies_say_how_a_problem_scales(
    tmp_path: Path, name: str, text: str, scaling: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    if scaling:
        assert understood([path]).mapping.scaling == scaling
        return
    with pytest.raises(Unanswered) as error:
        understood([path])
    (question,) = error.value.questions
    assert question.key == "scaling"
    assert question.guess == ("weak" if name == "weak.csv" else "strong")


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("ranks,cores,n,time_s\n1,1,10,8\n2,1,20,8.1\n2,2,40,8.3\n4,2,80,8.4\n", "ranks*cores"),
        ("nodes,tasks,max_cores,time_s\n1,1,1,8\n1,2,1,4\n2,4,1,2\n1,1,2,4.1\n1,1,4,2.2\n", "tasks*max_cores"),
        ("processes,threads,time_s\n0,1,8\n0,2,4\n1,2,4\n", "threads"),  # no product of 0 processes
    ],
)
def test_the_guess_of_what_counts_is_a_product_where_numbers_show_it(tmp_path: Path, text: str, guess: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(Unanswered) as error:
        understood([path])
    assert error.value.questions[0].guess == guess


@pytest.mark.parametrize(
    ("rows", "points"),
    [
        ("alpha,1,8\nalpha,2,4.1\nbeta,1,6\nbeta,2,3.1\n", 4),
        ("a1,1,8\na2,2,4.1\na3,4,2.1\n", 3),  # the node that each job got
        ("alpha,1,8\nalpha,2,4.1\nalpha,4,2.2\n", 3),
        ("a1,1,8\na2,1,8.1\na3,2,4.1\na4,2,4.2\n", None),  # nodes of repetitions, or hosts to compare
    ],
)
@pytest.mark.parametrize("title", ["host", "hostname"])
def test_two_hosts_are_no_repetitions_of_one(tmp_path: Path, title: str, rows: str, points: int | None) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{title},p,time_s\n{rows}")
    if points is None:
        with pytest.raises(Unanswered, match="holds a text of its own in every row, and may be left out"):
            understood([path])
        return
    assert len(understood([path]).measured.points) == points


def test_a_time_that_every_row_repeats_is_what_the_speedup_is_relative_to(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("threads,T1_ms,Tp_ms,speedup\n1,46.7,44.5,1.05\n2,46.7,131.5,0.355\n4,46.7,157.9,0.296\n")
    assert understood([path]).mapping.time == "Tp"


def test_times_that_would_be_days_are_guessed_in_microseconds(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("threads,average_time\n1,3470593.4\n2,2082981.6\n4,1130493.9\n")
    with pytest.raises(Unanswered) as error:
        understood([path])
    assert error.value.together == "--unit us"
