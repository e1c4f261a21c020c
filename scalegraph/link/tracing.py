"""The trace of a simulated run: what the runtime records, and the file that is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph.base import workplaces
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError, ScaleGraphError, WorkError, near
from scalegraph.base.files import reason
from scalegraph.base.run import Region, TraceFile
from scalegraph.link.build import Build
from scalegraph.link.scale import is_region

if TYPE_CHECKING:
    from scalegraph.runtime.results import Result

SUFFIX = ".sgtrace"
RAW = "raw"  # the runtime's output
RUN = "run"  # property of a trace: the run that it is of
_MOST_NAMES = 1000
_LONGEST = 255  # characters of trace.region, see csrc/ground/sg_config.h


@dataclass(frozen=True)
class TraceOrder:
    """What to trace in one run, and where the trace goes: *directory*/*name*.sgtrace.

    Times are cycles of the machine; *end* None: to the end; *interval*: over which shares and counters are summed, 0:
    no limit. *regions*: numbers, including everything called inside; empty: everything. *limit*: bytes. *identity*
    distinguishes the run from any other: a file with the same name from another run is left alone, and a number added
    to the name. *asked* is copied into the record.
    """

    directory: Path
    name: str
    what: tuple[str, ...]
    begin: int = 0
    end: int | None = None
    interval: int = 0
    regions: tuple[int, ...] = ()
    limit: int = 2**30
    identity: str = ""
    asked: str = ""

    def config(self, raw: Path) -> dict[str, str]:
        """Return the runtime's configuration for a raw trace at *raw*."""
        values = {"trace.file": str(raw.absolute()), "trace.what": ",".join(self.what), "trace.limit": str(self.limit)}
        if self.begin:
            values["trace.begin"] = str(self.begin)
        if self.end is not None:
            values["trace.end"] = str(self.end)
        if self.interval:
            values["trace.interval"] = str(self.interval)
        if self.regions:
            values["trace.region"] = ",".join(map(str, self.regions))
        return values


def regions_of(build: Build, name: str) -> tuple[int, ...]:
    """Return the numbers of the regions called *name* (NAME, FILE:LINE, #ID); raise `InputError` if there are none."""
    found = tuple(region.id for region in build.regions if is_region(region, name))
    if not found:
        names = sorted({_short(region) for region in build.regions if region.name})
        raise InputError(Fault(f"no region is called '{name}'{near(name, names)}", key="trace.region"))
    if len(",".join(map(str, found))) > _LONGEST:
        raise InputError(Fault(f"'{name}' is {len(found)} regions; name one as FILE:LINE or #ID", key="trace.region"))
    return found


def _short(region: Region) -> str:
    return region.name.removeprefix(f"{region.kind} ")


@contextmanager
def workplace(order: TraceOrder) -> Iterator[Path]:
    """Yield a directory for the unfinished trace, on the same disk; removed at the end with its content.

    A run that is cancelled or killed thus leaves no half trace: the next run removes what a killed ScaleGraph left.
    """
    order.directory.mkdir(parents=True, exist_ok=True)
    with workplaces.workplace(".tracing", order.directory) as place:
        yield place


def keep(
    order: TraceOrder,
    place: Path,
    build: Build,
    *,
    result: Result | None,
    machine: str,
    program: str,
    ranks: int,
    measured: bool = False,
    cancel: CancelToken,
) -> tuple[TraceFile | None, tuple[str, ...]]:
    """Publish a trace of the runtime's output in *place*; return it and remarks for the run's record.

    *place*: from `workplace`. A run that was stopped has a trace up to there. Raises `Cancelled`.
    """
    # imported late: reading and writing traces takes much code that a run without a trace does not need
    from scalegraph.runtime.trace import write_trace

    fresh = place / f"trace{SUFFIX}"
    try:
        written = write_trace(
            place / RAW,
            fresh,
            regions=build.regions,
            result=result,
            machine=machine,
            program=program,
            properties={RUN: order.identity, **({"processes": str(ranks)} if ranks else {})},
            ranks=ranks,
            measured=measured,
            cancel=cancel,
        )
        size = fresh.stat().st_size
        path = publish(fresh, order)
    except (WorkError, OSError) as error:
        text = reason(error) if isinstance(error, OSError) else str(error)
        return None, (f"no trace was kept: {text}",)
    remarks = (f"trace: {written.cut}",) if written.cut else ()
    return TraceFile(path=str(path), bytes=size, counts=dict(written.rows), asked=order.asked), remarks


def publish(fresh: Path, order: TraceOrder) -> Path:
    """Move the finished file *fresh* to its name and return the path; never replaces a file of another run."""
    for number in range(1, _MOST_NAMES):
        more = f"-{number}" if number > 1 else ""
        path = order.directory / f"{order.name}{more}{SUFFIX}"
        if path.exists():
            if not is_of(path, order.identity):
                continue
            fresh.replace(path)
            return path
        try:
            os.link(fresh, path)  # fails if another process has just created the name
        except FileExistsError:
            continue
        except OSError:  # a file system without links
            fresh.replace(path)
        return path
    raise WorkError(f"{order.directory / order.name}{SUFFIX}: there are {_MOST_NAMES} traces of this name already")


def is_of(path: Path, identity: str) -> bool:
    """Whether the file at *path* is a trace of the run *identity*."""
    from scalegraph.traces.reading import read

    try:
        with read(path) as trace:
            return bool(identity) and trace.meta.properties.get(RUN) == identity
    except (ScaleGraphError, OSError):
        return False
