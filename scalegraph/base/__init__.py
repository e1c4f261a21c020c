"""Errors, events, cancellation, units, files; what every other package uses."""
