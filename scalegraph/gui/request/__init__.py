"""The request panel: one file for each section."""
