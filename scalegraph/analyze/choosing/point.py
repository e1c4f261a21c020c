"""A point of the space: one machine, processor count, split and so on, with its time and cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from scalegraph.base.points import AXES
from scalegraph.base.units import assigned, counted, si, significant, thousands

Objective: TypeAlias = Literal["time", "core_hours", "energy", "price", "processors"]
OBJECTIVES: Final[dict[Objective, str]] = {
    "time": "time",
    "core_hours": "core-hours",
    "energy": "energy",
    "price": "price",
    "processors": "processors",
}


@dataclass(frozen=True)
class Point:
    """One point and its runs: *time_s* is the median of *repetitions* runs, *low_s* to *high_s* its interval.

    *chosen*: what an automatic schedule resolved to here, empty for the program as written. *processes* and
    *threads_per_process* are None for a single-process program. *parameters*: the problem size. *node_processors*: of
    the machine, None if unknown. *why_no_energy* and *why_no_price*: a sentence where the value is None. *queue_s*:
    queue time given by the user.
    """

    machine: str
    processors: int
    time_s: float
    processes: int | None = None
    threads_per_process: int | None = None
    schedule: str | None = None
    chosen: str | None = None
    affinity: str | None = None
    cflags: str | None = None
    others: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    efficiency: float | None = None
    speedup: float | None = None
    core_hours: float = math.nan
    node_hours: float | None = None
    energy_j: float | None = None
    price: float | None = None
    currency: str = ""
    why_no_energy: str = ""
    why_no_price: str = ""
    node_processors: int | None = None
    low_s: float | None = None
    high_s: float | None = None
    repetitions: int = 1
    source: str = "simulated"
    queue_s: float = 0.0
    keys: tuple[str, ...] = ()
    member: int = 0

    @property
    def elapsed_s(self) -> float:
        """Time until the result is available: queue time plus run time.

        Unit: s. Source: ScaleGraph.
        """
        return self.time_s + self.queue_s

    def cost(self, objective: Objective) -> float | None:
        """Return the value of the objective, None if unknown.

        Unit: s, core-hours, J, the machine's currency or processors. Source: ScaleGraph.
        """
        return {
            "time": self.elapsed_s,
            "core_hours": self.core_hours,
            "energy": self.energy_j,
            "price": self.price,
            "processors": float(self.processors),
        }[objective]

    def words(self) -> str:
        """Return the point as text: ``epyc-7763, N = 64 (16 processes of 4 threads), schedule dynamic``.

        Source: ScaleGraph.
        """
        parts = [self.machine] if self.machine and self.machine != "unknown" else []
        split = ""
        if self.processes is not None:
            threads = counted(self.threads_per_process or 1, "thread")
            split = f" ({counted(self.processes, 'process')} of {threads})"
        parts.append(f"N = {thousands(self.processors)}{split}")
        parts += [
            f"{AXES[name]} {value}" for name in ("schedule", "affinity", "cflags") if (value := getattr(self, name))
        ]
        if self.schedule and self.chosen is not None:
            at = parts.index(f"{AXES['schedule']} {self.schedule}")
            parts[at] += f" ({self.chosen or 'as written'})"
        if self.others:
            parts.append(assigned(self.others.items()))
        return ", ".join(parts)

    def amount(self, objective: Objective) -> str:
        """Return the point's cost with its unit.

        Source: ScaleGraph.
        """
        value = self.cost(objective)
        if value is None:
            return "–"
        match objective:
            case "time":
                return si(value, "s")
            case "core_hours":
                return f"{significant(value)} core-hours"
            case "energy":
                return si(value, "J")
            case "price":
                return f"{significant(value)} {self.currency}"
            case _:
                return f"{counted(int(value), 'processor')}"

    def document(self) -> dict[str, Any]:
        """Return the fields of ``choose --json``.

        Source: ScaleGraph.
        """
        return {
            "machine": self.machine,
            "processors": self.processors,
            "processes": self.processes,
            "threads_per_process": self.threads_per_process,
            "schedule": self.schedule if self.chosen is None else self.chosen or None,
            **({} if self.chosen is None else {"automatic": True}),
            **({"affinity": self.affinity} if self.affinity else {}),
            **({"cflags": self.cflags} if self.cflags else {}),
            **({"others": dict(self.others)} if self.others else {}),
            "parameters": dict(self.parameters),
            "time_s": self.time_s,
            "core_hours": self.core_hours,
            "energy_j": self.energy_j,
            "price": self.price,
            "currency": self.currency or None,
            "node_hours": self.node_hours,
            "efficiency": self.efficiency,
            "speedup": self.speedup,
            "low_s": self.low_s,
            "high_s": self.high_s,
            "repetitions": self.repetitions,
            "kind": self.source,
            **({"queue_s": self.queue_s, "elapsed_s": self.elapsed_s} if self.queue_s else {}),
        }
