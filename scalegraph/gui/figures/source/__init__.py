"""Source texts with cost in the margin."""
