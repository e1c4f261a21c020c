"""Points of several machines, splits, schedules: which to take, and how they compare."""
