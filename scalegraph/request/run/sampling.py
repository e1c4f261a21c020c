"""The sample runs of a prediction: the requested sizes, and smaller ones for exact counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from scalegraph import machine as machines
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError, RunError
from scalegraph.base.events import EventSink
from scalegraph.base.run import Region, RunPoint, RunRecord, Value, Variant
from scalegraph.machine import Machine
from scalegraph.predict.levels import (
    LEAST_GROWTH,
    Levels,
    Memory,
    Place,
    base,
    data_bytes,
    place_of,
    smaller_caches,
    stall_error,
    touched,
)
from scalegraph.predict.regions import Values, projected, values_of
from scalegraph.predict.small_sizes import counting_sizes
from scalegraph.predict.traced.operations import Read, read_operations
from scalegraph.request.model import tracing
from scalegraph.request.model.extras import TraceChoice, TraceKind, WhatIf
from scalegraph.request.model.memory import memory_bytes
from scalegraph.request.model.request import MachineChoice, Request
from scalegraph.store import Study
from scalegraph.traces.reading import read

TRACED: tuple[TraceKind, ...] = ("shares", "messages")  # trace content that a prediction needs
_LONGER = 10  # a smaller run is given up if it takes this many times as long here as the longest sample
_LEAST_S = 10.0
_TESTED = 2  # samples that can predict another


class Submits(Protocol):
    """Something that carries out requests: a session, or the combination of several requests."""

    def submit(
        self,
        request: Request,
        study_path: Path | str | None,
        emit: EventSink = ...,
        cancel: CancelToken | None = ...,
        *,
        traces: Path | str | None = ...,
    ) -> Study:
        """Carry *request* out: see `Session.submit`."""


@dataclass
class Runner:
    """Runs the program of *request* at parameters *names*, into *study* if given; raises as `Session.submit`."""

    session: Submits
    request: Request
    names: Sequence[str]
    study: Path | None
    emit: EventSink
    cancel: CancelToken | None
    program: str = ""
    machine: str = ""
    regions: tuple[Region, ...] = ()
    memory: str = ""  # formula of the bytes of its data
    others: dict[str, Value] = field(default_factory=dict)  # parameters with the same value in all runs
    traces: dict[str, Read] = field(default_factory=dict)  # by key of the run's point

    def run(
        self, sizes: Sequence[Values], processors: Sequence[int], *, traced: bool = False, whole: bool = False
    ) -> list[RunRecord]:
        """Return the runs of *sizes* on each N of *processors*; on N > 1 *traced*, if requested.

        *whole*: no estimates, even if the request samples repeated phases.
        """
        found = []
        own = {point_key(values, n) for values in sizes for n in processors}
        several = tuple(n for n in processors if n > 1 and traced)
        trace = TraceChoice(what=TRACED, processors=several) if several else None
        for parameters in _sweeps(sizes):
            known = {**self.request.parameters, **parameters}
            update = {"parameters": known, "processors": tuple(processors), "reference": False, "trace": trace}
            if whole:
                update["collect"] = self.request.collect.model_copy(update={"sample": "never"})
            asked = self.request.model_copy(update=update)
            with self.session.submit(asked, self.study, self.emit, self.cancel) as done:
                if several:
                    read_traces(done, self.names, self.traces)
                self.program, self.machine = done.manifest.program, done.manifest.machine
                self.regions = self.regions or done.manifest.regions
                self.memory = done.manifest.memory
                every = [run for run in done.runs() if run.source != "predicted"]
                self.others |= others_of(every, self.names)
                own_runs = [projected(run, self.names) for run in every]
                found += [run for run in own_runs if point_key(values_of(run), run.point.processors) in own]
        return list({run.point.key: run for run in found}.values())

    def counting(
        self, samples: Sequence[RunRecord], targets: Sequence[Values], counts: Sequence[int], *, traced: bool
    ) -> tuple[list[RunRecord], list[str]]:
        """Return small runs that determine counts, and a sentence on each failed one, which is left out.

        Counts must be exact, so none of these runs is an estimate.
        """
        sizes = list({point_key(values_of(run), 1): values_of(run) for run in samples}.values())
        most = max(_LEAST_S, _LONGER * max((run.host_s or 0.0 for run in samples), default=0.0))
        limits = self.request.limits
        limited = limits.model_copy(update={"time_s": min(limits.time_s, most)})
        smaller = replace(self, request=self.request.model_copy(update={"limits": limited}))
        found, left_out = [], []
        for n in counts:
            for values in counting_sizes(sizes, targets, n):
                said = f"the small run on {RunPoint(processors=n, parameters=dict(values)).label()} is left out"
                try:
                    runs = smaller.run([values], [n], traced=traced, whole=True)
                except (InputError, RunError) as error:  # smaller than the program allows
                    left_out.append(f"{said}: {error}")
                    continue
                found += [run for run in runs if run.ok]
                left_out += [f"{said}: {run.message or run.status}" for run in runs if not run.ok]
        return found, left_out

    def on_smaller_caches(self, sample: RunRecord, smaller: Mapping[str, str]) -> RunRecord:
        """Return the run of *sample* on the machine with values *smaller*, a what-if run of the study.

        Raises `RunError` if it fails.
        """
        n, values = sample.point.processors, values_of(sample)
        variant = WhatIf(machine=dict(smaller), processors=(n,))
        known = {**self.request.parameters, **values}
        update = {"parameters": known, "processors": (n,), "reference": False, "what_if": (variant,)}
        asked = self.request.model_copy(update=update)
        with self.session.submit(asked, self.study, self.emit, self.cancel) as done:
            return _shrunk(done, self.names, sample, variant.variant)


def declared(formula: str, others: Mapping[str, Value]) -> Memory | None:
    """Return the bytes of data by the *formula* of a program, None without one; *others*: its other parameters."""
    return (lambda values: memory_bytes(formula, {**others, **values})) if formula else None


def levels_of(machine: MachineChoice, memory: Memory | None) -> Levels:
    """Return the caches of *machine*, without samples on smaller ones; *memory*: as in `Levels`."""
    return Levels(machines.load(machine.path or machine.name, machine.overrides), memory=memory)


class Shrinks(Protocol):
    """Something that has runs on smaller caches."""

    def on_smaller_caches(self, sample: RunRecord, smaller: Mapping[str, str]) -> RunRecord:
        """Return the run of *sample* on the machine with values *smaller*; raise `RunError` if there is none."""


@dataclass
class KeptRuns:
    """The what-if runs of *study*, whose parameters *names* differ."""

    study: Study
    names: Sequence[str]

    def on_smaller_caches(self, sample: RunRecord, smaller: Mapping[str, str]) -> RunRecord:
        """Return the run of *sample* on the machine with values *smaller*; raise `RunError` if there is none."""
        variant = WhatIf(machine=dict(smaller), processors=(sample.point.processors,)).variant
        return _shrunk(self.study, self.names, sample, variant)


def _shrunk(study: Study, names: Sequence[str], sample: RunRecord, variant: Variant) -> RunRecord:
    """Return the run of *sample* as *variant* from a study; raise `RunError` if no such run succeeded."""
    place = point_key(values_of(sample), sample.point.processors)
    for run in study.variants():
        own = projected(run, names)
        same = point_key(values_of(own), own.point.processors) == place
        if same and own.point.variant == variant and own.ok:
            return own.model_copy(update={"point": own.point.actual()})
    raise RunError(f"the run on smaller caches, {sample.point.label()}, did not end well")


def sampled_levels(
    runner: Shrinks, runs: Sequence[RunRecord], targets: Sequence[Values], counts: Sequence[int], levels: Levels
) -> tuple[Levels, list[str]]:
    """Return the results of samples on smaller caches for *targets* on each N of *counts*, and sentences on failures.

    For each target, and for the largest sample as a leave-one-out test, the largest of the other *runs* is repeated on
    caches smaller by the growth of the data: on all caches, or on those that hold half of the data, whichever
    reproduces the stalls of the largest samples better.
    """
    if levels.machine is None:
        return levels, []
    making = _Shrinking(runner, levels.machine, levels.memory)
    own = {n: sorted((run for run in runs if run.point.processors == n), key=touched) for n in counts}
    tested = [some for some in own.values() if len(some) > _TESTED]
    tests: dict[bool, dict[Place, RunRecord]] = {}
    off = {}
    for every in (False, True):
        tests[every] = {}
        wrong = []
        for *rest, largest in tested:
            values, n = values_of(largest), largest.point.processors
            if (run := making.run(rest, values, n, every=every)) is not None:
                tests[every][place_of(values, n)] = run
                wrong.append(stall_error(run, largest))
        off[every] = sum(wrong) if len(wrong) == len(tests[False]) else math.inf
    chosen = off[True] < off[False]
    shrunk = dict(tests[chosen])
    for n in counts:
        for target in targets:
            if (run := making.run(own[n], target, n, every=chosen)) is not None:
                shrunk[place_of(target, n)] = run
    return replace(levels, shrunk=shrunk, others=tuple(tests[not chosen].values())), making.failed


@dataclass
class _Shrinking:
    """Samples on smaller caches of *machine*; *memory*: as in `Levels`; *failed*: sentences."""

    runner: Shrinks
    machine: Machine
    memory: Memory | None = None
    failed: list[str] = field(default_factory=list)

    def run(self, runs: Sequence[RunRecord], values: Values, processors: int, *, every: bool) -> RunRecord | None:
        """Return the largest of *runs* on caches smaller by the growth of the data to *values*, None if not needed.

        *every*: all caches, otherwise those that hold half of the data.
        """
        found = base(runs, values, processors, self.memory)
        if found is None or found[1] < LEAST_GROWTH:
            return None
        sample, factor = found
        data = 0 if every else data_bytes(sample, self.machine, self.memory)
        smaller = smaller_caches(self.machine, factor, data, processors)
        try:
            return self.runner.on_smaller_caches(sample, smaller) if smaller else sample
        except (InputError, RunError) as error:
            self.failed.append(str(error))
        return None


def others_of(runs: Sequence[RunRecord], names: Sequence[str]) -> dict[str, Value]:
    """Return the parameters of *runs* that are not in *names*: they are the same in all."""
    return {name: value for run in runs for name, value in run.point.parameters.items() if name not in names}


def read_traces(study: Study, names: Sequence[str], into: dict[str, Read]) -> None:
    """Read the traces of *study* that are not yet in *into*; keys are those of points with the parameters *names*."""
    for record in study.runs():
        path = tracing.path_of(record, study.path)
        key = projected(record, names).point.key
        if path is not None and path.exists() and key not in into:
            with read(path) as trace:
                into[key] = read_operations(trace)


def point_key(values: Values, processors: int) -> tuple[tuple[tuple[str, int], ...], int]:
    """Return the identity of a point: its parameters and N."""
    return tuple(sorted(values.items())), processors


def _sweeps(sizes: Sequence[Values]) -> list[dict[str, int | tuple[int, ...]]]:
    """Return the parameters of requests for *sizes*: one sweep if one parameter differs, otherwise one each."""
    if not sizes:
        return []
    varied = [name for name in sizes[0] if len({values[name] for values in sizes}) > 1]
    if len(varied) != 1:
        return [dict(values) for values in sizes]
    name = varied[0]
    return [{**sizes[0], name: tuple(sorted({values[name] for values in sizes}))}]
