"""Data analyzer: pure functions from the run table to the papers' quantities; DataFrame in, DataFrame or data out."""
