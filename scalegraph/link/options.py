"""The values of a request that reach the target of each run unchanged, declared once.

The request file, its checks, the window's fields, the options of commands, jobs and orders to workers are made from
these models; `base.asked` says how a value is declared.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from scalegraph.base.asked import asked, option
from scalegraph.machine import Machine
from scalegraph.machine.active import spread

ExitCode = Annotated[int, Field(ge=1, le=255)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class RunOptions(_Frozen):
    """How the program of a run is started and judged."""

    accept_exit: tuple[ExitCode, ...] = asked(
        default=(),
        label="Accepted exit codes",
        hint="1, 3",
        help="Exit codes besides 0 that count as success",
        option=option(
            "--accept-exit",
            metavar="CODE",
            help="Count runs that end with this exit code as successful, with a remark",
            repeat=True,
        ),
    )
    threads_per_process: int = asked(
        default=1,
        ge=1,
        le=4096,
        label="Threads a process",
        unit="threads",
        help="Of an MPI program: N processors are N / T processes of T threads",
        option=option("--threads-per-process", metavar="T,..", note="Several with commas: one study."),
    )
    ranks_per_node: int = asked(
        default=0,
        ge=0,
        le=4096,
        label="Ranks a node",
        hint="as many as a node has room for",
        unit="ranks",
        help="Of an MPI program: so many processes on each node, the next ones on the next node; 0: as many as a node "
        "has room for",
        option=option("--ranks-per-node", metavar="R"),
    )

    def accepts(self, exit_code: int | None) -> bool:
        """Whether *exit_code*, which is not 0, counts as success."""
        return exit_code in self.accept_exit

    def processes(self, processors: int) -> int:
        """Return how many processes of an MPI program share *processors*; a single processor is one process."""
        return max(processors // self.threads_per_process, 1)

    def placed(self, machine: Machine) -> Machine:
        """Return *machine* with the processes of each node; raise `InputError` if a node has no room for them."""
        return spread(machine, self.ranks_per_node, self.threads_per_process)

    def refusal(self, processors: int) -> str:
        """Return a sentence if whole processes do not fill *processors*, otherwise an empty string."""
        threads = self.threads_per_process
        fits = processors == 1 or processors % threads == 0
        return "" if fits else f"{processors} processors: no multiple of {threads} threads a process"


class Limits(_Frozen):
    """Limits of one run; the run is stopped and reported when it reaches one."""

    time_s: float = asked(
        default=600.0,
        gt=0,
        le=30 * 86400,
        label="Time limit",
        unit="s",
        help="Time limit of one run on this computer",
        option=option("--timeout", metavar="S"),
    )
    memory_bytes: int = asked(
        default=4 * 2**30,
        ge=64 * 2**20,
        label="Memory limit",
        unit="B",
        help="Most memory that the program may allocate in one run",
        option=option("--memory", metavar="SIZE"),
        runtime="arena_bytes",
    )
    output_bytes: int = asked(
        default=16 * 2**20,
        ge=0,
        label="Output kept",
        unit="B",
        help="Most printed output that is kept of each run",
    )
