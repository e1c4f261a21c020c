"""Schedules of worksharing loops: which is best, and why."""
