"""Ranks on several computers: their hosts, and the directory that they share."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.files import reason
from scalegraph.base.workplaces import workplace
from scalegraph.link.targets import _nodes

if TYPE_CHECKING:
    from scalegraph.link.job import Job

PLACE: Final = ".scalegraph-mpi"  # prefix of the directory that the computers of a run share
VARIABLE: Final = "SCALEGRAPH_COMPUTERS"  # tells the monitor that processes may be on several
_HOST: Final = re.compile(r"(?P<name>[A-Za-z0-9_][\w.-]*)(:(?P<slots>[1-9]\d{0,4}))?")
_LINE: Final = re.compile(r"(?P<name>\S+)(\s+slots\s*=\s*(?P<slots>[1-9]\d{0,4}))?(\s.*)?")


def several(settings: Mapping[str, str]) -> bool:
    """Whether the ranks of a run with *settings* may be on other computers."""
    return bool(settings.get("hosts") or settings.get("hostfile")) or _nodes.elsewhere()


def hosts(settings: Mapping[str, str], processes: int) -> list[tuple[str, int]]:
    """Return (computer, most ranks) in order; empty where the batch job decides.

    A computer without a number gets an even share of *processes*. Raises `InputError` for an invalid computer name.
    """
    found: list[tuple[str, str]] = []
    if listed := settings.get("hosts", ""):
        for text in listed.split(","):
            if (one := _HOST.fullmatch(text.strip())) is None:
                raise InputError(
                    Fault(f"'{text}' is not a host; expected hosts=NODE1,NODE2:4", key="target.settings.hosts")
                )
            found.append((one["name"], one["slots"] or ""))
    elif file := settings.get("hostfile", ""):
        found = list(_of_file(Path(file)))
    share = -(-processes // max(len(found), 1))
    return [(name, int(slots or share)) for name, slots in found]


def _of_file(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the entries of a host file, in the form of MPICH (``node1:4``) or of Open MPI (``node1 slots=4``)."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = reason(error) if isinstance(error, OSError) else "is not text"
        raise InputError(Fault(f"cannot be read: {why}", file=str(path))) from error
    count = 0
    for number, line in enumerate(lines, 1):
        if not (text := line.partition("#")[0].strip()):
            continue
        row = _LINE.fullmatch(text)
        one = _HOST.fullmatch(row["name"]) if row else None
        if row is None or one is None:
            message = f"'{text[:80]}' is not a host; expected 'node1', 'node1:4' or 'node1 slots=4'"
            raise InputError(Fault(message, file=str(path), line=number))
        count += 1
        yield one["name"], row["slots"] or one["slots"] or ""
    if not count:
        raise InputError(Fault("lists no hosts", file=str(path)))


@contextmanager
def shared_place(job: Job) -> Iterator[tuple[Path, Job]]:
    """Yield a directory for results that all computers share, and *job* with its program in it."""
    above = Path(job.settings.get("directory") or job.cwd or Path.cwd()).absolute()
    with ExitStack() as stack:
        try:
            place = stack.enter_context(workplace(PLACE, above, shared=True))
        except OSError as error:
            raise InputError(Fault(f"cannot be written: {reason(error)}", file=str(above))) from error
        program = place / "program"
        results = place / "results"
        results.mkdir()
        shutil.copy2(job.build.executable, program)
        yield results, replace(job, build=replace(job.build, executable=program))
