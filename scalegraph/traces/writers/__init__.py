"""The output formats: one module for each, with a `WRITER`."""
