"""Data analyzer: pure functions that turn the run table into the papers' quantities."""
