"""A request with several machines, splits, schedules: its members, what is left out, and its study."""

from pathlib import Path

import pytest

from scalegraph.base import toml
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError
from scalegraph.base.events import Event, RunFinished, RunSkipped
from scalegraph.request import Session
from scalegraph.request.model.request import ProgramChoice, Request, Space
from scalegraph.request.model.space import members, same_setting, setting_of
from scalegraph.request.results import selecting
from scalegraph.store import Study

SUM = r"""
#include <stdio.h>
int main(void)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 500; i++)
        sum += i;
    printf("%g\n", sum);
    return 0;
}
"""


def request(*processors: int, space: dict[str, object], **more: object) -> Request:
    return Request.model_validate({"program": {"name": "billiard"}, "processors": processors, "space": space, **more})


def test_a_member_is_the_request_with_one_value_of_each() -> None:
    asked = request(1, 4, 16, space={"machine": ["cluster-hdr", "ksr1"], "threads_per_process": [1, 4]})
    found = members(asked)
    assert [one.setting for one in found] == [
        {"machine": "cluster-hdr", "threads_per_process": "1"},
        {"machine": "cluster-hdr", "threads_per_process": "4"},
        {"machine": "ksr1", "threads_per_process": "1"},
        {"machine": "ksr1", "threads_per_process": "4"},
    ]
    last = found[-1].request
    assert last is not None
    assert (last.machine.name, last.program.threads_per_process, last.space.varies) == ("ksr1", 4, False)
    assert (asked.machine.name, asked.space.count()) == ("cluster-hdr", 4)
    assert all(same_setting(one.setting, setting_of(one.request)) for one in found if one.request)


def test_what_cannot_be_is_left_out_and_said() -> None:
    # 24 processors on xeon-6126; processes of 16 threads fill 16, not 4
    space = {"machine": ["xeon-6126", "server-2x32"], "threads_per_process": [1, 16]}
    found = members(request(1, 4, 16, 32, space=space))
    assert [one.request and one.request.processors for one in found] == [
        (1, 4, 16),
        (1, 16),
        (1, 4, 16, 32),
        (1, 16, 32),
    ]
    assert found[0].left_out == (
        "xeon-6126, 1 thread a process: N = 32 left out: machine 'xeon-6126' has 1 to 24 processors",
    )
    assert [text.partition(": ")[2] for text in found[1].left_out] == [
        "N = 4 left out: processes of 16 threads need a multiple of 16 processors",
        "N = 32 left out: machine 'xeon-6126' has 1 to 24 processors",
    ]


def test_nothing_that_can_run_is_a_fault_that_says_why() -> None:
    with pytest.raises(InputError) as refused:
        members(request(2, 4, space={"threads_per_process": [3, 5]}, machine={"name": "ksr1"}))
    texts = [fault.message for fault in refused.value.faults]
    assert texts[0] == "no combination can run"
    assert (
        "ksr1, 3 threads a process: N = 2, 4 left out: processes of 3 threads need a multiple of 3 processors" in texts
    )


def test_a_machine_that_there_is_not_is_a_fault_whatever_else_could_run() -> None:
    with pytest.raises(InputError, match="unknown machine 'ksr2'; did you mean 'ksr1'"):
        members(request(2, space={"machine": ["ksr1", "ksr2"]}))


def test_a_single_value_must_be_one_of_the_list() -> None:
    with pytest.raises(InputError, match="'machine' is ksr1, which"):
        toml.validate(
            Request,
            {"program": {"name": "billiard"}, "machine": {"name": "ksr1"}, "space": {"machine": ["cm5", "a64fx"]}},
            "",
        )


def test_a_request_of_several_reads_back_equal(tmp_path: Path) -> None:
    asked = request(1, 2, space={"machine": ["a64fx", "ksr1"], "schedule": ["", "EA,alpha=4"], "cflags": "-O2"})
    path = tmp_path / "r.toml"
    path.write_text(asked.to_toml())
    read = Session().load(path)
    assert (read.space, read.machine) == (asked.space, asked.machine)


def test_a_plan_counts_all_choices() -> None:
    plan = Session().plan(request(1, 2, 64, space={"machine": ["a64fx", "ksr1"], "schedule": ["static", "dynamic"]}))
    assert len(plan.points) == 2 * 2 + 2 * 3
    assert len({point.key for point in plan.points}) == 10
    assert sum("N = 64 left out" in note for note in plan.notes) == 2


@pytest.mark.slow
@pytest.mark.compiler
def test_a_study_of_several_resumes_and_keeps_them_apart(tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(SUM)
    program = ProgramChoice(sources=("sum.c",), directory=str(tmp_path))
    path = tmp_path / "s.sgstudy"
    one = Request.model_validate({"program": program, "processors": (1, 2), "machine": {"name": "a64fx"}})
    Session().submit(one, path).close()  # a study of one choice, which then becomes one of four
    asked = one.model_copy(
        update={"space": Space(machine=("a64fx", "ksr1"), schedule=("", "dynamic,64")), "processors": (1, 2)}
    )
    for runs, known in ((6, 2), (0, 8)):
        events: list[Event] = []
        with Session().submit(asked, path, events.append, CancelToken()) as study:
            assert len(study) == 8
        assert sum(isinstance(event, RunFinished) for event in events) == runs
        assert sum(isinstance(event, RunSkipped) for event in events) == known
    with Study.open(path) as study:
        assert len(study.members()) == 4
        ksr, said = selecting.selected(study, {"machine": "ksr1", "schedule": "dynamic,64"})
        assert ({run.machine for run in ksr.runs()}, said) == ({"ksr1"}, "")
        first, said = selecting.selected(study, {})
        assert ({run.machine for run in first.runs()}, "has runs of 4 choices" in said) == ({"a64fx"}, True)
        with pytest.raises(InputError, match="the study has machine a64fx, ksr1"):
            selecting.selected(study, {"machine": "cm5"})
    other = asked.model_copy(update={"program": program.model_copy(update={"args": ("7",)})})
    with pytest.raises(InputError, match="other arguments"):
        Session().submit(other, path)
