"""One module a format; each has a `READER`."""
