"""Measurement sets of other tools: their model, and the readers that import them.

A reader is a plug-in: one module in `scalegraph.measurements.readers` with a `READER`. Files are read into a
`MeasurementSet`, which knows nothing of processors or seconds; a `Mapping` gives its parameters and metrics a meaning,
and turns its points into runs.
"""
