"""Traces summed up: where the time goes."""
