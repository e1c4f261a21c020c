"""Views of measured runs: beside simulated ones, what the model misses, and noise."""
