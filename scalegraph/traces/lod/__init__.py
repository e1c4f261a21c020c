"""Level of detail: a trace at any place and any zoom, without reading what is not visible.

`Timeline.open` takes the pyramid that is in the trace's file, or builds one; its queries return bins whose shares of
time are exact within 1/255, whatever the zoom. docs/TRACES.md says what is in the file.
"""

from scalegraph.traces.lod.shapes import Bins, Code, Lanes, Layer, Sample, Totals
from scalegraph.traces.lod.timeline import Timeline

__all__ = ["Bins", "Code", "Lanes", "Layer", "Sample", "Timeline", "Totals"]
