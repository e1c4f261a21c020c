"""Traces: what happened when, as columns; read, written and checked whatever tool made them.

`Trace` holds definitions (locations, regions, metrics ..) and, by kind of event, parts of columns that may still are on
disk. `reading.read` opens any format that has a reader, `checking.check` says where a trace contradicts itself, and
`formats.writers` names what it can be turned into. docs/TRACES.md specifies model and file.
"""
