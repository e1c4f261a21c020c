"""Prediction of data-parallel programs by their parallel blocks: sample runs, costs of operations, predicted points."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

from scalegraph import machine as machines
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.events import EventSink, ignore
from scalegraph.base.files import write_atomic
from scalegraph.base.resources import resource_dir
from scalegraph.machine import Machine
from scalegraph.predict import blocks as files
from scalegraph.predict.blocks import Blocks
from scalegraph.predict.collective_costs import PROGRAM, CollectiveCosts, collective_costs
from scalegraph.predict.data_parallel import Cache, SegmentsPredictor, SizesPredictor, largest_event
from scalegraph.request.model.request import MachineChoice, ProgramChoice, Request
from scalegraph.request.run.keeping import keep
from scalegraph.request.run.predicting import Predictions, Wanted, predicted_points
from scalegraph.request.run.sampling import Runner, Submits
from scalegraph.runtime.cache import cache_root
from scalegraph.runtime.library import sources_digest
from scalegraph.store.manifest import digest


def load_blocks(name: str) -> Blocks:
    """Return the blocks in a file, or of the shipped program *name*; raise `InputError` for a fault in the file."""
    shipped = {path.name.removesuffix(files.SUFFIX): path for path in resource_dir("blocks").glob(f"*{files.SUFFIX}")}
    path = shipped.get(name, Path(name))
    if not path.is_file():
        known = ", ".join(sorted(shipped))
        raise InputError(Fault(f"neither a file nor one of the shipped programs with blocks: {known}", key=name))
    return files.load(path)


def predict_blocks(
    session: Submits,
    request: Request,
    blocks: Blocks,
    wanted: Wanted,
    study: Path | None = None,
    emit: EventSink = ignore,
    cancel: CancelToken | None = None,
) -> Predictions:
    """Run the samples of the data-parallel program of *request*, into *study* if given, and predict the targets.

    By (2.6) and (2.7) from samples on the predicted N (and those on one processor, if data do not fit the cache), or by
    (4.11) from samples on several N. Raises as `Session.submit`, `InputError` for parameters other than those of
    *blocks*, and `CannotTellError` if the samples do not determine anything. Source: semi-empirical paper, 2.2.2.
    """
    if set(wanted.samples[0]) != set(blocks.parameters):
        raise InputError(Fault(f"the parameters {', '.join(blocks.parameters)} were expected", key="samples"))
    counts = sorted({*wanted.sampled, *([1] if wanted.reference else [])})
    runner = Runner(session, request, tuple(wanted.samples[0]), study, emit, cancel)
    samples = runner.run(wanted.samples, counts, whole=True)
    actual = runner.run(wanted.targets, wanted.processors, whole=True) if wanted.verify else []
    machine = machines.load(request.machine.path or request.machine.name, request.machine.overrides)
    every = sorted({*counts, *wanted.processors})
    places = [(values, n) for values in (*wanted.samples, *wanted.targets) for n in every]
    most = largest_event(blocks, places)
    costs = measured_collectives(session, request.machine, every, most, emit, cancel) if most else {}
    begin = time.thread_time()
    predictor = (
        SegmentsPredictor(blocks, samples, runner.regions, costs, _cache(machine))
        if blocks.segments
        else SizesPredictor(blocks, samples)
    )
    points = predicted_points(predictor, wanted, actual, begin)
    found = Predictions(runner.program, runner.machine, points, samples, None, runner.others)
    if isinstance(predictor, SegmentsPredictor):
        found.doubtful = predictor
    if study is not None:
        keep(found, study)
    return found


def _cache(machine: Machine) -> Cache | None:
    """Return the size of a processor's largest cache, or of its part of a shared one."""
    every = [Cache(level.size_kib * 1024 // level.shared_by, level.ways) for level in machine.cache]
    return max(every, key=lambda cache: cache.size, default=None)


def measured_collectives(
    session: Submits,
    machine: MachineChoice,
    processors: Sequence[int],
    most: int,
    emit: EventSink = ignore,
    cancel: CancelToken | None = None,
) -> dict[int, CollectiveCosts]:
    """Return the seconds of operations on up to *most* bytes for each of *processors*: measured once, then cached.

    Raises as `Session.submit`.
    """
    values = machines.load(machine.path or machine.name, machine.overrides).model_dump(mode="json")
    folder = cache_root() / "collectives"
    name = digest(values, PROGRAM.read_text(encoding="utf-8"), sources_digest())
    places = {n: folder / f"{name}-{n}.json" for n in processors}
    known = {n: found for n, place in places.items() if (found := _read(place)) and found.largest >= most}
    if missing := [n for n in processors if n not in known]:
        program = ProgramChoice(sources=(str(PROGRAM),), directory=str(PROGRAM.parent), args=(str(most),))
        asked = Request(program=program, machine=machine, processors=tuple(missing), reference=False)
        with session.submit(asked, None, emit, cancel) as done:
            known |= {run.point.processors: collective_costs(run) for run in done.runs(output=True)}
        folder.mkdir(parents=True, exist_ok=True)
        for n in missing:
            write_atomic(places[n], json.dumps(dict(known[n].measured)))
    return known


def _read(place: Path) -> CollectiveCosts | None:
    try:
        data = json.loads(place.read_text(encoding="utf-8"))
        return CollectiveCosts({name: tuple((int(at), float(cost)) for at, cost in own) for name, own in data.items()})
    except (OSError, ValueError, TypeError, AttributeError):
        return None
