"""Flame graphs of studies and traces, their differences, and tables of callers and callees."""
