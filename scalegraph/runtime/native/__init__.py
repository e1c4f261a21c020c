"""Loop schedules for native runs: a library in front of libgomp, built from the simulator's own schedules."""
