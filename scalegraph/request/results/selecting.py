"""Selection of one of a study's choices of machine, split, schedule and so on: as requested, by default the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.points import AXES, setting_words
from scalegraph.request.model import axes
from scalegraph.store import Study

OPTION = "--select"


def parse(words: Sequence[str], *, sizes: bool = False) -> dict[str, str]:
    """Parse ``AXIS=VALUE`` words into a selection; raise `InputError` with every word that selects nothing.

    *sizes*: accept values of parameters, too.
    """
    found: dict[str, str] = {}
    faults = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            faults.append(Fault(f"'{word}': expected AXIS=VALUE, AXIS one of {', '.join(AXES)}", key=OPTION))
        elif name not in AXES and not (sizes and name.isidentifier()):
            known = near(name, AXES) or f"; expected one of {', '.join(AXES)}"
            faults.append(Fault(f"'{word}': a study varies no '{name}'{known}", key=OPTION))
        else:
            found[name] = value.strip()
    if faults:
        raise InputError(faults)
    return found


def machine_names(part: Study) -> frozenset[str]:
    """Return the names of a choice's machine: as in the request, and as in its file."""
    asked = part.choice.get("machine", "")
    return frozenset(filter(None, (asked, Path(asked).stem if asked.endswith(".toml") else "", part.manifest.machine)))


def value_of(part: Study, axis: str) -> str:
    """Return the value of *axis* for one choice."""
    found = part.choice.get(axis)
    if found or axis == axes.MACHINE:
        return found or part.manifest.machine
    kept: Any = part.manifest.request
    for name in axes.AXES[axis].key.split("."):
        kept = (kept or {}).get(name)
    text = " ".join(map(str, kept)) if isinstance(kept, list | tuple) else str(kept or "")
    return text or axes.AXES[axis].usual


def matching(study: Study, wanted: Mapping[str, str]) -> list[Study]:
    """Return *study* as seen by each of the choices that *wanted* selects: all if it is empty.

    Raises `InputError` with the available values if it selects none.
    """
    parts = [study.member(one) for one in study.members()]
    for axis, value in wanted.items():
        kept = [part for part in parts if _has(part, axis, value)]
        if not kept:
            there = list(dict.fromkeys(value_of(part, axis) or "as written" for part in parts))
            text = f"'{axis}={value}': the study has {AXES[axis]} {', '.join(there)}{near(value, there)}"
            raise InputError(Fault(text, key=OPTION))
        parts = kept
    return parts


def _has(part: Study, axis: str, value: str) -> bool:
    if axis == "machine":
        return value in machine_names(part)
    return value_of(part, axis) == ("" if axis == "schedule" and value in ("as written", "none") else value)


def only(study: Study, wanted: Mapping[str, str]) -> Study:
    """Return *study* reduced to the choices that *wanted* selects, all if it is empty."""
    return study.among([part.choice for part in matching(study, wanted)])


def selected(study: Study, wanted: Mapping[str, str]) -> tuple[Study, str]:
    """Return *study* as seen by the one choice that *wanted* selects, and a sentence if there are others, too.

    If several match, the first is used, and the sentence says so: otherwise their curves would mix.
    """
    if study.members() == ({},) and not wanted:
        return study, ""
    parts = matching(study, wanted)
    if len(parts) == 1:
        return parts[0], ""
    words = setting_words(parts[0].choice) or parts[0].manifest.machine
    differ = [axis for axis in AXES if len({value_of(part, axis) for part in parts}) > 1]
    how = " ".join(f"{OPTION} {axis}=.." for axis in differ)
    name = study.path.name if study.path else "the study"
    return parts[0], f"{name} has runs of {len(parts)} choices; this is of {words}; {how} takes another"
