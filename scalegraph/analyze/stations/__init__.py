"""Heterogeneous processors: networks of workstations, and marked speeds."""
