"""ScaleGraph says how far a parallel program scales, what stops it, and what would change that.

In a notebook: ``import scalegraph as sg; sg.load("times.csv").matrix(efficiency=0.5)``; see docs/API.md.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, whose import would take longer than the start of the compiler wrapper
if TYPE_CHECKING:
    from typing import Any

    from scalegraph.api import Data, Picture, Trace, frame, load, machines, pictures, quantities, run, simulate, trace
    from scalegraph.base.errors import ScaleGraphError

__version__ = "0.1.0"

__all__ = [
    "Data",
    "Picture",
    "ScaleGraphError",
    "Trace",
    "frame",
    "load",
    "machines",
    "pictures",
    "quantities",
    "run",
    "simulate",
    "trace",
]


def __getattr__(name: str) -> Any:
    """Import the Python API on first use: command line and window must not wait for pandas."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    home = "scalegraph.base.errors" if name == "ScaleGraphError" else "scalegraph.api"
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
