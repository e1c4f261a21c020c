"""Whether this kernel lets a program count processor events the way the monitor does."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from typing import Final

_CALLS: Final = {"x86_64": 298, "aarch64": 241}  # perf_event_open
_SIZE: Final = 128
_EXCLUDE_KERNEL_AND_HYPERVISOR: Final = (1 << 5) | (1 << 6)


def hardware_counters() -> tuple[bool, str]:
    """Return whether processor cycles can be counted here, and a sentence saying how that was found."""
    number = _CALLS.get(platform.machine())
    if number is None:
        return False, f"not known for {platform.machine()}"
    # type hardware, size, config cycles, sample period and formats 0, flags
    attributes = struct.pack("=IIQQQQQ", 0, _SIZE, 0, 0, 0, 0, _EXCLUDE_KERNEL_AND_HYPERVISOR).ljust(_SIZE, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.syscall(number, attributes, 0, -1, -1, 0)
    if handle >= 0:
        os.close(handle)
        return True, "counted in measured runs: cycles, instructions, cache misses, stalled cycles"
    return False, refused(ctypes.get_errno())


def refused(code: int) -> str:
    """Return in words why counters could not be opened, from the error number *code*."""
    if code in (errno.EACCES, errno.EPERM):
        return "the kernel does not allow them (kernel.perf_event_paranoid)"
    if code == errno.ENOSYS:
        return "the kernel has none"
    return "this processor or virtual machine has none"
