"""Choosing a point in a space of machines, processor counts, process/thread splits and schedules."""
