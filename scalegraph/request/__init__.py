"""Requests: checked, planned and run, through one facade for command line and window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scalegraph.request.model.programs import Program
    from scalegraph.request.model.request import Request
    from scalegraph.request.planning.plan import Plan, plan
    from scalegraph.request.run.session import Session

__all__ = ["Plan", "Program", "Request", "Session", "check", "load_request", "plan"]

_HOMES = {
    "Plan": "planning.plan",
    "Program": "model.programs",
    "Request": "model.request",
    "Session": "run.session",
    "check": "planning.checking",
    "load_request": "planning.checking",
    "plan": "planning.plan",
}


def __getattr__(name: str) -> Any:
    """Import on first use: the command line's ``--help`` must not wait for pandas."""
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
