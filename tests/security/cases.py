"""Cases of damage in a separate process, each with limits of time and memory; if one kills the process, none is lost.

A process is forked for some thousand cases. It records in shared memory which case it is at and the results of those
before. The kernel ends it if a case stays in C for too long; the parent then counts that case and continues with the
next one in a new process.
"""

from __future__ import annotations

import mmap
import os
import resource
import signal
import struct
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.security import damage

BATCH: Final = 4000  # cases per process
MEMORY_KIB: Final = 300 << 10  # memory that one case may add
ADDRESSES: Final = 3 << 30  # bytes of address space that a process may add
KILLED_S = damage.LONGEST_S + 10.0  # processor time after which the kernel ends a case; Python's limit comes first
BATCH_S = 60.0  # wall-clock time of a batch, after which the results are saved
WAIT_S: Final = 600  # wall-clock limit of a case, for one that waits for something that never comes
_NUMBERS: Final = struct.Struct("<8q")


@dataclass
class Cases:
    """Many cases of one kind: *prepare* damages the file for a number; False if that changes nothing."""

    name: str
    count: int
    prepare: Callable[[int], bool]
    restore: Callable[[int], None]
    label: Callable[[int], str]
    use: Callable[[], str]


@dataclass
class Tally:
    """The results of the cases before number *next*; milliseconds of processor time, KiB."""

    next: int = 0
    same: int = 0
    read: int = 0
    refused: int = 0
    wrong: int = 0
    longest_ms: int = 0
    longest: int = 0
    most_kib: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """How many damaged files were used."""
        return self.read + self.refused + self.wrong

    def numbers(self) -> list[int]:
        """Return the figures without the sentences, in the order of the fields."""
        return [value for value in asdict(self).values() if isinstance(value, int)]

    def row(self, name: str) -> str:
        """Return one row of the table."""
        figures = (self.tried, self.read, self.refused, self.wrong, self.longest_ms, self.most_kib >> 10)
        return f"| {name} | {' | '.join(f'{figure:,}' for figure in figures)} |"


def went_through(cases: Cases, tally: Tally, over: float = float("inf")) -> Tally:
    """Try *cases* from ``tally.next`` on, at most `BATCH`, in a forked process; return the tally with them."""
    shared = mmap.mmap(-1, mmap.PAGESIZE)
    reader, writer = os.pipe()
    _put(shared, tally)
    child = os.fork()
    if child == 0:
        os.close(reader)
        code = 1
        try:
            _try_all(cases, tally, shared, writer, over)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, errors="replace") as lines:
        faults = [line.rstrip("\n") for line in lines]
    _, status = os.waitpid(child, 0)
    found = Tally(*_NUMBERS.unpack_from(shared), faults=[*tally.faults, *faults])
    if status:
        found.wrong += 1
        found.faults.append(f"{cases.name}: {cases.label(found.next)}: {_ended(status)}")
        found.next += 1
    return found


def _ended(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"the process ended with exit code {code}"
    endless = {signal.SIGPROF: ", it took too long", signal.SIGALRM: ", it waited for ever"}
    return f"the process was ended by {signal.Signals(-code).name}{endless.get(signal.Signals(-code), '')}"


def _try_all(cases: Cases, tally: Tally, shared: mmap.mmap, writer: int, over: float) -> None:
    address = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
    resource.setrlimit(resource.RLIMIT_AS, (address + ADDRESSES,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    parent, over = os.getppid(), min(over, time.monotonic() + BATCH_S)
    for number in range(tally.next, min(cases.count, tally.next + BATCH)):
        if time.monotonic() > over or os.getppid() != parent:
            break
        if cases.prepare(number):
            outcome, milliseconds, kib = _one(cases)
            tally.most_kib = max(tally.most_kib, kib)
            if milliseconds > tally.longest_ms:
                tally.longest_ms, tally.longest = milliseconds, number
            if outcome == "read":
                tally.read += 1
            elif outcome == "refused":
                tally.refused += 1
            else:
                tally.wrong += 1
                os.write(writer, f"{cases.name}: {cases.label(number)}: {outcome}\n".encode(errors="replace"))
        else:
            tally.same += 1
        cases.restore(number)
        tally.next = number + 1
        _put(shared, tally)


def _one(cases: Cases) -> tuple[str, int, int]:
    """Return outcome, milliseconds of processor time and KiB of one case; the kernel ends the process at the limit."""
    before, began = _memory(), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, KILLED_S)
    signal.setitimer(signal.ITIMER_REAL, WAIT_S)
    outcome = cases.use().replace("\n", "\\n")
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    taken = _status("VmHWM") - before
    if taken > MEMORY_KIB and outcome in ("read", "refused"):
        outcome = f"{outcome} with {taken >> 10} MiB"
    return outcome, round(1000 * (time.process_time() - began)), taken


def _memory() -> int:
    """Return the memory in use in KiB, and reset the kernel's peak value."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmHWM")


def _status(name: str) -> int:
    text = Path("/proc/self/status").read_text()
    return int(text.split(f"{name}:", 1)[1].split(None, 1)[0])


def _put(shared: mmap.mmap, tally: Tally) -> None:
    _NUMBERS.pack_into(shared, 0, *tally.numbers())


def of_bytes(name: str, place: Path, use: Callable[[Path], Any], path: Path, step: int = 1) -> Cases:
    """Return the cases of a sample: every *step*-th byte of every file in *place*, damaged in every way.

    Of several files with one name (the same profile of several runs), only the last is damaged.
    """
    kinds = {file.name: file for file in sorted(place.rglob("*")) if file.is_file()}
    files = {file: file.read_bytes() for file in kinds.values()}
    places = [(file, byte) for file, whole in files.items() for byte in range(0, len(whole), step)]

    def case(number: int) -> tuple[Path, int, str]:
        file, byte = places[number // len(damage.WAYS)]
        return file, byte, damage.WAYS[number % len(damage.WAYS)]

    def prepare(number: int) -> bool:
        file, byte, way = case(number)
        made = damage.damaged(files[file], way, byte)
        file.write_bytes(made)
        return made != files[file]

    def restore(number: int) -> None:
        file = case(number)[0]
        file.write_bytes(files[file])

    def label(number: int) -> str:
        file, byte, way = case(number)
        return f"{file.name} {way} at {byte}"

    count = len(places) * len(damage.WAYS)
    return Cases(name, count, prepare, restore, label, lambda: damage.tried(use, path))
