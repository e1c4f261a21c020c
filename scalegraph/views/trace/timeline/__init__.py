"""Traces over time."""
