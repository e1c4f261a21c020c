"""Source code with costs in the margin."""
