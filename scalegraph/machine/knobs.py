"""The tunable numbers of a machine, each with range, unit, description and sensible steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import annotated_types
from pydantic import BaseModel

from scalegraph.base.units import as_read
from scalegraph.machine.fields import unit_of
from scalegraph.machine.model import Cache, Machine

# Structural values: changing one alone makes the machine invalid, or changes its topology.
_STRUCTURE: Final = frozenset(
    {"processors", "sockets", "rings", "ports", "tiles", "hypernodes", "controllers", "processors of a set"}
    | {"dimensions", "nodes", "interfaces", "groups", "levels", "MiB"}
)
_FIXED: Final = (
    *("line_bytes", "page_bytes", "shared_by", "flit_bytes", "header_bytes", "memory.block_pages", "memory.node"),
    "prefetch.level",
)
# Name endings that give the unit, and what replaces them in a title.
_ENDS: Final = {"_bus_cycles": "", "_cycles": "", "_gb_s": " bandwidth", "_mhz": "", "_kib": "", "_ns": "", "_us": ""}
_OCTAVES: Final = ("size_kib", "ways", "channels", "banks", "modules")  # in steps of powers of two
_FROM_NOTHING: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_SECTIONS: Final = {
    "processor": "Processor",
    "operation_cycles": "Operations",
    "cache": "Caches",
    "network": "Network",
    "memory": "Memory",
    "synchronisation": "Synchronisation",
    "coherence": "Coherence",
    "threads": "Threads",
    "prefetch": "Prefetching",
    "monitor": "Monitoring",
    "disturbance": "Disturbance",
    "nodes": "Nodes",
    "interconnect": "Interconnect",
    "messages": "Messages",
}


@dataclass(frozen=True)
class Knob:
    """A tunable number of a machine: *key* as in overrides, *value* from its file, and its inclusive range."""

    key: str
    title: str
    section: str
    unit: str
    description: str
    value: float
    least: float
    most: float
    whole: bool

    def stops(self) -> tuple[float, ...]:
        """Return sensible values from 1/16 to 16 times the file's value, which is included, ascending."""
        if self.value == 0:
            made = [float(stop) for stop in _FROM_NOTHING]
        elif self.key.endswith(_OCTAVES):
            made = [self.value * 2.0**k for k in range(-4, 5)]
        else:
            made = [self.value * 2.0 ** (k / 2) for k in range(-8, 9)]
            made += [0.0] if self.least <= 0 else []
        rounded = {float(round(stop)) if self.whole else float(f"{stop:.3g}") for stop in made}
        inside = {stop for stop in rounded if self.least <= stop <= self.most}
        return tuple(sorted(inside | {float(self.value)}))

    def text(self, value: float) -> str:
        """Return *value* formatted as an override."""
        return str(round(value)) if self.whole else f"{value:.12g}"

    def fault(self, value: float) -> str:
        """Return what is wrong with *value*, or an empty string."""
        kind = "a whole number" if self.whole else "a number"
        if value != value or not self.least <= value <= self.most or (self.whole and value != round(value)):
            return f"{kind} from {as_read(self.least)} to {as_read(self.most)} was expected"
        return ""


def knobs(machine: Machine) -> tuple[Knob, ...]:
    """Return the numbers of *machine* that determine its speed, in file order."""
    found = _of(machine, "", "")
    if machine.interconnect is None:  # on one node, programs need no messages
        found = (knob for knob in found if not knob.key.startswith(("nodes.", "messages.")))
    return tuple(found)


def _of(part: BaseModel, prefix: str, section: str) -> Iterator[Knob]:
    for name, field in type(part).model_fields.items():
        value, key = getattr(part, name), f"{prefix}{name}"
        if isinstance(value, BaseModel):
            yield from _of(value, f"{key}.", _SECTIONS.get(name, section))
        elif isinstance(value, tuple):
            for number, item in enumerate(value):
                if isinstance(item, Cache):
                    yield from _of(item, f"{key}.{number}.", f"Cache {item.name}")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            unit = unit_of(type(part), name)
            least, most = _range(field.metadata)
            if unit not in _STRUCTURE and not key.endswith(_FIXED) and least is not None and most is not None:
                about, whole = field.description or "", isinstance(value, int)
                yield Knob(key, _title(name), section, unit, about, value, least, most, whole)


def _title(name: str) -> str:
    for end, instead in _ENDS.items():
        if name.endswith(end):
            return (name.removesuffix(end) + instead).replace("_", " ")
    return name.replace("_", " ")


def _range(metadata: list[Any]) -> tuple[float | None, float | None]:
    least = most = None
    for item in metadata:
        if isinstance(item, annotated_types.Ge):
            least = float(item.ge)  # type: ignore[arg-type]
        elif isinstance(item, annotated_types.Le):
            most = float(item.le)  # type: ignore[arg-type]
    return least, most
