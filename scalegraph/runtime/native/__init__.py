"""Schedules of loops on this computer: a library in front of libgomp, built from the simulator's own schedules."""
