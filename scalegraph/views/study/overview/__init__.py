"""The answer at a glance: time, speedup, verdicts, hottest lines, source."""
