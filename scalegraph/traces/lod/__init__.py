"""Level of detail: a trace at any place and any zoom, without reading what is not visible.

`Timeline.open` takes the pyramid from the trace's file, or builds one; its queries return bins whose shares of time are
exact within 1/255, at any zoom. docs/TRACES.md specifies the file's content.
"""

from scalegraph.traces.lod.shapes import Bins, Code, Lanes, Layer, Sample, Totals
from scalegraph.traces.lod.timeline import Timeline

__all__ = ["Bins", "Code", "Lanes", "Layer", "Sample", "Timeline", "Totals"]
