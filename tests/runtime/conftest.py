"""Compiles small C programs for the simulated target with gcc alone and runs them, without the build pipeline."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph import machine
from scalegraph.instrument.blocks import block_table
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.format import BLAME_NAMES, CATEGORY_NAMES, COUNTER_NAMES
from scalegraph.runtime.library import Library, library
from scalegraph.runtime.results import Result, read_result, write_config
from scalegraph.toolchain.inlining import in_line
from tests.kept import kept

PROGRAMS = Path(__file__).parent / "programs"
HOOKS = ["-fopenmp", "-fsanitize=thread", "-fsanitize-coverage=trace-pc", "-fno-pie", "-Wno-tsan"]
ON_HOST = "-foffload=disable"  # target regions run on the host


@dataclass(frozen=True)
class Outcome:
    """One simulated run."""

    result: Result
    stdout: str
    stderr: str
    returncode: int
    processors: int

    @property
    def status(self) -> str:
        return self.result.meta["status"]

    @property
    def time(self) -> int:
        return int(self.result.meta["time_cycles"])

    def total(self, name: str) -> int:
        """Return the sum of a leaf or counter over all processors and regions."""
        if name in CATEGORY_NAMES:
            return int(self.result.costs["categories"][:, CATEGORY_NAMES.index(name)].sum())
        return int(self.result.costs["counters"][:, COUNTER_NAMES.index(name)].sum())

    def of_region(self, region: int, name: str) -> int:
        costs = self.result.costs[self.result.costs["region"] == region]
        kind, names = ("categories", CATEGORY_NAMES) if name in CATEGORY_NAMES else ("counters", COUNTER_NAMES)
        return int(costs[kind][:, names.index(name)].sum())

    def caused(self, region: int, cause: str) -> int:
        """Return the cycles that all processors waited because of what happened in *region*."""
        blames = self.result.blames
        mine = blames[(blames["region"] == region) & (blames["cause"] == BLAME_NAMES.index(cause))]
        return int(mine["caused"].sum())

    def waited(self, cause: str, *categories: str) -> int:
        """Return the cycles of these leaves, or of all, that *cause* explains."""
        mine = self.result.blames[self.result.blames["cause"] == BLAME_NAMES.index(cause)]["waited"]
        return int(mine[:, [CATEGORY_NAMES.index(category) for category in categories or CATEGORY_NAMES]].sum())

    def blame_fault(self) -> str:
        """Return what is wrong with the causes of waiting, or nothing."""
        blames, sites = self.result.blames, self.result.blamed_sites
        for index, name in enumerate(BLAME_NAMES):
            mine = blames[blames["cause"] == index]
            sums = [int(mine["waited"].sum()), int(mine["caused"].sum()), int(sites["caused"][:, index].sum())]
            if len(set(sums)) != 1:
                return f"{name}: {sums} cycles waited, caused by regions, caused by sites"
        for region in {int(region) for region in blames["region"]}:
            waited = blames[blames["region"] == region]["waited"].sum(axis=0)
            costs = self.result.costs[self.result.costs["region"] == region]["categories"].sum(axis=0)
            if np.any(waited > costs) or any(
                waited[i] for i, n in enumerate(CATEGORY_NAMES) if not n.startswith("idle")
            ):
                return f"region {region}: {waited} cycles are explained of {costs}"
        idle = {int(site["address"]): int(site["cycles"][2]) for site in self.result.sites}
        wrong = [s for s in sites if s["address"] and int(s["waited"]) > idle.get(int(s["address"]), 0)]
        return f"more waiting is explained at {wrong[0]} than there is" if wrong else ""

    def processor_sums(self) -> list[int]:
        """Return the sum of all leaves of each processor, which must equal the time of the run."""
        costs = self.result.costs
        return [int(costs["categories"][costs["processor"] == p].sum()) for p in range(self.processors)]


class Simulator:
    """Builds programs once and runs them on simulated machines."""

    def __init__(self, directory: Path, runtime: Library, places: Sequence[str] = ()) -> None:
        self.directory = directory
        self.runtime = runtime
        self.places = places  # options that place static data
        self._runs = 0

    def source(self, name: str) -> tuple[tuple[str, ...], Path]:
        """Return the compiler and the source of a program: a test's own in its directory, otherwise from programs/."""
        written = self.directory / f"{name}.c"
        if written.exists():
            return find_compiler().command, written
        (path,) = PROGRAMS.rglob(f"{name}.c*")
        if path.suffix == ".cpp":
            compiler = find_compiler("c++")
            if int(compiler.version.partition(".")[0]) < 11:
                pytest.skip("needs the C++20 library of gcc 11")
            return (*compiler.command, "-std=c++20"), path
        return find_compiler().command, path

    def build(self, name: str) -> Path:
        """Return the simulated executable of NAME.c or NAME.cpp."""
        program = self.directory / name
        if not program.exists():
            compiler, source = self.source(name)
            hooks = [*HOOKS, *in_line(find_compiler()), ON_HOST]
            options = ["-O2", "-g", *hooks, "-include", str(self.runtime.include / "sg_probe.h")]
            libraries = [str(self.runtime.archive), *self.runtime.link_flags, *self.places]

            def link(target: Path) -> None:
                self._run(*compiler, ON_HOST, str(item), *libraries, "-o", str(target))
                target.with_suffix(".blocks").write_bytes(block_table(target).content)

            # libraries and places that differ share the object
            item = kept(
                self.directory / f"{name}.o",
                self._inputs(source, *compiler, *options),
                lambda target: self._run(*compiler, *options, "-c", str(source), "-o", str(target)),
            )
            kept(program, self._inputs(item, *compiler, *libraries), link)
        return program

    def _inputs(self, source: Path, *words: str) -> list[str | Path]:
        """Return what an executable depends on: sources, and *words* without the directories of this session."""
        ours = [Path(word) for word in words if word.startswith(str(self.directory))]
        usual = [word.replace(str(self.runtime.archive.parents[2]), "") for word in words if Path(word) not in ours]
        return [source, *sorted(PROGRAMS.rglob("*.h")), *ours, *usual]

    def native(
        self, name: str, processors: int, *, args: Sequence[str] = (), env: Mapping[str, str] | None = None
    ) -> str:
        """Return the output of NAME.c or NAME.cpp when it runs natively."""
        program = self.directory / f"{name}.native"
        if not program.exists():
            probe = self.directory / "no_probe.h"
            probe.write_text("#define SCALEGRAPH_SCOPE(id) (void)0\n")
            compiler, source = self.source(name)
            first, last = ["-O2", "-fopenmp", ON_HOST, "-include", str(probe)], ["-lm", "-lpthread"]
            last += ["-latomic"] if source.suffix == ".cpp" else []
            inputs = self._inputs(source, *compiler, *first, *last)
            kept(program, inputs, lambda target: self._run(*compiler, *first, str(source), "-o", str(target), *last))
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(processors),
            "OMP_SCHEDULE": "dynamic,3",
            "OMP_WAIT_POLICY": "passive",
            **(env or {}),
        }
        command = [str(program), *args]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
        return done.stdout

    def start(
        self,
        name: str,
        processors: int,
        *,
        on: str = "ksr1",
        settings: Mapping[str, str] | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> tuple[subprocess.Popen[str], Path]:
        """Start a run; return its process and the path of its result."""
        program = self.build(name)
        self._runs += 1
        config, target = self.directory / f"{self._runs}.config", self.directory / f"{self._runs}.result"
        values = {
            **machine.load(on).runtime_config(),
            "machine.create_cycles": "0",  # threads exist already; otherwise see test_thread_creation
            "run.processors": str(processors),
            "run.arena_bytes": str(2**28),
            "run.stack_bytes": str(2**18),
            "run.quantum_cycles": "1000",
            "run.schedule": "dynamic,3",
            "run.result_path": str(target),
            "run.blocks_path": str(program.with_suffix(".blocks")),
            **(settings or {}),
        }
        write_config(config, values)
        environment = {**os.environ, "SCALEGRAPH_CONFIG": str(config), "SG_CHECK": "1", **(env or {})}
        pipe = subprocess.PIPE
        process = subprocess.Popen([str(program), *args], stdout=pipe, stderr=pipe, text=True, env=environment)
        return process, target

    def run(self, name: str, processors: int, **options: Any) -> Outcome:
        """Run NAME.c or NAME.cpp to its end; *options* as for `start`."""
        process, target = self.start(name, processors, **options)
        try:
            stdout, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
        if not target.exists():
            pytest.fail(f"{name} left no result; exit code {process.returncode}\n{stdout}\n{stderr}", pytrace=False)
        return Outcome(read_result(target), stdout, stderr, process.returncode, processors)

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True)


@pytest.fixture(scope="session")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    """Compiler, runtime and machines."""
    return Simulator(tmp_path_factory.mktemp("simulated"), library(find_compiler()))


Runner = Callable[..., Outcome]


@pytest.fixture
def run(simulator: Simulator) -> Runner:
    """Run a program; check what must hold for every normal end: accounting identity, no miss without reference."""

    def checked(name: str, processors: int, **options: object) -> Outcome:
        outcome = simulator.run(name, processors, **options)
        if outcome.status == "ok":
            assert outcome.processor_sums() == [outcome.time] * processors
            assert not outcome.blame_fault()
            counters = outcome.result.costs["counters"]
            misses, reads, writes = (counters[:, COUNTER_NAMES.index(name)] for name in ("misses", "reads", "writes"))
            assert np.all(misses <= reads + writes)
            assert np.all(outcome.result.sites["misses"] <= outcome.result.sites["references"])
        return outcome

    return checked
