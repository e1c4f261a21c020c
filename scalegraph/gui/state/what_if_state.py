"""State of the What if panel; immutable, so undo only keeps the previous one. Independent of Qt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scalegraph.base.errors import InputError
from scalegraph.base.run import IDEALS
from scalegraph.link import scale
from scalegraph.request.model.origin import of_study
from scalegraph.request.model.request import Request, Speedups, WhatIf

Pairs = tuple[tuple[str, str], ...]

FACTORS: Final = ("1.25", "1.5", "2", "4", "8", "inf")
_PLACE: Final = re.compile(r"[^\s:]+\.\w+:\d+(-\d+)?")
SWEPT_LINES: Final = 5  # if the study's request gives no number


@dataclass(frozen=True)
class WhatIfState:
    """The changes to evaluate.

    *apart*: run each ideal alone, besides all together. *sweep*: virtual speedups of the *lines* hottest lines by each
    of *factors* (from the request if it has any).
    """

    ideals: tuple[str, ...] = ()
    apart: bool = True
    machine: Pairs = ()
    speedups: Pairs = ()
    sweep: bool = False
    lines: int = SWEPT_LINES
    factors: tuple[str, ...] = Speedups().factors
    processors: tuple[int, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there are no changes."""
        return not (self.ideals or self.machine or self.speedups or self.sweep)

    @property
    def variants(self) -> int:
        """Number of runs per processor count besides the actual one."""
        return len(self.what_ifs()) + (len(self.factors) * self.lines if self.sweep else 0)

    def with_ideal(self, name: str, *, on: bool) -> tuple[str, ...]:
        """Return the ideals with *name* toggled."""
        return tuple(known for known in IDEALS if (on if known == name else known in self.ideals))

    def with_machine(self, key: str, value: str | None) -> Pairs:
        """Return the machine's values with *key* set, or reset to the file's for ``None``."""
        return _with(self.machine, key, value)

    def with_speedup(self, target: str, factor: str | None) -> Pairs:
        """Return the speedups with *target* set to *factor*, or removed for ``None``."""
        return _with(self.speedups, target, factor)

    def what_ifs(self) -> tuple[WhatIf, ...]:
        """Return the what-if runs: ideals alone and together, the changed machine, each speedup alone."""
        wanted: list[dict[str, Any]] = []
        if self.apart or len(self.ideals) == 1:
            wanted += [{"ideal": (name,)} for name in self.ideals]
        if len(self.ideals) > 1:
            wanted.append({"ideal": self.ideals})
        if self.machine:
            wanted.append({"machine": dict(self.machine)})
        wanted += [{"speedup": {target: factor}} for target, factor in self.speedups]
        return tuple(WhatIf.model_validate({**part, "processors": self.processors}) for part in wanted)


def _with(pairs: Pairs, key: str, value: str | None) -> Pairs:
    made = dict(pairs)
    if value is None:
        made.pop(key, None)
    else:
        made[key] = value
    return tuple(made.items())


def of_request(data: Mapping[str, Any], counts: Sequence[int]) -> WhatIfState:
    """Return the state from a study's request *data*; by default for the largest of *counts*."""
    asked = [part for part in data.get("what_if") or () if isinstance(part, Mapping)]
    found = {str(name) for part in asked for name in part.get("ideal") or ()}
    machine: dict[str, str] = {}
    speedups: dict[str, str] = {}
    processors: set[int] = set()
    for part in asked:
        machine |= {str(key): str(value) for key, value in (part.get("machine") or {}).items()}
        speedups |= {str(key): str(value) for key, value in (part.get("speedup") or {}).items()}
        processors |= set(part.get("processors") or ())
    chosen = tuple(sorted(n for n in counts if n in processors)) or tuple(counts[-1:])
    apart = not any(len(part.get("ideal") or ()) > 1 for part in asked) or any(
        len(part.get("ideal") or ()) == 1 for part in asked
    )
    swept = data.get("speedups") or {}
    return WhatIfState(
        tuple(name for name in IDEALS if name in found),
        apart,
        tuple(machine.items()),
        tuple(speedups.items()),
        bool(swept.get("lines")),
        int(swept.get("lines") or SWEPT_LINES),
        tuple(str(factor) for factor in swept.get("factors") or Speedups().factors),
        chosen,
    )


def request_for(data: Mapping[str, Any], state: WhatIfState, name: str) -> Request:
    """Return a study's request *data* with the runs of *state* added; raise `InputError` if it cannot be read."""
    request = of_study(data, name)
    if not request.program.name and not request.program.sources:
        raise InputError("this study has no program that could be run again")
    asked = Speedups(lines=state.lines, factors=state.factors, processors=state.processors)
    sweep = asked if state.sweep else Speedups()
    return request.model_copy(update={"what_if": state.what_ifs(), "speedups": sweep})


def typed_target(text: str) -> str:
    """Return the target that *text* names: ``FILE:LINE``, as everywhere in the window, is a line."""
    text = text.strip()
    return f"line:{text}" if _PLACE.fullmatch(text) is not None else text


def target_fault(target: str) -> str:
    """Return what is wrong with the syntax of *target*, or ""."""
    try:
        scale.parse(target)
    except ValueError as error:
        return str(error)
    return ""


def factor_fault(factor: str) -> str:
    """Return what is wrong with *factor*, or ""."""
    try:
        scale.factor_of(factor)
    except ValueError as error:
        return str(error)
    return ""


def target_of(view: str, key: str) -> str:
    """Return the virtual-speedup target of the row *key* in a table of *view*, or ""."""
    if view == "variables":
        return key if key.startswith("data:") or not key else f"heap:{key}"
    if view not in ("profile", "lines", "hottest", "virtual-speedup"):
        return ""
    if key.isdecimal():
        return f"region:#{key}" if key != "0" else ""
    file, _, line = key.rpartition(":")
    return f"line:{key}" if file and line.isdecimal() else ""
