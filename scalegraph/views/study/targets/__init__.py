"""Measured runs: compared with simulated ones, what the model misses, and noise."""
