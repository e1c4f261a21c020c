"""Analyses with a file of their own: every module here that sets ``QUANTITY``, or several ``QUANTITIES``."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from scalegraph.request.results.quantity import Quantity


def found() -> tuple[Quantity, ...]:
    """Return the quantities of all modules, sorted by module name."""
    modules = (import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__))
    quantities = (
        one for module in modules for one in getattr(module, "QUANTITIES", (getattr(module, "QUANTITY", None),))
    )
    return tuple(quantity for quantity in quantities if isinstance(quantity, Quantity))
