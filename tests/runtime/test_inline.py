"""Inlined and called hooks: the same run, to the cycle and to the reference."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from scalegraph.instrument.blocks import block_costs, probe_report
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.format import TRACE_RECORD
from scalegraph.toolchain.inlining import INLINE, may_inline
from scalegraph.toolchain.linking import fixed_places
from tests.runtime.conftest import Simulator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.compiler,
    pytest.mark.skipif(not may_inline(find_compiler()), reason="hooks are put in line by gcc for x86-64 only"),
]

PROGRAMS = {
    # Two threads per processor: switches happen in the middle of a code segment.
    "more_threads": """
        #include <omp.h>
        long x[64][8], y[64][8], z;
        int main(void)
        {
        #pragma omp parallel num_threads(9)
            {
                int me = omp_get_thread_num();
                for (int i = 0; i < 4000 + 900 * me; i++) {
                    x[me][0] += y[me][1] + x[(me + 1) % 9][2] + i;
                    y[me][0] = x[me][3] + y[(me + 5) % 9][7];
                    z = y[me][2];
                }
            }
            return 0;
        }""",
    # A jump and an end in the middle of a block.
    "leaves_blocks": """
        #include <setjmp.h>
        #include <stdlib.h>
        jmp_buf place;
        int a[64], b[64];
        __attribute__((noinline)) void deep(int i)
        {
            a[i]++;
            if (i % 3 == 0)
                longjmp(place, i + 1);
            if (i == 31)
                exit(0);
        }
        int main(void)
        {
            for (volatile int i = 0;; i = i + 1) {
                if (setjmp(place) == 0) {
                    a[i] = b[i] + 1;
                    deep(i);
                    b[i] = a[i] + b[63 - i];
                }
                b[i + 1]++;
            }
        }""",
    # Blocks with labels but without a hook, structures, accesses that span lines.
    "kinds": """
        #include <string.h>
        #include <stdio.h>
        struct item { char c; short s; int i; long l; double d; _Complex double z; } __attribute__((packed)) items[50];
        static volatile int sum;
        int main(int argc, char **argv)
        {
            for (int k = 0; k < 200; k++) {
                struct item *it = &items[k * 7 % 50], copy = *it;
                switch (k % 11) {
                case 0: it->c++; break;
                case 1: it->s += k; break;
                case 2: it->i ^= k; break;
                case 3: it->l -= k; break;
                case 4: it->d += k * 0.5; break;
                case 5: it->z += 1.5; break;
                case 6: memcpy(it, &items[(k + 3) % 50], sizeof *it); break;
                case 7: *it = copy; break;
                default: sum += it->i + it->s + (k & 1 ? it->c : it->l);
                }
            }
            printf("%d\\n", sum);
            return 0;
        }""",
}
SETTINGS = {"machine.slice_cycles": "2000"}
CASES = [
    ("more_threads", 4, "ksr1"),
    ("more_threads", 4, "server-2x32-inorder"),
    ("leaves_blocks", 2, "ksr1"),
    ("kinds", 2, "server-2x32-inorder"),
    ("hand_counted", 4, "ksr1"),
    ("crash", 2, "ksr1"),
    ("blame", 4, "ksr1"),
    ("tasks", 4, "server-2x32-inorder"),
    ("threads", 3, "ksr1"),
    ("cpp_threads", 3, "server-2x32-inorder"),
]


@pytest.fixture(scope="module")
def both(simulator: Simulator, tmp_path_factory: pytest.TempPathFactory) -> tuple[Simulator, Simulator]:
    """Return the simulator with inlined hooks, and one that compiles them as calls."""
    pair = tuple(
        Simulator(tmp_path_factory.mktemp(name), simulator.runtime, fixed_places()) for name in ("inline", "called")
    )
    for one in pair:
        for name, text in PROGRAMS.items():
            (one.directory / f"{name}.c").write_text(text)
    return pair[0], pair[1]


def built(pair: tuple[Simulator, Simulator], name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    paths = []
    for one, value in zip(pair, ("1", "0"), strict=True):
        monkeypatch.setenv(INLINE, value)
        paths.append(one.build(name))
    return paths[0], paths[1]


@pytest.mark.few(5)
@pytest.mark.parametrize(("name", "processors", "machine"), CASES)
def test_runs_are_the_same_to_the_cycle_and_the_reference(
    both: tuple[Simulator, Simulator], name: str, processors: int, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inline, called = built(both, name, monkeypatch)
    assert b"scalegraph_slots" in inline.read_bytes()
    assert b"scalegraph_slots" not in called.read_bytes()
    a, b = (one.run(name, processors, on=machine, settings=SETTINGS) for one in both)
    assert a.stdout == b.stdout
    assert (a.status, a.time, a.result.meta["references"]) == (b.status, b.time, b.result.meta["references"])
    np.testing.assert_array_equal(a.result.costs, b.result.costs)
    np.testing.assert_array_equal(a.result.causes, b.result.causes)
    for field in ("executions", "cycles", "misses", "references", "remote", "causes"):
        np.testing.assert_array_equal(a.result.sites[field], b.result.sites[field])


@pytest.mark.parametrize("name", ["more_threads", "leaves_blocks", "kinds", "cpp_threads", "tasks"])
def test_blocks_cost_the_same(both: tuple[Simulator, Simulator], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inline, called = built(both, name, monkeypatch)
    costs = [np.array([found[address] for address in sorted(found)]) for found in map(block_costs, (inline, called))]
    np.testing.assert_array_equal(costs[0], costs[1])
    assert probe_report(inline).complete


@pytest.mark.parametrize("machine", ["ksr1", "server-2x32-inorder"])
def test_traces_are_the_same_to_the_reference(
    both: tuple[Simulator, Simulator], machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(both, "more_threads", monkeypatch)
    told = []
    for number, one in enumerate(both):
        path = one.directory / f"{machine}.events"
        settings = {**SETTINGS, "trace.file": str(path), "trace.interval": "700"}
        outcome = one.run("more_threads", 4, on=machine, settings=settings)
        assert outcome.status == "ok", number
        told.append(path.read_bytes())
    assert len(told[0]) > 100 * TRACE_RECORD.itemsize
    assert told[0] == told[1]


def test_a_program_that_has_lost_its_table_says_how_it_must_be_built(
    simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Simulator(tmp_path, simulator.runtime)
    monkeypatch.setenv(INLINE, "1")
    subprocess.run(["strip", "-g", str(one.build("counts"))], check=True)
    process, _ = one.start("counts", 2)
    said = "the program's table of hooks (section .debug_scalegraph) is missing or compressed: build it without strip"
    assert said in process.communicate(timeout=60)[1]
    assert process.returncode == 99
