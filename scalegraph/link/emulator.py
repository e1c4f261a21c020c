"""QEMU's user mode, which runs programs for another architecture than the host's."""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import shutil
from pathlib import Path
from typing import Final

from scalegraph.base.errors import MissingTool

VARIABLE: Final = "SCALEGRAPH_EMULATOR"
_MACHINES: Final = {62: "x86_64", 183: "aarch64"}  # e_machine of an ELF file: the kernel's name of the architecture
_HEAD: Final = 20  # bytes up to the end of e_machine
_MACHINE_AT: Final = 18


def architecture_of(head: bytes) -> str | None:
    """Return the kernel's name for the architecture of the ELF file with this *head*; None for any other file."""
    return _MACHINES.get(int.from_bytes(head[_MACHINE_AT:_HEAD], "little")) if head[:4] == b"\x7fELF" else None


def emulator(executable: Path) -> tuple[str, ...]:
    """Return the command that runs *executable* on this host; empty if it runs natively.

    ``SCALEGRAPH_EMULATOR`` names it (QEMU's user mode, with its options); the default is ``qemu-ARCHITECTURE`` with the
    cross compiler's C library, where Debian puts it. Raises `MissingTool` if there is none.
    """
    head = b""
    with (
        contextlib.suppress(OSError),
        executable.open("rb") as stream,
    ):  # the function that starts it reports why that fails
        head = stream.read(_HEAD)
    machine = architecture_of(head)
    if machine is None or machine == platform.machine():
        return ()
    usual = (f"qemu-{machine}", "-L", f"/usr/{machine}-linux-gnu")
    name, *options = shlex.split(os.environ.get(VARIABLE, "")) or usual
    path = shutil.which(name)
    if path is None:
        raise MissingTool(
            f"{executable.name} is for {machine} and this machine is not; '{name}' that would run it was not found; "
            f"install it with: apt-get install qemu-user, or name it in {VARIABLE}"
        )
    return (path, *options)
