"""Points of several machines, splits and schedules: how they compare and which to take."""
