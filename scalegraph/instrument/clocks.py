"""Where a program reads a clock in the middle of a basic block: how much of the block comes after it.

A block's cost is charged on entry. So that straight-line code between two readings takes its true time, each reading
leaves out the part of its block after the call, and in the blocks of the calling functions the part after each call
that led there (`csrc/posix/sg_clock.c`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scalegraph.instrument.flow import Counts, Instruction
from scalegraph.instrument.image import Function, Image
from scalegraph.runtime.format import CLOCK, OP_CLASS_NAMES

_WRAPPED: Final = "__wrap_"
_CLOCKS: Final = frozenset(
    (
        "clock",
        "clock_gettime",
        "getrusage",
        "gettimeofday",
        "time",
        "times",
        "timespec_get",
        "omp_get_wtime",
        "omp_get_wtime_",
        "MPI_Wtime",
        "PMPI_Wtime",
        "mpi_wtime_",
        "pmpi_wtime_",
        "_ZNSt6chrono3_V212steady_clock3nowEv",
        "_ZNSt6chrono3_V212system_clock3nowEv",
        "_gfortran_system_clock_4",
        "_gfortran_system_clock_8",
        "_gfortran_cpu_time_4",
        "_gfortran_cpu_time_8",
    )
)
_COUNTERS: Final = (b"\x0f\x31", b"\x0f\x01\xf9")  # rdtsc, rdtscp
_OPS_MAX: Final = np.iinfo(np.uint16).max
_PARTS: Final = ("whole", "whole_libraries", "behind", "behind_libraries")
_ITSELF: Final = -1  # target of an instruction that reads the processor's counter


@dataclass(frozen=True, slots=True)
class Call:
    """A call of function *target*: of the *whole* that its block's *probe* pays, *behind* comes after it."""

    caller: int
    target: int
    address: int  # its return address
    probe: int
    whole: Counts
    behind: Counts

    @property
    def is_reading(self) -> bool:
        """Whether it is no call, but an instruction that reads the processor's counter."""
        return self.target == _ITSELF


def is_clock(image: Image, target: int) -> bool:
    """Return whether the code at *target* is a function that tells the time."""
    names = image.names.get(target, ""), getattr(image.function_at(target), "name", "")
    return any(name.removeprefix(_WRAPPED) in _CLOCKS for name in names)


def counter_code(image: Image, function: Function) -> bytes:
    """Return the code of *function* if it may read the processor's counter: if it holds the bytes of such a reading."""
    if image.architecture.name != "x86-64":
        return b""
    code = image.bytes_of(function)
    return code if any(counter in code for counter in _COUNTERS) else b""


def calls_of(
    function: Function, code: bytes, instructions: Sequence[Instruction], parts: Sequence[Counts], probe: int
) -> Iterable[Call]:
    """Yield the calls among *instructions*, a chunk of *function*; *parts*: what its *probe* pays for each of them.

    *code* is that of `counter_code`.
    """
    whole = behind = np.sum(parts, axis=0)
    for instruction, part in zip(instructions, parts, strict=True):
        behind = behind - part
        at = instruction.address - function.start
        target = instruction.operation.target
        if target is None and code[at : at + instruction.size] in _COUNTERS:
            target = _ITSELF
        elif instruction.hook or not instruction.operation.is_call or target is None:
            continue
        yield Call(function.start, target, instruction.address + instruction.size, probe, whole, behind)


def clock_rows(image: Image, calls: Sequence[Call]) -> NDArray[np.void]:
    """Return records of the *calls* that may end in a clock reading, sorted by address."""
    reading = {call.target for call in calls if call.target == _ITSELF or is_clock(image, call.target)}
    while found := {call.caller for call in calls if call.target in reading} - reading:
        reading |= found
    told = sorted((call for call in calls if call.target in reading), key=lambda call: call.address)
    led: Mapping[int, bool] = dict.fromkeys((call.target for call in told), True)
    rows = np.zeros(len(told), dtype=CLOCK)
    for row, call in zip(rows, told, strict=True):
        row["address"], row["probe"] = call.address, call.probe
        for name, counts in zip(_PARTS, (*call.whole, *call.behind), strict=True):
            row[name] = np.clip(np.rint(counts[: len(OP_CLASS_NAMES)]), 0, _OPS_MAX)
        row["led"] = led.get(call.caller, False)
    return rows
