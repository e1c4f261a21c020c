"""The trace routine library: the C runtime, its build and the format it speaks."""
