"""A module for every format that traces are written in, each with a `WRITER`."""
