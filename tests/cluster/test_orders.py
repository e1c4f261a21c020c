"""What is sent to a worker: orders and programs, executed by the same code without a network."""

from __future__ import annotations

import platform
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError, RunError
from scalegraph.base.run import RunPoint, RunRecord, Variant
from scalegraph.link import Build, Job, Limits, Simulated
from scalegraph.link.cluster import worker
from scalegraph.link.cluster.answers import accepted
from scalegraph.link.cluster.order import Parcel, build_of, pack_order, unpack_order
from scalegraph.link.tracing import TraceOrder
from scalegraph.machine import Machine


def timeless(record: RunRecord) -> RunRecord:
    return record.model_copy(update={"host_s": None, "host_cpu_s": None})


def carried_out(job: Job, **changes: Any) -> RunRecord:
    """Return the accepted answer to *job*, after changing its order in transit."""
    parcel = Parcel(job.build)
    order = pack_order(job, parcel)
    if changes:
        head, blobs = worker.answers.frames.unpack(order)
        order = worker.answers.frames.pack({"order": head["order"] | changes}, *blobs)
    return accepted(worker.answered(order, parcel.data, CancelToken()), job)


@pytest.mark.slow
@pytest.mark.compiler
def test_a_run_from_an_order_is_the_run_from_its_job(sums: Build, ksr1: Machine, tmp_path: Path) -> None:
    text = tmp_path / "input"
    text.write_bytes(b"line\n")
    jobs = [
        Job(sums, ksr1, RunPoint(processors=4), ("50",), stdin=text, cwd=tmp_path, env={"LANG": "C"}),
        Job(sums, ksr1, RunPoint(processors=2, variant=Variant(ideal=("balance",))), ("9",), stdin=b"\0\xff"),
        Job(sums, ksr1, RunPoint(processors=2), ("40",), limits=Limits(time_s=9.5), collect=("classes",), program="p"),
    ]
    for job in jobs:
        here, there = Simulated().run(job), carried_out(job)
        assert here.ok
        assert timeless(there) == timeless(here)


@pytest.mark.slow
@pytest.mark.compiler
def test_a_trace_comes_back_and_lies_where_the_job_wants_it(sums: Build, ksr1: Machine, tmp_path: Path) -> None:
    order = TraceOrder(tmp_path / "here", "run", ("regions",), identity="this run", asked="regions")
    job = Job(sums, ksr1, RunPoint(processors=2), ("50",), trace=order)
    there = carried_out(job)
    here = Simulated().run(replace(job, trace=replace(order, directory=tmp_path / "again")))
    assert there.trace is not None
    assert here.trace is not None
    assert Path(there.trace.path) == tmp_path / "here" / "run.sgtrace"
    assert Path(there.trace.path).read_bytes() == Path(here.trace.path).read_bytes()
    assert there.trace.counts == here.trace.counts
    with pytest.raises(RunError, match="not of this run"):
        carried_out(job, trace={**unpack_order(pack_order(job, Parcel(sums)))[0].trace, "identity": "another"})  # type: ignore[dict-item]


@pytest.mark.compiler
def test_equal_jobs_have_equal_orders_and_others_do_not(sums: Build, ksr1: Machine) -> None:
    parcel = Parcel(sums)
    job = Job(sums, ksr1, RunPoint(processors=2), ("5",))
    assert pack_order(job, parcel) == pack_order(replace(job, estimate_s=3.0), Parcel(sums))
    others = [replace(job, args=("6",)), replace(job, stdin=b""), replace(job, schedule="dynamic,1")]
    assert len({pack_order(one, parcel) for one in (job, *others)}) == 4


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": "0.0.1"}, r"has ScaleGraph .* requested by 0\.0\.1 .* the same version was expected"),
        ({"results": 1}, "the same version was expected"),
        ({"format": 99}, "the same version was expected"),
        ({"architecture": "riscv64"}, f"is {platform.machine()}, the program was built for riscv64"),
        ({"parcel": "0" * 64}, "the program that arrived is not the one that was sent"),
        ({"machine": {}}, "ValidationError"),
        ({"unheard": 1}, "unheard: Extra inputs are not permitted"),
    ],
)
def test_a_worker_that_cannot_carry_an_order_out_says_why(
    changes: dict[str, Any], sentence: str, sums: Build, ksr1: Machine
) -> None:
    with pytest.raises(RunError, match=sentence):
        carried_out(Job(sums, ksr1, RunPoint(processors=2)), **changes)


@pytest.mark.compiler
def test_a_directory_that_a_worker_lacks_is_an_empty_one_with_a_remark(
    sums: Build, ksr1: Machine, tmp_path: Path
) -> None:
    record = carried_out(Job(sums, ksr1, RunPoint(processors=1), cwd=tmp_path / "not there"))
    assert record.ok
    assert record.warnings[-1].endswith("not there; the program ran in an empty one")


@pytest.mark.compiler
def test_a_program_that_was_changed_on_the_way_or_in_the_cache_is_refused(sums: Build) -> None:
    parcel = Parcel(sums)
    with pytest.raises(RunError, match="SHA-256 differs"):
        build_of(parcel.data[:-1] + b"\0", parcel.digest)
    kept = build_of(parcel.data, parcel.digest).blocks
    content = kept.read_bytes()
    kept.write_bytes(content[::-1])  # the cache notices the damage and makes it again
    assert build_of(parcel.data, parcel.digest).blocks.read_bytes() == content


@pytest.mark.compiler
def test_an_answer_that_was_lost_with_its_worker_is_there_for_the_next(
    sums: Build, ksr1: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(worker, "_WORTH_KEEPING_S", 0.0)
    parcel = Parcel(sums)
    one, two = f"{tmp_path} one", f"{tmp_path} two"  # used by no other test
    order = pack_order(Job(sums, ksr1, RunPoint(processors=2), ("5",)), parcel)
    first = worker.carry_out(order, parcel.data, one)
    refused = worker.carry_out(b"", parcel.data, two)
    monkeypatch.setattr(worker, "answered", lambda *_all: b"run again")
    assert worker.carry_out(order, parcel.data, one) == first
    assert b"the order of a run is cut off" in refused
    assert worker.carry_out(order, parcel.data, two) == b"run again"


def test_an_order_that_is_none_is_refused_in_a_sentence() -> None:
    for data in (b"", b"SGF1", b"SGF1\xff\xff\xff\xff", b"\0" * 50, b'SGF1\x0c\0\0\0{"sizes":[]}'):
        with pytest.raises(InputError, match="the order of a run"):
            unpack_order(data)
