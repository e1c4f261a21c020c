"""The coordinates of a run: processors, sizes, variant, and its position in a space of choices."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator

from scalegraph.base.units import assigned

Value: TypeAlias = int | Annotated[float, Field(allow_inf_nan=False)] | str
SIMULATED = "simulated"
"""The name of the simulating target; real targets have names of their own."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


# What can be made ideal, in output order; docs/WHATIF.md explains the effect on the categories.
Ideal: TypeAlias = Literal["contention", "network", "cache", "sync", "balance", "messages"]
IDEALS: tuple[Ideal, ...] = ("contention", "network", "cache", "sync", "balance", "messages")
IDEAL_NAMES: dict[str, str] = {
    "contention": "no contention",
    "network": "ideal network",
    "cache": "infinite caches",
    "sync": "free synchronisation",
    "balance": "perfect balance",
    "messages": "messages take no time",
}


AS_WRITTEN = "as written"
"""The schedule of a run in which static loops call the runtime, too: it counts their iterations, and changes nothing
else.
"""


class Variant(_Frozen):
    """What differs in a run from the actual program and machine; empty for an actual run.

    *ideal*: switches; *speedup*: factor by target (``line:solve.c:88``, see `link.scale`), a positive decimal number or
    ``inf``; *machine*: machine values by key; *schedule*: of worksharing loops, see `link.loops`.
    """

    ideal: tuple[Ideal, ...] = ()
    speedup: dict[str, str] = Field(default_factory=dict)
    machine: dict[str, str] = Field(default_factory=dict)
    schedule: str = ""

    @field_validator("ideal")
    @classmethod
    def _in_order(cls, value: tuple[Ideal, ...]) -> tuple[Ideal, ...]:
        return tuple(name for name in IDEALS if name in value)

    @field_validator("speedup", "machine")
    @classmethod
    def _sorted(cls, value: dict[str, str]) -> dict[str, str]:
        return dict(sorted(value.items()))

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.ideal or self.speedup or self.machine or self.schedule)

    @property
    def name(self) -> str:
        """Stable name of the variant, empty for an actual run."""
        values = [list(self.ideal), self.speedup, self.machine, *([self.schedule] if self.schedule else [])]
        return json.dumps(values) if self else ""

    def label(self) -> str:
        """Short name for display: ``infinite caches, solve.c:88 x 2``."""
        if set(self.ideal) >= {"network", "cache", "sync", "balance"}:
            parts = ["ideal machine"]
        else:
            parts = [IDEAL_NAMES[name] for name in self.ideal]
        parts += [f"{target_words(target)} x {factor}" for target, factor in self.speedup.items()]
        parts += [f"{key} = {value}" for key, value in self.machine.items()]
        if self.schedule:
            counts = self.schedule == AS_WRITTEN
            parts.append("iterations of loops counted" if counts else f"loops under {self.schedule}")
        return ", ".join(parts) or "actual"


def target_words(target: str) -> str:
    """Return the target of a virtual speedup as text: ``line:solve.c:88`` is ``solve.c:88``."""
    kind, _, name = target.partition(":")
    if kind in ("line", "call"):
        return name
    words = {"held": "inside lock", "within": "all of", "data": "misses of", "heap": "misses of", "whole": "all of"}
    more = {"cost": "region", "section": "what is done under the lock of"}
    return f"{(words | more).get(kind, kind)} {name}"


AXES: Final = {
    "machine": "machine",
    "threads_per_process": "threads a process",
    "schedule": "schedule",
    "affinity": "affinity",
    "cflags": "flags",
}
"""What a study of several choices can vary besides processors, sizes and what-ifs, in output order, with labels."""


def setting_id(setting: Mapping[str, str]) -> str:
    """Return the stable short name of a choice of machine, split, schedule and so on; empty if none."""
    return hashlib.sha256(json.dumps(sorted(setting.items())).encode()).hexdigest()[:8] if setting else ""


def setting_words(setting: Mapping[str, str]) -> str:
    """Return a choice as text: ``ksr1, 4 threads a process, dynamic,4``."""
    found = []
    for axis in AXES:
        if axis in setting:
            value = setting[axis] or ("as written" if axis == "schedule" else "none")
            many = "" if value == "1" else "s"
            text = f"{value} thread{many} a process" if axis == "threads_per_process" else value
            found.append(f"{AXES[axis]} {text}" if axis in ("schedule", "affinity", "cflags") else text)
    return ", ".join(found)


class RunPoint(_Frozen):
    """Coordinates of a run within a study; *variant* is empty for the actual program and machine.

    *target*: where the run happened, empty for the simulated machine; see `scalegraph.link.targets`. *setting*: in a
    study of several machines, splits, schedules .. (`AXES`) the choice of this run; empty in any other study.
    """

    processors: int = Field(ge=1, le=2**31)
    parameters: dict[str, Value] = Field(default_factory=dict)
    repetition: int = Field(default=0, ge=0)
    variant: Variant = Field(default_factory=Variant)
    target: str = Field(default="", max_length=64)
    setting: dict[str, Annotated[str, Field(max_length=4000)]] = Field(default_factory=dict, max_length=len(AXES))

    @field_validator("setting")
    @classmethod
    def _of_axes(cls, value: dict[str, str]) -> dict[str, str]:
        if strange := [name for name in value if name not in AXES]:
            raise ValueError(f"'{strange[0]}' cannot be varied in a study; expected one of {', '.join(AXES)}")
        return {name: value[name] for name in AXES if name in value}

    @property
    def key(self) -> str:
        """Stable name of the point within its study."""
        coordinates = [self.processors, sorted(self.parameters.items()), self.repetition]
        if self.variant or self.target:
            coordinates.append(self.variant.name)
        text = json.dumps([*coordinates, self.target] if self.target else coordinates)
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        return f"{setting_id(self.setting)}-{name}" if self.setting else name

    def label(self) -> str:
        """Short name for display: ``N = 8, n = 200``."""
        parts = [setting_words(self.setting)] if self.setting else []
        parts.append(assigned([("N", self.processors), *self.parameters.items()]))
        if self.repetition:
            parts.append(f"repetition {self.repetition + 1}")
        if self.variant:
            parts.append(self.variant.label())
        if self.target:
            parts.append(f"target {self.target}")
        return ", ".join(parts)

    def actual(self) -> RunPoint:
        """Return the point without any variant, which a variant is compared with."""
        return self.model_copy(update={"variant": Variant()}) if self.variant else self
