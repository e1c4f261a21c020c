"""The words of a command: split as a shell does, with values filled in for N and parameters."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scalegraph.base.errors import near
from scalegraph.base.patterns import pattern
from scalegraph.base.run import Value
from scalegraph.link.options import RunOptions

COUNTS: Final = ("N", "threads", "processes", "nodes")
"""Placeholders in a command for a run's processors, and for counts derived from them."""
_PLACE = pattern(r"\{\{(?P<kept>[A-Za-z_]\w*)\}\}|(?<!\$)\{(?P<name>[A-Za-z_]\w*)\}")
# Programs that only start others, so that their own name says nothing.
_STARTERS: Final = frozenset(
    (
        "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "srun", "env", "time", "nice", "taskset", "numactl", "stdbuf",
        "timeout", "sh", "bash", "dash", "zsh", "docker", "podman", "apptainer", "singularity", "nerdctl", "python",
        "python3", "perl", "ruby", "julia", "Rscript", "java", "node",
    )
)  # fmt: skip
MPI_STARTERS: Final = frozenset(("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prun", "srun", "ibrun", "aprun"))
"""Programs that start ranks on the nodes of a batch job."""
# They have a daemon start the processes, or start them on other computers.
_OUTSIDE: Final = frozenset(("docker", "nerdctl", "ssh", "srun", "ibrun", "aprun", "jsrun", "kubectl", "qrsh", "bsub"))
SHELL: Final = "/bin/sh"


@dataclass(frozen=True)
class Counts:
    """What N processors mean for a command: *processes* of *threads* each, on *nodes*."""

    processors: int
    threads: int
    processes: int
    nodes: int = 1

    def values(self) -> dict[str, Value]:
        """Return the value of each of `COUNTS`."""
        return dict(zip(COUNTS, (self.processors, self.threads, self.processes, self.nodes), strict=True))


def counts(texts: Sequence[str], processors: int, options: RunOptions, settings: Mapping[str, str]) -> Counts:
    """Return what *processors* mean for the command *texts* (its words and the values of its environment).

    A command that names ``{processes}``, has several threads per process, or starts MPI ranks, has N / T processes of T
    threads; any other is one process of N threads. Nodes come from the target's *settings*.
    """
    each = options.threads_per_process
    several = each > 1 or any("processes" in names(text) for text in texts) or is_mpi(texts)
    processes = options.processes(processors) if several else 1
    threads = min(each, processors) if several else processors
    nodes, most = (int(text) if (text := settings.get(name, "")).isdecimal() else 0 for name in _NODES)
    ranks = processes if several else processors
    found = min(nodes, ranks) if nodes else -(-ranks // most) if most else 1
    return Counts(processors, threads, processes, max(found, 1))


def is_mpi(words: Sequence[str]) -> bool:
    """Whether a command of these *words* starts MPI ranks."""
    return bool(words) and Path(words[0]).name in MPI_STARTERS


_NODES: Final = ("nodes", "ranks_per_node")


def split(command: str, *, shell: bool) -> tuple[str, ...]:
    """Split *command* into words as a shell does; *shell*: pass it to a shell as a whole.

    Raises `ValueError` for unmatched quotes or an empty command.
    """
    if not command.strip():
        raise ValueError("a command was expected")
    if shell:
        return (SHELL, "-c", command)
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise ValueError(f"cannot be split into words ({str(error).lower()}): {command}") from None


def names(text: str) -> list[str]:
    """Return the names in braces in *text*."""
    return [found["name"] for found in _PLACE.finditer(text) if found["name"]]


def fill(text: str, values: Mapping[str, Value]) -> str:
    """Return *text* with values for each ``{name}``; ``{{name}}`` becomes ``{name}``, ``${name}`` is left to the shell.

    Braces around anything but a name stay. Raises `ValueError` for a name without a value.
    """
    for name in names(text):
        if name not in values:
            known = near(name, values) or f"; there are {', '.join(values)}"
            raise ValueError(f"'{{{name}}}' stands for nothing{known}; '{{{{{name}}}}}' is '{{{name}}}' itself")

    def written(value: Value) -> str:
        return repr(value) if isinstance(value, float) else str(value)

    return _PLACE.sub(lambda found: f"{{{found['kept']}}}" if found["kept"] else written(values[found["name"]]), text)


def title(words: Sequence[str], directory: Path) -> str:
    """Return the name of the program that a command runs; for a command that only starts another, that of the other."""
    known = [Path(word).name for word in words]
    first = known[0] if known else ""
    if first not in _STARTERS:
        return Path(first).stem or first
    for word, name in zip(words[1:], known[1:], strict=True):
        if word.startswith("-") or "=" in word or not name or name in _STARTERS:
            continue
        if (directory / word).is_file() or shutil.which(word):
            return Path(name).stem
    return first


def outside(words: Sequence[str], nodes: int) -> str:
    """Return why the command's processes are not our descendants, whose use we could add up; empty if they are.

    They belong to a daemon, or are on other computers.
    """
    first = Path(words[0]).name if words else ""
    if first in _OUTSIDE:
        return f"'{first}' has another program start the processes: their processor time and memory are unknown"
    if nodes > 1 and first in MPI_STARTERS:
        return f"the processes are on {nodes} nodes: their processor time and memory are unknown"
    return ""
