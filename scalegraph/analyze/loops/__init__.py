"""Loops under their schedules: what each schedule costs, and what its chunks say about a loop."""
