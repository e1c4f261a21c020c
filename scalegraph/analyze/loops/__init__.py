"""Loops and their schedules: what each schedule costs, and what the chunks tell about a loop."""
