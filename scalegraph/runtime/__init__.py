"""The trace routine library: the C runtime, its build and its file format."""
