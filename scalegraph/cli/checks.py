"""The checks of ``scalegraph doctor``: one function each, with its finding and remedy."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from scalegraph import machine as machines
from scalegraph.base.errors import BuildError, MissingTool, ScaleGraphError
from scalegraph.base.host import INSTALL_QT
from scalegraph.base.run import RunPoint
from scalegraph.base.units import si, thousands
from scalegraph.control import build
from scalegraph.control.execute import default_workers
from scalegraph.link import Job, Simulated
from scalegraph.link.emulator import emulator
from scalegraph.link.targets import targets
from scalegraph.link.targets._counters import hardware_counters
from scalegraph.runtime.cache import cache_root
from scalegraph.runtime.compiler import INSTALL, KINDS, Compiler, find_compiler
from scalegraph.runtime.languages import Language
from scalegraph.runtime.library import Library, library
from scalegraph.toolchain import mpi

State = Literal["ok", "missing", "remark"]
_HWCAP2 = 26
_HWCAP2_FSGSBASE = 2
_ADDR_NO_RANDOMIZE = 0x0040000

_OPENMP = """
#include <omp.h>
#include <stdio.h>
int main(void) {
    int sum = 0;
    #pragma omp parallel num_threads(2) reduction(+:sum)
    sum += omp_get_thread_num() + 1;
    printf("%d\\n", sum);
    return sum != 3;
}
"""
_PROBE = """
#include <omp.h>
#include <stdio.h>
int main(void) {
    long sum = 0;
    #pragma omp parallel for reduction(+:sum)
    for (int i = 0; i < 1000; i++)
        sum += i;
    printf("%ld on %d\\n", sum, omp_get_max_threads());
    return 0;
}
"""
_MESSAGE = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size, value = 42;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d of %d\\n", value, size);
    }
    return MPI_Finalize();
}
"""


@dataclass(frozen=True)
class Check:
    """One line of the report. *needed*: the main task is impossible without it."""

    name: str
    state: State
    found: str
    advice: str = ""
    needed: bool = False


def all_checks() -> Iterator[Check]:
    """Yield every check, cheap ones first; none raises."""
    yield _python()
    yield _system()
    yield _cache()
    yield _machines()
    compiler = None
    try:
        compiler = find_compiler()
        yield Check("C compiler", "ok", f"{' '.join(compiler.command)} {compiler.version}, {compiler.target}")
    except ScaleGraphError as error:
        yield Check("C compiler", "missing", str(error), INSTALL, needed=True)
    if compiler is not None:
        yield from _with_compiler(compiler)
    yield _other_compiler("c++")
    yield _other_compiler("fortran")
    yield _clang()
    if platform.machine() == "x86_64":
        yield _thread_pointer()
    yield _qt()
    yield _display()
    yield _module("pictures (matplotlib)", "matplotlib")
    yield _module("traces in OTF2 (otf2)", "otf2")
    yield Check("host", "ok", f"parallel runs: {default_workers()}, one for each core; {_memory()}")
    if compiler is not None:
        yield _messages()
    for target in targets().values():
        found = target.check()
        yield Check(f"target {target.name}", found.state, found.found, found.advice)
    yield _dask()
    counted, said = hardware_counters()
    yield Check("hardware counters", "ok" if counted else "remark", said, "nothing to install")


def _dask() -> Check:
    name, advice = "clusters (Dask)", "pip install 'scalegraph[cluster]'"
    found = {module: _version(module) for module in ("distributed", "dask_jobqueue")}
    if not found["distributed"]:
        return Check(name, "remark", "not installed; batch jobs and targets on this computer work without it", advice)
    if not found["dask_jobqueue"]:
        said = f"distributed {found['distributed']}; without dask-jobqueue no jobs for Slurm, PBS, LSF or SGE"
        return Check(name, "remark", said, advice)
    return Check(name, "ok", f"distributed {found['distributed']}, dask-jobqueue {found['dask_jobqueue']}")


def _version(module: str) -> str:
    """Return the version of an installed package, empty if missing, without importing it."""
    try:
        return version(module)
    except PackageNotFoundError:
        return ""


def _other_compiler(language: Language) -> Check:
    kind = KINDS[language]
    try:
        found = find_compiler(language)
    except ScaleGraphError as error:
        return Check(kind.words, "remark", f"{str(error).split(';')[0]}; C programs work without it", kind.install)
    return Check(kind.words, "ok", f"{' '.join(found.command)} {found.version}")


def _clang() -> Check:
    found = shutil.which("clang")
    if found is None:
        return Check("clang", "remark", "not found; gcc is enough", "nothing to install")
    return Check("clang", "ok", f"{found}: for programs without OpenMP (SCALEGRAPH_CC=clang)")


def _python() -> Check:
    found = f"{platform.python_version()} at {sys.executable}"
    return Check("Python", "ok", found)


def _system() -> Check:
    found = f"{platform.system()} {platform.release()}, {platform.machine()}"
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"):
        return Check("system", "missing", found, "the simulated target needs Linux on x86-64 or aarch64", needed=True)
    return Check("system", "ok", found)


def _cache() -> Check:
    root = cache_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=root) as probe:
            probe.write(b"x")
            probe.flush()
    except OSError as error:
        advice = "set SCALEGRAPH_CACHE to a directory that can be written"
        return Check("cache directory", "missing", f"{root}: {(error.strerror or '').lower()}", advice, needed=True)
    return Check("cache directory", "ok", str(root))


def _machines() -> Check:
    try:
        names = [summary.name for summary in machines.available()]
        for name in names:
            machines.load(name)
    except (ScaleGraphError, OSError) as error:
        return Check("machine descriptions", "missing", str(error), "install ScaleGraph again", needed=True)
    return Check("machine descriptions", "ok", ", ".join(names))


def _with_compiler(compiler: Compiler) -> Iterator[Check]:
    yield _compile_and_run(compiler)
    yield _hooks(compiler)
    try:
        runtime = library(compiler)
        yield Check("simulator library", "ok", str(runtime.archive))
    except BuildError as error:
        first = next((line for line in error.output.splitlines() if "error" in line), "")
        yield Check("simulator library", "missing", f"{error}: {first}", "please report this", needed=True)
        return
    except ScaleGraphError as error:
        yield Check("simulator library", "missing", str(error), needed=True)
        return
    yield _fixed_addresses(runtime)
    yield _simulation()


def _compile_and_run(compiler: Compiler) -> Check:
    advice = f"{INSTALL} (with libgomp, which comes with gcc)"
    with tempfile.TemporaryDirectory(prefix="scalegraph-") as place:
        program = Path(place) / "probe"
        made = compiler.run(["-fopenmp", "-O1", "-x", "c", "-", "-o", str(program)], stdin=_OPENMP)
        if made.returncode != 0:
            return Check("OpenMP", "missing", _last(made.stderr, "does not compile"), advice, needed=True)
        try:
            ran = _call([*emulator(program), str(program)])
        except MissingTool as error:
            return Check("OpenMP", "missing", str(error), needed=True)
        if ran is None or ran.stdout.strip() != "3":
            return Check("OpenMP", "missing", "a compiled program does not run", advice, needed=True)
    return Check("OpenMP", "ok", "two threads compiled and run")


def _hooks(compiler: Compiler) -> Check:
    with tempfile.TemporaryDirectory(prefix="scalegraph-") as place:
        target = str(Path(place) / "probe.o")
        flags = ["-O2", "-fopenmp", "-fsanitize=thread", "-fsanitize-coverage=trace-pc", "-fno-pie"]
        made = compiler.run([*flags, "-c", "-x", "c", "-", "-o", target], stdin=_OPENMP)
    if made.returncode != 0:
        found = _last(made.stderr, "does not compile")
        return Check(
            "compiler hooks", "missing", found, f"gcc with -fsanitize=thread is needed; {INSTALL}", needed=True
        )
    return Check("compiler hooks", "ok", "memory references and basic blocks are hooked")


def _simulation() -> Check:
    name = "simulation of 2 processors"
    try:
        with tempfile.TemporaryDirectory(prefix="scalegraph-") as place:
            (Path(place) / "probe.c").write_text(_PROBE, encoding="utf-8")
            built = build(["probe.c"], cwd=Path(place))
            record = Simulated().run(Job(built, machines.load("ksr1"), RunPoint(processors=2)))
    except ScaleGraphError as error:
        return Check(name, "missing", str(error), "please report this", needed=True)
    if not record.ok or record.stdout.strip() != "499500 on 2":
        found = record.message or f"printed {record.stdout.strip()!r}, expected '499500 on 2'"
        return Check(name, "missing", found, "please report this", needed=True)
    return Check(name, "ok", f"{record.time_cycles} cycles, {si(record.host_s or 0.0, 's')} here")


def _messages() -> Check:
    """Run two processes that exchange a message."""
    try:
        with tempfile.TemporaryDirectory(prefix="scalegraph-") as place:
            (Path(place) / "probe.c").write_text(_MESSAGE, encoding="utf-8")
            built = build(["probe.c"], cwd=Path(place))
            record = Simulated().run(Job(built, machines.load("ksr1"), RunPoint(processors=2)))
    except ScaleGraphError as error:
        return Check("MPI", "missing", str(error), "please report this")
    if not record.ok or record.stdout != "42 of 2\n":
        found = record.message or f"printed {record.stdout.strip()!r}, expected '42 of 2'"
        return Check("MPI", "missing", found, "please report this")
    return Check("MPI", "ok", f"2 processes exchange a message; compilers: {', '.join(mpi.NAMES.values())}")


def _thread_pointer() -> Check:
    getauxval = ctypes.CDLL(None).getauxval
    getauxval.restype = ctypes.c_ulong
    if getauxval(ctypes.c_ulong(_HWCAP2)) & _HWCAP2_FSGSBASE:
        return Check("fast thread pointer (wrfsbase)", "ok", "allowed")
    return Check("fast thread pointer (wrfsbase)", "remark", "not allowed; simulations are a little slower")


def _fixed_addresses(runtime: Library) -> Check:
    name = "fixed addresses (personality)"
    prefix = emulator(runtime.launcher)  # found; otherwise no compiled program would have run
    ran = _call([*prefix, str(runtime.launcher), str(os.getpid()), "/bin/cat", "cat", "/proc/self/personality"])
    if ran is None or not ran.stdout.strip() or not int(ran.stdout, 16) & _ADDR_NO_RANDOMIZE:
        return Check(name, "remark", "not allowed; addresses vary in libraries, not in the program")
    return Check(name, "ok", "allowed")


def _qt() -> Check:
    name = "window toolkit (Qt)"
    ran = _call(
        [sys.executable, "-c", "import pyqtgraph, PySide6.QtWidgets, PySide6.QtSvg; print(PySide6.__version__)"]
    )
    if ran is None or ran.returncode != 0:
        found = _last(ran.stderr if ran else "", "cannot be imported")
        return Check(name, "remark", f"{found}; the command line works without it", INSTALL_QT)
    return Check(name, "ok", f"PySide6 {ran.stdout.strip()}")


def _display() -> Check:
    given = [f"{name}={os.environ[name]}" for name in ("WAYLAND_DISPLAY", "DISPLAY") if os.environ.get(name)]
    if not given and not os.environ.get("QT_QPA_PLATFORM"):
        advice = "use the command line, for example: scalegraph demo --headless -o DIR"
        return Check("display", "remark", "none (neither DISPLAY nor WAYLAND_DISPLAY is set); no window opens", advice)
    script = "from PySide6.QtGui import QGuiApplication as A; a = A([]); print(a.platformName())"
    ran = _call([sys.executable, "-c", script])
    if ran is None or ran.returncode != 0:
        found = _last(ran.stderr if ran else "", "does not answer")
        return Check("display", "remark", f"{found}; no window opens", INSTALL_QT)
    return Check("display", "ok", " ".join([*given, ran.stdout.strip()]))


def _module(name: str, module: str) -> Check:
    ran = _call([sys.executable, "-c", f"import {module}; print({module}.__version__)"])
    if ran is None or ran.returncode != 0:
        found = _last(ran.stderr if ran else "", "cannot be imported")
        return Check(name, "remark", found, f"pip install {module}")
    return Check(name, "ok", f"{module} {ran.stdout.strip()}")


def _call(command: list[str]) -> subprocess.CompletedProcess[str] | None:
    """Run *command*; ``None`` if it cannot be started or does not end."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=30, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def _last(text: str, otherwise: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else otherwise


def _memory() -> str:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{thousands(total / 2**30)} GiB of memory"
