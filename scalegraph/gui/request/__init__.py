"""The request panel, one file per section."""
