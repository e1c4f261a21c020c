"""HPCToolkit: a database directory of hpcprof, one run; ``meta.db`` of version 4, or the older ``experiment.xml``."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._contexts import Threads
from scalegraph.measurements.readers._hpctoolkit_db import META, PROFILE, Database
from scalegraph.measurements.readers._hpctoolkit_xml import EXPERIMENT, VALUES, Experiment
from scalegraph.measurements.readers._names import named_point
from scalegraph.measurements.readers._ranks import NOTE

_LINES = "Lines and instructions count for the function or loop around them."


def _recognises(path: Path, _head: bytes) -> bool:
    return (path / META).is_file() or (path / EXPERIMENT).is_file()


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    left_out: list[str] = []
    files = [path / EXPERIMENT, *sorted(path.glob(VALUES))]
    database: Database | Experiment
    if (path / META).is_file():
        database = Database(path)
        left_out, files = database.left_out, [path / META, path / PROFILE]
    elif (path / EXPERIMENT).is_file():
        database = Experiment(path, cancel)
    else:
        raise InputError(Fault(f"has neither {META} nor {EXPERIMENT}; expected a database of hpcprof", file=str(path)))
    threads = Threads(database.contexts, database.columns(cancel))
    progress(0.5)
    where = named_point(path, "locations", threads.count)
    found = Collector(str(path), list(where))
    threads.collect(found, found.point(tuple(where.values())))
    for name in left_out:
        found.skip(f"metric {name}", 1, "neither values of contexts alone nor with all below", str(path))
    progress(1.0)
    return found.finish("hpctoolkit", path.name, files=[str(file) for file in files], notes=[NOTE, _LINES])


READER = Reader(
    "hpctoolkit",
    "HPCToolkit database directory",
    (),
    recognises=_recognises,
    read=_read,
    order=30,
    directory=True,
    looks="meta.db and profile.db, or experiment.xml and *.metric-db, one run; several directories make a set",
)
