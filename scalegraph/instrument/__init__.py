"""Part 4, the instrumentation preprocessor: source probes, compiler hooks, block cost table."""

from scalegraph.instrument.insertions import Insertion
from scalegraph.instrument.source import Instrumented, instrument_source
from scalegraph.instrument.syntax import Detail

__all__ = ["Detail", "Insertion", "Instrumented", "instrument_source"]
