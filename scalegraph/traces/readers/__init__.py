"""A module for every format that traces are read from, each with a `READER`."""
