"""All questions at once: what no name says is asked together with what other answers leave open."""

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
