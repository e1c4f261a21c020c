"""Lanes over time."""
