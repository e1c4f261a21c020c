"""The targets that a request may name: one module each, with a `TARGET`; `base` documents the interface."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.run import SIMULATED
from scalegraph.link.targets.base import WORKERS, Builds, Finding, Place, Setting, Target

__all__ = [
    "SIMULATED",
    "WORKERS",
    "Builds",
    "Finding",
    "Place",
    "Setting",
    "Target",
    "named",
    "setting_faults",
    "targets",
]
_APART = ("base",)


@cache
def targets() -> Mapping[str, Target]:
    """Return every target by name, the simulated one first."""
    found = [_of_module(name) for name in _modules()]
    return {target.name: target for target in sorted(found, key=lambda target: (target.order, target.name))}


def _modules() -> list[str]:
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    return [name for name in names if name not in _APART and not name.startswith("_")]


def _of_module(name: str) -> Target:
    found: Target = import_module(f"{__name__}.{name}").TARGET
    return found


def named(name: str) -> Target:
    """Return the target *name*, the simulated one for an empty name; raise `InputError` if there is none."""
    if (name or SIMULATED) in _modules():  # a run need not wait for the other targets' imports
        found = _of_module(name or SIMULATED)
        if found.name == (name or SIMULATED):
            return found
    known = targets()
    if (name or SIMULATED) not in known:
        hint = near(name, known) or f"; there are {', '.join(known)}"
        raise InputError(Fault(f"unknown target '{name}'{hint}", key="target.name"))
    return known[name or SIMULATED]


def setting_faults(target: Target, given: Mapping[str, str]) -> list[Fault]:
    """Return a fault for each setting in *given* that *target* does not have."""
    known = [setting.name for setting in target.settings]
    there = f"; target '{target.name}' has {', '.join(known) or 'no settings'}"
    return [
        Fault(f"unknown setting '{name}'{near(name, known) or there}", key=f"target.settings.{name}")
        for name in given
        if name not in known
    ]
