"""Programs for aarch64, cross-compiled and run under emulation; which programs need an emulator."""

import platform
import shutil
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import MissingTool
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build
from scalegraph.link import Build, Job, Limits, Simulated
from scalegraph.link.emulator import VARIABLE, emulator

CROSS = "aarch64-linux-gnu-gcc"
_FOREIGN = {"x86_64": 183, "aarch64": 62}  # e_machine of the other architecture

OPENMP = """
#include <math.h>
#include <omp.h>
#include <stdio.h>
static double a[3000], b[3000];
int main(int count, char **argument)
{
    double sum = 0;
    #pragma omp parallel for
    for (int i = 0; i < 3000; i++) {
        a[i] = i * 0.5;
        b[i] = 1.0 / (i + 1);
    }
    #pragma omp parallel for reduction(+ : sum) schedule(dynamic, 100)
    for (int i = 0; i < 3000; i++)
        sum += a[i] * b[i] + sqrt(a[i]);
    printf("%s %s %.6f\\n", argument[0], argument[count - 1], sum);
    return 0;
}
"""
PTHREADS = """
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static long total, here;
static __thread long mine;
static void *work(void *argument)
{
    for (long i = 0; i < 500; i++)
        mine += i % ((long)argument + 1);
    pthread_mutex_lock(&lock);
    total += mine;
    if (++here == 4)
        pthread_cond_broadcast(&arrived);
    while (here < 4)
        pthread_cond_wait(&arrived, &lock);
    pthread_mutex_unlock(&lock);
    return (void *)mine;
}
int main(void)
{
    pthread_t thread[4];
    long sum = 0;
    for (long i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(thread[i], &result);
        sum += (long)result;
    }
    printf("%ld %ld %ld\\n", total, sum, mine);
    return 0;
}
"""


def elf(path: Path, machine: int) -> Path:
    path.write_bytes(b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little"))
    return path


def foreign(path: Path) -> Path:
    return elf(path, _FOREIGN[platform.machine()])


def test_program_of_this_machine_needs_no_emulator(tmp_path: Path) -> None:
    assert emulator(Path(shutil.which("sh") or "/bin/sh")) == ()
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    assert emulator(script) == ()


def test_emulator_is_the_one_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "sh -L '/a place'")
    assert emulator(foreign(tmp_path / "program")) == (shutil.which("sh"), "-L", "/a place")


def test_missing_emulator_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "no-such-emulator")
    with pytest.raises(MissingTool, match=r"program is for .*'no-such-emulator' .* was not found; install it with"):
        emulator(foreign(tmp_path / "program"))


def _run(built: Build, processors: int) -> RunRecord:
    return Simulated().run(
        Job(built, machines.load("ksr1"), RunPoint(processors=processors), ("last",), limits=Limits(time_s=100.0))
    )


@pytest.mark.compiler
@pytest.mark.skipif(
    shutil.which(CROSS) is None or shutil.which("qemu-aarch64") is None or platform.machine() == "aarch64",
    reason="needs gcc-aarch64-linux-gnu and qemu-user",
)
@pytest.mark.parametrize(("name", "text"), [("loops", OPENMP), ("threads", PTHREADS)])
def test_emulated_program_prints_what_the_native_one_prints(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{name}.c").write_text(text)
    native = build([f"{name}.c"], cwd=tmp_path)
    monkeypatch.setenv("SCALEGRAPH_CC", CROSS)
    emulated = build([f"{name}.c"], cwd=tmp_path)
    assert native.executable != emulated.executable
    for processors in (1, 4, 16):
        expected, record = _run(native, processors), _run(emulated, processors)
        assert (record.status, record.stdout) == (expected.status, expected.stdout), record.message
        spent = [sum(cycles) for cycles in zip(*record.processor_categories.values(), strict=True)]
        assert spent == [record.time_cycles] * processors
        assert 0.7 < (record.busy_s or 0) / (expected.busy_s or 1) < 1.4
        assert {line.file for line in record.lines} == {f"{name}.c"}
    assert emulator(emulated.executable)
