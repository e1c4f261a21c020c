"""Part 4, the instrumentation preprocessor: source probes, compiler hooks, block cost table."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scalegraph.instrument.insertions import Insertion
    from scalegraph.instrument.listing import Mark, Row, instrumented_text, side_by_side
    from scalegraph.instrument.source import Instrumented, instrument_source
    from scalegraph.instrument.syntax import Detail

_HOMES = {
    "Detail": "syntax",
    "Insertion": "insertions",
    "Instrumented": "source",
    "Mark": "listing",
    "Row": "listing",
    "instrument_source": "source",
    "instrumented_text": "listing",
    "side_by_side": "listing",
}

__all__ = [
    "Detail",
    "Insertion",
    "Instrumented",
    "Mark",
    "Row",
    "instrument_source",
    "instrumented_text",
    "side_by_side",
]


def __getattr__(name: str) -> Any:
    """Import the parsers on first use: a program whose build is cached runs without them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"scalegraph.instrument.{_HOMES[name]}"), name)
