"""The one place that chooses how to read machine code, by the architecture in the executable's header.

To add one, write its module (disassembly into `operations.Operation`, direct calls, import stubs, argument registers)
and name it here; its counterpart in C is chosen in ``runtime/csrc/arch/sg_arch.h``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scalegraph.instrument import aarch64, x86_64
from scalegraph.instrument.operations import Operation


@dataclass(frozen=True)
class Architecture:
    """How to read the machine code of one architecture; *arguments* and *volatile* are registers of a call.

    *disassemble* may leave out the ranges of addresses in its last argument.
    """

    name: str
    disassemble: Callable[
        [bytes, int, Callable[[int], bool], Sequence[tuple[int, int]]], Iterator[tuple[int, int, Operation]]
    ]
    call_sites: Callable[[bytes, int, NDArray[np.int64]], NDArray[np.int64]]
    stubs: Callable[[bytes, int, Mapping[int, str]], dict[int, str]]
    arguments: tuple[str, ...]
    volatile: tuple[str, ...]


X86_64: Final = Architecture(
    "x86-64", x86_64.disassemble, x86_64.call_sites, x86_64.stubs, x86_64.ARGUMENTS, x86_64.VOLATILE
)
AARCH64: Final = Architecture(
    "aarch64", aarch64.disassemble, aarch64.call_sites, aarch64.stubs, aarch64.ARGUMENTS, aarch64.VOLATILE
)
ARCHITECTURES: Final[Mapping[str, Architecture]] = {"EM_X86_64": X86_64, "EM_AARCH64": AARCH64}
"""By the machine that an ELF file names."""
