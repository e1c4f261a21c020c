"""Analysis of traces: sums over time, exact to the tick; waits, messages and speeds.

Pure functions on `scalegraph.traces.model.Trace`: columns in, arrays and tables out. Intervals are half open, [begin,
end) in ticks, so that the sums of adjacent intervals add up; the last tick of the run belongs to the interval that ends
there.
"""
