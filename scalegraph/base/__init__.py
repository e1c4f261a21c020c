"""Errors, events, cancellation, units, files: shared by all other packages."""
