"""Views of schedules of worksharing loops: which is best, and why."""
