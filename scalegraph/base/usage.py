"""Resource usage of a measured command, and the state of the computer meanwhile."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1e19)]
Count = Annotated[int, Field(ge=0, lt=2**63)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class HostState(_Frozen):
    """The computer during a run; None if not available.

    *load*: runnable processes in the last minute, at the start of the run; *mhz_begin*, *mhz_end*: mean clock of the
    processors available to the command; *throttled*: how often they slowed down for heat or power; *stolen_s*:
    processor time kept by the host of a virtual machine; *others_s*: processor time of other programs; *pinned*: the
    processors available to the command, empty if the system chose; *processors*: of the computer.
    """

    load: Annotated[float, Field(allow_inf_nan=False, ge=0, le=1e9)] | None = None
    mhz_begin: Seconds | None = None
    mhz_end: Seconds | None = None
    throttled: Count | None = None
    stolen_s: Seconds | None = None
    others_s: Seconds | None = None
    pinned: tuple[int, ...] = ()
    processors: Count | None = None


class Frame(_Frozen):
    """A function on a call path: its *name*, and its source file or library (*file*)."""

    name: Annotated[str, Field(max_length=200)]
    file: Annotated[str, Field(max_length=200)] = ""


class StackShare(_Frozen):
    """Shares of a run's processor time N T: *busy* in a call *path* (root first), and *waiting* of others for it."""

    path: tuple[Frame, ...] = Field(max_length=64)
    busy: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    waiting: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.0


class Usage(_Frozen):
    """Total usage of a command's processes; None if unknown.

    *wall_s*: from start to end of the command; *user_s*, *system_s*: processor time of all its processes that were
    waited for; *peak_memory_bytes*: maximum resident memory of all processes at the same time, by sampling (exact for a
    single process larger than the measuring process); *processes*, *threads* of each, *nodes*: the meaning of N;
    *queue_s*: time in the batch queue before the run; *started*: seconds since 1970; *reported*: time or rate printed
    by the command; *rate*, *rate_unit*: the printed rate, work per second; *uncounted*: why there are no hardware
    counters; *stacks*: call paths sampled in a separate run.
    """

    wall_s: Seconds
    user_s: Seconds | None = None
    system_s: Seconds | None = None
    peak_memory_bytes: Count | None = None
    processes: Count | None = None
    threads: Count | None = None
    nodes: Count | None = None
    queue_s: Seconds | None = None
    started: Seconds | None = None
    reported: Annotated[str, Field(max_length=200)] = ""
    rate: Seconds | None = None
    rate_unit: Annotated[str, Field(max_length=100)] = ""
    uncounted: Annotated[str, Field(max_length=200)] = ""
    host: HostState | None = None
    stacks: tuple[StackShare, ...] = ()

    @property
    def processor_time_s(self) -> float | None:
        """Processor time of the command, user and system, in s."""
        return None if self.user_s is None or self.system_s is None else self.user_s + self.system_s

    @property
    def parallelism(self) -> float | None:
        """Average number of busy processors: processor time over elapsed time."""
        spent = self.processor_time_s
        return spent / self.wall_s if spent is not None and self.wall_s > 0 else None

    def row(self) -> dict[str, float | int | None]:
        """Return the columns of the run table: times in s, memory in bytes, ``parallelism`` in processors."""
        names = ("wall_s", "user_s", "system_s", "processor_time_s", "peak_memory_bytes", "queue_s", "parallelism")
        return {name: getattr(self, name) for name in names} | ({} if self.rate is None else {"rate": self.rate})
