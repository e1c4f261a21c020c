"""Misses: where, of which kind and why."""
