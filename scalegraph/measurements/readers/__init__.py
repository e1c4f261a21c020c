"""The input formats: one module for each, with a `READER`."""
