"""Part 4, the instrumentation preprocessor: source probes, compiler hooks, block cost table."""

from scalegraph.instrument.insertions import Insertion
from scalegraph.instrument.listing import Mark, Row, instrumented_text, side_by_side
from scalegraph.instrument.source import Instrumented, instrument_source
from scalegraph.instrument.syntax import Detail

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
