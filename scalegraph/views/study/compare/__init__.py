"""Two or more studies compared."""
