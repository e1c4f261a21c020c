"""Sampling: estimates of a long run lie within their intervals, its parts add up, and its output is unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.sampling import SAMPLES, SAMPLES_WHEN_LONG
from scalegraph.control import build
from scalegraph.link import Build, Job, Limits, Simulated
from scalegraph.runtime.compiler import find_compiler
from scalegraph.toolchain.inlining import INLINE, may_inline

pytestmark = [
    pytest.mark.slow,
    pytest.mark.compiler,
    pytest.mark.skipif(not may_inline(find_compiler()), reason="hooks are put in line by gcc for x86-64 only"),
]

# Two loops, each followed by a barrier, 300 times; then a critical section, for results that depend on everything.
REPEATED = """
    #include <stdio.h>
    #include <omp.h>
    enum { N = 4000, STEPS = 300 };
    static double a[N], b[N];
    int main(void)
    {
        double sum = 0;
        double begin = omp_get_wtime();
    #pragma omp parallel
        {
    #pragma omp for schedule(static)
            for (int i = 0; i < N; i++)
                a[i] = i % 17;
            for (int step = 0; step < STEPS; step++) {
    #pragma omp for schedule(static)
                for (int i = 1; i < N - 1; i++)
                    b[i] = (a[i - 1] + 2 * a[i] + a[i + 1]) / 4;
    #pragma omp for schedule(static)
                for (int i = 1; i < N - 1; i++)
                    a[i] = b[i];
            }
            double own = 0;
    #pragma omp for schedule(static)
            for (int i = 0; i < N; i++)
                own += a[i];
    #pragma omp critical
            sum += (long)own;
        }
        printf("%.12g\\n", sum);
        return omp_get_wtime() <= begin;
    }"""
# A triangle of work: later visits have less, and their own parallel regions.
SHRINKING = """
    #include <stdio.h>
    enum { N = 240 };
    static double a[N][N];
    int main(void)
    {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                a[i][j] = i == j ? N : 1.0 / (1 + i + j);
        for (int k = 0; k < N; k++) {
    #pragma omp parallel for schedule(static)
            for (int i = k + 1; i < N; i++)
                for (int j = k + 1; j < N; j++)
                    a[i][j] -= a[i][k] / a[k][k] * a[k][j];
        }
        printf("%.10g\\n", a[N - 1][N - 1]);
        return 0;
    }"""
# A thread waits for another in a loop of its own, without any call: skimming must let the other one proceed.
SPINNING = """
    #include <stdio.h>
    #include <omp.h>
    static volatile int turn[64 * 16];
    static long work[64 * 16];
    int main(void)
    {
    #pragma omp parallel
        {
            int me = omp_get_thread_num();
            for (int step = 1; step <= 150; step++) {
                if (me > 0)
                    while (turn[(me - 1) * 16] < step)
                        ;
                for (int i = 0; i < 200; i++)
                    work[me * 16] += i * step;
                turn[me * 16] = step;
    #pragma omp barrier
            }
        }
        printf("%ld %d\\n", work[0], turn[0]);
        return 0;
    }"""
ONCE = """
    #include <stdio.h>
    static long x[5000];
    int main(void)
    {
        long sum = 0;
    #pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 5000; i++)
            sum += x[i] = i;
        printf("%ld\\n", sum);
        return 0;
    }"""
# Visits of one loop have the same work, but find their data with other threads or not, in no order: so they differ.
# With STEADY there is another loop, whose visits are alike.
UNEQUAL = """
    #include <stdio.h>
    enum { N = 1 << 18 };
    static double x[N], y[8192];
    int main(void)
    {
        unsigned seed = 1;
        for (int step = 0; step < STEPS; step++) {
            seed = seed * 1103515245 + 12345;
            int shift = (seed >> 16) % 3 == 0 ? 3 : 0;
    #pragma omp parallel for schedule(static)
            for (int k = 0; k < 8; k++)
                for (int i = 0; i < 2000; i++)
                    x[(k + shift) % 8 * (N / 8) + i * 16] += i;
    #ifdef STEADY
            for (int again = 0; again < 3; again++) {
    #pragma omp parallel for schedule(static)
                for (int i = 0; i < 8192; i++)
                    y[i] = y[i] / 2 + again;
            }
    #endif
        }
        printf("%g %g\\n", x[0], y[0]);
        return 0;
    }"""

# Everybody reads other rows in each visit, so that copies accumulate in all caches.
PILING = """
    #include <stdio.h>
    #include <stdlib.h>
    static double x[512], next[512];
    int main(void)
    {
        double *a = malloc(512 * 512 * sizeof *a);
    #pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < 512; i++)
            for (int j = 0; j < 512; j++)
                a[i * 512 + j] = i < 102 ? j : 0;
        for (int step = 0; step < 120; step++) {
    #pragma omp parallel
            {
    #pragma omp for schedule(dynamic)
                for (int i = 0; i < 512; i++) {
                    double sum = 0;
                    for (int j = 0; j < 512; j++)
                        if (a[i * 512 + j] != 0)
                            sum += a[i * 512 + j] * x[j];
                    next[i] = sum;
                }
    #pragma omp single
                for (int i = 0; i < 512; i++)
                    x[i] = next[i] + 1;
            }
        }
        printf("%g\\n", x[511]);
        return 0;
    }"""


def _build(text: str, place: Path) -> Build:
    source = place / "program.c"
    source.write_text(text)
    return build([source], ldflags="-lm")


def _run(program: Build, processors: int, *, sample: bool = False, after: int | None = None) -> RunRecord:
    """Run sampled if *sample*, or by itself *after* so much work."""
    job = Job(
        program,
        machine.load("ksr1"),
        RunPoint(processors=processors),
        limits=Limits(time_s=120),
        collect=(SAMPLES,) if sample else (SAMPLES_WHEN_LONG,) if after else (),
        sample_after=after,
    )
    record = Simulated().run(job)
    assert record.status == "ok", record.message
    return record


def _adds_up(record: RunRecord) -> bool:
    sums = [sum(column) for column in zip(*record.processor_categories.values(), strict=True)]
    return set(sums) == {record.time_cycles}


def _covers(estimate: RunRecord, whole: RunRecord) -> None:
    """Check that time, misses and large categories of *whole* lie in the intervals of *estimate*."""
    assert estimate.sampled is not None
    assert estimate.time_cycles
    assert whole.time_cycles
    large = {name: cycles for name, cycles in whole.categories.items() if cycles > 0.01 * whole.processor_cycles}
    found = {"time_cycles": estimate.time_cycles, "misses": estimate.misses, **estimate.categories}
    for name, truth in {"time_cycles": whole.time_cycles, "misses": whole.misses, **large}.items():
        once = 0.002 * truth  # phases visited once, between skipped ones
        assert abs(found[name] - truth) <= estimate.sampled.intervals.get(name, 0) + once, name


@pytest.mark.parametrize("processors", [1, 8])
def test_repeated_phases_are_estimated(tmp_path: Path, processors: int) -> None:
    program = _build(REPEATED, tmp_path)
    whole, estimate = (_run(program, processors, sample=sample) for sample in (False, True))
    assert estimate.sampled is not None
    assert estimate.time_cycles
    assert whole.time_cycles
    assert estimate.sampled.skipped > 0.8 * estimate.sampled.visits
    assert estimate.stdout == whole.stdout
    assert whole.sampled is None
    assert not whole.estimated
    assert _adds_up(estimate)
    width = estimate.sampled.intervals["time_cycles"]
    # Besides the interval, this allows for what samples do not see: caches and network as sampled visits left them.
    assert abs(estimate.time_cycles - whole.time_cycles) <= width + 0.01 * whole.time_cycles
    for name, count in whole.counters.items():
        assert abs(estimate.counters[name] - count) <= estimate.sampled.intervals.get(name, 0) + 0.02 * count + 64
    assert any(text.startswith("sampled: ") for text in estimate.warnings)
    assert sum(region.counters.get("misses", 0) for region in estimate.regions) == estimate.misses
    assert sum(part.get("misses", 0) for part in estimate.causes.values()) == estimate.misses
    assert sum(variable.misses for variable in estimate.variables) == estimate.misses


def test_it_is_the_same_each_time(tmp_path: Path) -> None:
    program = _build(REPEATED, tmp_path)
    runs = [_run(program, 4, sample=True).model_copy(update={"host_s": 0, "host_cpu_s": 0}) for _ in range(2)]
    assert runs[0] == runs[1]


def test_work_that_shrinks_is_followed(tmp_path: Path) -> None:
    program = _build(SHRINKING, tmp_path)
    whole, estimate = (_run(program, 8, sample=sample) for sample in (False, True))
    assert estimate.sampled is not None
    assert estimate.time_cycles
    assert whole.time_cycles
    assert estimate.sampled.skipped > 100
    assert estimate.stdout == whole.stdout
    assert _adds_up(estimate)
    width = estimate.sampled.intervals["time_cycles"]
    assert 0 < width < whole.time_cycles
    assert abs(estimate.time_cycles - whole.time_cycles) <= width
    assert whole.work_ops
    assert estimate.work_ops
    assert abs(estimate.work_ops - whole.work_ops) <= max(0.05 * whole.work_ops, estimate.sampled.intervals["ops"])


def test_visits_that_become_cheaper_one_by_one_are_simulated_for_longer(tmp_path: Path) -> None:
    program = _build(PILING, tmp_path)
    whole, estimate = (_run(program, 16, sample=sample) for sample in (False, True))
    assert estimate.sampled is not None
    assert estimate.time_cycles
    assert whole.time_cycles
    measured = max(phase.measured for phase in estimate.sampled.phases)
    assert measured > 12
    _covers(estimate, whole)


def test_threads_that_wait_in_loops_of_their_own_go_on(tmp_path: Path) -> None:
    program = _build(SPINNING, tmp_path)
    whole, estimate = (_run(program, 4, sample=sample) for sample in (False, True))
    assert estimate.estimated
    assert estimate.stdout == whole.stdout
    assert _adds_up(estimate)


def test_without_repetition_the_run_is_whole_and_says_so(tmp_path: Path) -> None:
    program = _build(ONCE, tmp_path)
    whole, other = (_run(program, 8, sample=sample) for sample in (False, True))
    assert other.sampled is not None
    assert not other.estimated
    assert other.sampled.why.startswith("no phase is repeated often enough")
    assert "program.c:7" in other.sampled.why
    same = {"host_s": 0, "host_cpu_s": 0, "sampled": None, "collected": (), "warnings": ()}
    assert whole.model_copy(update=same) == other.model_copy(update=same)


def test_visits_that_differ_are_not_skipped(tmp_path: Path) -> None:
    program = _build("#define STEPS 60\n" + UNEQUAL, tmp_path)
    whole, other = (_run(program, 4, sample=sample) for sample in (False, True))
    assert other.sampled is not None
    assert not other.estimated
    assert "differ too much" in other.sampled.why
    assert other.time_cycles == whole.time_cycles
    assert other.categories == whole.categories


def test_only_the_phase_whose_visits_differ_is_simulated_each_time(tmp_path: Path) -> None:
    program = _build("#define STEADY\n#define STEPS 200\n" + UNEQUAL, tmp_path)
    whole, estimate = (_run(program, 4, sample=sample) for sample in (False, True))
    assert estimate.sampled is not None
    assert estimate.stdout == whole.stdout
    assert _adds_up(estimate)
    steady = [phase for phase in estimate.sampled.phases if not phase.why]
    refused = [phase for phase in estimate.sampled.phases if "differ too much" in phase.why]
    assert sum(phase.skipped for phase in steady) > 300
    assert max(phase.visits for phase in refused) > 150
    assert all(phase.skipped < 20 for phase in refused)
    _covers(estimate, whole)


def test_a_short_run_is_the_one_without_sampling(tmp_path: Path) -> None:
    program = _build(REPEATED, tmp_path)
    whole, short = (_run(program, 8, after=after) for after in (None, 10**12))
    same = {"host_s": 0, "host_cpu_s": 0}
    assert whole.model_copy(update=same) == short.model_copy(update=same)


def test_sampling_begins_by_itself_once_the_run_is_long(tmp_path: Path) -> None:
    program = _build(REPEATED, tmp_path)
    whole = _run(program, 8)
    runs = [_run(program, 8, after=4_000_000).model_copy(update={"host_s": 0, "host_cpu_s": 0}) for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0].sampled is not None
    assert runs[0].collected == ()
    assert 100 < runs[0].sampled.skipped < 600
    assert any(text.startswith("sampled: ") for text in runs[0].warnings)
    assert _adds_up(runs[0])
    _covers(runs[0], whole)


def test_hooks_that_are_called_cannot_be_skimmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INLINE, "0")
    program = _build(REPEATED, tmp_path)
    whole, other = (_run(program, 4, sample=sample) for sample in (False, True))
    assert other.sampled is not None
    assert not other.estimated
    assert "not in its code" in other.sampled.why
    assert other.time_cycles == whole.time_cycles
    assert other.categories == whole.categories
