"""Analysis of traces: sums over time, exact to the tick; waits, messages, speeds.

Pure functions on `scalegraph.traces.model.Trace`: columns in, arrays and tables out. Intervals are half open, [begin,
end) in ticks, so that the sums of two intervals that meet are the sums of both together; the last tick of the run
belongs to the interval that ends there.
"""
