"""Measurement sets of other tools: what is in them, and readers that bring them in.

A reader is a plug-in: one module in `scalegraph.measurements.readers` with a `READER`. Files are read into a
`MeasurementSet`, which knows nothing of processors or of seconds; a `Mapping` says what its parameters and metrics
mean, and makes runs of its points.
"""
