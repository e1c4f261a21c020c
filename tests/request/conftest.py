"""A target that computes its times by a formula, so that requests take no time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.run import LineCost, RunPoint, RunRecord, TraceFile
from scalegraph.base.run import Region as Place
from scalegraph.link import Build, BuiltSource, Job, TraceOrder, tracing
from scalegraph.request import Request
from scalegraph.traces.builder import Builder
from scalegraph.traces.formats import Writing, writer_for
from scalegraph.traces.model import Location, Region

Times = Callable[[RunPoint], float | None]


def efficient(overhead: float = 100.0) -> Times:
    """Return T = W/N + overhead * log N with W = n: E rises with n, and falls with N."""

    def time(point: RunPoint) -> float:
        n = float(point.parameters.get("n", 1000))
        return n / point.processors + (overhead * (point.processors - 1) ** 0.5 if point.processors > 1 else 0.0)

    return time


class FakeLink:
    """Counts the requested runs; *times* gives T_para in seconds, None means a crash."""

    def __init__(self, times: Times | None = None, cancel_after: int | None = None) -> None:
        self.times = times or efficient()
        self.points: list[RunPoint] = []
        self.args: list[tuple[str, ...]] = []
        self.orders: list[TraceOrder] = []
        self.cancel_after = cancel_after
        self.token: CancelToken | None = None

    def run(self, job: Job, _cancel: CancelToken | None = None) -> RunRecord:
        point, trace = job.point, job.trace
        self.points.append(point)
        self.args.append(job.args)
        if self.token is not None and len(self.points) >= (self.cancel_after or 0):
            self.token.cancel()
        if trace is not None:
            self.orders.append(trace)
        time_s = self.times(point)
        common: dict[str, Any] = {
            "source": "simulated",
            "program": job.name,
            "machine": job.machine.name,
            "point": point,
        }
        if time_s is None:
            return RunRecord(**common, status="crashed", message="segmentation fault in f at p.c:3", signal=11)
        n = float(point.parameters.get("n", 1000))
        return RunRecord(
            **common,
            time_s=time_s,
            host_s=0.01,
            work_ops=int(1e6 * n),
            busy_s=n,
            memory_stall_s=0.0,
            idle_s=max(0.0, point.processors * time_s - n),
            primitive_s=0.0,
            stdout=f"n = {n}\n",
            time_cycles=int(time_s * job.machine.clock_hz),
            collected=job.collect,
            lines=(LineCost(file="p.c", line=1, executions=1),),
            trace=written(trace) if trace else None,
        )


def written(order: TraceOrder) -> TraceFile:
    """Write a trace of one location that entered and left a region, as ordered."""
    builder = Builder()
    builder.definitions.locations.append(Location("processor 0", "processor"))
    builder.definitions.regions.append(Region("program"))
    builder.meta.properties["run"] = order.identity
    builder.rows("calls").add(0, 0, 1, 0)
    builder.rows("calls").add(9, 0, 2, 0)
    with tracing.workplace(order) as place:
        fresh = place / "trace.sgtrace"
        writer = writer_for(fresh)
        with builder.finish() as trace:
            writer.write(Writing(trace, fresh))
            counts = trace.counts()
        size = fresh.stat().st_size
        return TraceFile(path=str(tracing.publish(fresh, order)), bytes=size, counts=counts, asked=order.asked)


def fake_build(sources: Sequence[Path | str], **options: Any) -> Build:
    """Stand in for `control.build`; the digest depends on the names and flags only."""
    texts = tuple(BuiltSource(str(name), "int main;\n", "int main;\n") for name in sources)
    return Build(
        program=Path(str(sources[0])).stem,
        executable=Path("/nowhere"),
        launcher=Path("/nowhere"),
        blocks=Path("/nowhere"),
        regions=(
            Place(id=0, kind="program", name="program"),
            Place(id=1, kind="function", name="solve", file="p.c", line=1, parent=0),
        ),
        sources=texts,
        remarks=(),
        digest=repr((sources, options.get("cflags"))),
    )


@pytest.fixture
def link(monkeypatch: pytest.MonkeyPatch) -> type[FakeLink]:
    """Return the class of fake targets; programs are not compiled either."""
    monkeypatch.setattr("scalegraph.control.build", fake_build)
    return FakeLink


@pytest.fixture
def request_of(tmp_path: Path) -> Callable[..., Request]:
    """Return a maker of requests for a program with one parameter n."""
    (tmp_path / "p.c").write_text("int main(void) { return 0; }\n")

    def make(**more: Any) -> Request:
        values: dict[str, Any] = {
            "program": {"sources": ["p.c"], "args": ["{n}"], "directory": str(tmp_path)},
            "parameters": {"n": 1000},
            "processors": [1, 2, 4, 8],
            "machine": {"name": "ksr1"},
        }
        return Request.model_validate(values | more)

    return make
