"""Curves, bars and points with axes."""
