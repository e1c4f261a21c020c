"""The link to a target, here the simulated one: programs, processes and results.

The code that reads results, and numpy with it, is imported on first use: a request needs only the names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from scalegraph.link.build import Build, BuiltSource, Measuring
from scalegraph.link.job import Job, Link
from scalegraph.link.options import Limits, RunOptions

if TYPE_CHECKING:
    from scalegraph.link.simulated import Simulated
    from scalegraph.link.tracing import TraceOrder

__all__ = ["Build", "BuiltSource", "Job", "Limits", "Link", "Measuring", "RunOptions", "Simulated", "TraceOrder"]
_LATER: Final = {"Simulated": "simulated", "TraceOrder": "tracing"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
