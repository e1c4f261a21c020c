"""Sampling programs that are hard to sample: late changes, clocks that the program reads, costs beside the blocks'."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.sampling import SAMPLES_WHEN_LONG
from scalegraph.control import build
from scalegraph.link import Job, Limits, Simulated
from scalegraph.runtime.compiler import find_compiler
from scalegraph.toolchain.inlining import may_inline

pytestmark = [
    pytest.mark.slow,
    pytest.mark.compiler,
    pytest.mark.skipif(not may_inline(find_compiler()), reason="hooks are put in line by gcc for x86-64 only"),
]

# Later visits find their data with other threads; their blocks are executed as often as before.
CHANGED = """
    static double a[8192];
    int main(void)
    {
        for (int s = 0; s < 1200; s++) {
            int shift = s < 700 ? 0 : s % 8 * 1024;
    #pragma omp parallel for schedule(static)
            for (int i = 0; i < 8192; i++)
                a[(i + shift) % 8192] += i;
        }
        return 0;
    }"""
# Each thread waits in a loop of its own for the one before it, row by row, as in the sweeps of NPB LU.
PIPELINE = """
    #include <omp.h>
    static double a[64][1024], b[16384];
    static int ready[65];
    int main(void)
    {
    #pragma omp parallel
        for (int s = 0; s < 150; s++) {
            int me = omp_get_thread_num(), last = omp_get_num_threads() - 1;
            for (int row = 0; row < 8; row++) {
                while (me > 0 && ready[me - 1] == 0) {
    #pragma omp flush
                }
                while (me < last && ready[me] == 1) {
    #pragma omp flush
                }
                for (int i = 0; i < 1024; i++)
                    a[me][i] = a[me][i] * 0.5 + row;
                if (me < last)
                    ready[me] = 1;
                if (me > 0)
                    ready[me - 1] = 0;
    #pragma omp flush
            }
    #pragma omp barrier
    #pragma omp for schedule(static)
            for (int i = 0; i < 16384; i++)
                b[i] = b[i] * 0.5 + s;
        }
        return 0;
    }"""
# The program's own times, of all steps and of the loops in them.
CLOCKS = """
    #include <omp.h>
    #include <stdio.h>
    static double a[4096];
    int main(void)
    {
        double begin = omp_get_wtime(), loops = 0;
        for (int s = 0; s < 500; s++) {
            double before = omp_get_wtime();
    #pragma omp parallel for schedule(static)
            for (int i = 0; i < 4096; i++)
                a[i] = a[i] * 0.5 + i;
            loops += omp_get_wtime() - before;
        }
        printf("%.9f %.9f\\n", omp_get_wtime() - begin, loops);
        return 0;
    }"""
# Short visits of a loop: the processor's blocks overlap, so that they cost less than one by one.
SHORT = """
    #include <stdio.h>
    static double a[4096], b[4096];
    int main(void)
    {
        double all = 0;
        for (int s = 0; s < 600; s++) {
            double sum = 0;
    #pragma omp parallel for schedule(static) reduction(+ : sum)
            for (int i = 0; i < 4096; i++)
                sum += a[i] * b[i] + 1;
            all += sum;
        }
        printf("%g\\n", all);
        return 0;
    }"""

# Between the regions there is hardly any work, but a long sum after the last one, with RARELY also in every 50th step.
TAIL = """
    #include <stdio.h>
    static double a[20000];
    int main(void)
    {
        double sum = 0;
        for (int s = 0; s < 400; s++) {
    #pragma omp parallel for schedule(static)
            for (int i = 0; i < 20000; i++)
                a[i] = a[i] * 0.5 + i;
            for (int i = 0; RARELY && s % 50 == 49 && i < 20000; i++)
                sum += a[i];
        }
        for (int i = 0; i < 20000; i++)
            sum += a[i];
        printf("%.12g\\n", sum);
        return 0;
    }"""


def _pair(text: str, place: Path, target: str, processors: int, after: int) -> tuple[RunRecord, RunRecord]:
    """Return a full run and one that is sampled *after* so much work."""
    source = place / "program.c"
    source.write_text(text)
    program = build([source])
    whole, estimate = (
        Simulated().run(
            Job(
                program,
                machine.load(target),
                RunPoint(processors=processors),
                limits=Limits(time_s=120),
                collect=collect,
                sample_after=after if collect else None,
            )
        )
        for collect in ((), (SAMPLES_WHEN_LONG,))
    )
    assert whole.status == estimate.status == "ok"
    assert estimate.estimated
    return whole, estimate


def _holds(whole: RunRecord, estimate: RunRecord) -> None:
    """Check that time, misses and large categories of *whole* lie in the intervals of *estimate*."""
    assert estimate.sampled is not None
    large = {name: cycles for name, cycles in whole.categories.items() if cycles > 0.01 * whole.processor_cycles}
    found = {"time_cycles": estimate.time_cycles, "misses": estimate.misses, **estimate.categories}
    for name, truth in {"time_cycles": whole.time_cycles, "misses": whole.misses, **large}.items():
        assert abs((found[name] or 0) - (truth or 0)) <= estimate.sampled.intervals.get(name, 0), name


def test_a_change_late_in_the_run_is_seen(tmp_path: Path) -> None:
    whole, estimate = _pair(CHANGED, tmp_path, "ksr1", 8, 40_000_000)
    _holds(whole, estimate)
    assert estimate.time_cycles == pytest.approx(whole.time_cycles, rel=0.1)


def test_clocks_that_the_program_reads_include_skipped_visits(tmp_path: Path) -> None:
    whole, estimate = _pair(CLOCKS, tmp_path, "ksr1", 8, 20_000_000)
    expected, found = ([float(text) for text in run.stdout.split()] for run in (whole, estimate))
    assert found[0] == pytest.approx(expected[0], rel=0.01)
    assert found[1] == pytest.approx(expected[1], rel=0.05)


def test_work_is_measured_alike_in_simulated_and_skipped_visits(tmp_path: Path) -> None:
    whole, estimate = _pair(SHORT, tmp_path, "server-2x32", 8, 10_000_000)
    assert estimate.time_cycles == pytest.approx(whole.time_cycles, rel=0.002)
    assert estimate.work_ops == pytest.approx(whole.work_ops, rel=0.002)


@pytest.mark.parametrize("target", ["ksr1", "server-2x32"])
@pytest.mark.parametrize("rarely", [0, 1])
def test_a_visit_with_much_more_work_than_all_samples_is_simulated(tmp_path: Path, rarely: int, target: str) -> None:
    whole, estimate = _pair(f"#define RARELY {rarely}\n{TAIL}", tmp_path, target, 8, 40_000_000)
    _holds(whole, estimate)
    assert estimate.time_cycles == pytest.approx(whole.time_cycles, rel=0.02)
    assert estimate.sampled is not None
    assert estimate.sampled.skipped > 0.5 * estimate.sampled.visits
    assert estimate.sampled.intervals["time_cycles"] < 0.05 * (whole.time_cycles or 0)
    assert max(whole.categories, key=whole.categories.__getitem__) == max(
        estimate.categories, key=estimate.categories.__getitem__
    )


def test_threads_that_wait_in_loops_of_their_own_are_estimated(tmp_path: Path) -> None:
    whole, estimate = _pair(PIPELINE, tmp_path, "server-2x32", 32, 40_000_000)
    _holds(whole, estimate)
    assert estimate.time_cycles == pytest.approx(whole.time_cycles, rel=0.02)
    assert estimate.sampled is not None
    assert estimate.sampled.skipped > 0.5 * estimate.sampled.visits
    assert estimate.sampled.intervals["time_cycles"] < 0.05 * (whole.time_cycles or 0)


def test_loops_that_wait_without_a_fence_are_not_misjudged(tmp_path: Path) -> None:
    text = PIPELINE.replace("static int", "static volatile int").replace("    #pragma omp flush\n", "")
    whole, estimate = _pair(text, tmp_path, "server-2x32", 32, 40_000_000)
    _holds(whole, estimate)
    assert estimate.time_cycles == pytest.approx(whole.time_cycles, rel=0.02)
