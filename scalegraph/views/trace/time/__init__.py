"""Traces summed up: where the time went."""
