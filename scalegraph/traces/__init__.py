"""Traces: events over time, stored as columns; read, written and checked independently of the tool that made them.

`Trace` holds definitions (locations, regions, metrics ..) and, by kind of event, parts of columns that may still be on
disk. `reading.read` opens any format with a reader, `checking.check` finds contradictions within a trace, and
`formats.writers` lists the formats that it can be converted to. docs/TRACES.md specifies model and file.
"""
