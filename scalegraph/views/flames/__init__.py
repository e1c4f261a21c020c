"""Flame graphs of studies and traces, their differences, and tables of callers and callees."""

MODULES = ("callers", "difference", "flame", "trace_callers", "trace_difference", "trace_flame")
